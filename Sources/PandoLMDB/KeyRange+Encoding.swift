/// A range in terms of bytes.
struct ByteRange {
  /// The first key, included; `nil` for the beginning.
  var lower: [UInt8]?
  /// The end, left out; `nil` for the end of the table.
  var upper: [UInt8]?
}

extension KeyRange {
  /// The range as bytes.
  func encoded(with codec: any KeyCodec<Key>) throws -> ByteRange {
    if let prefix {
      let bytes = try Self.encode(prefix, with: codec)
      return ByteRange(lower: bytes.isEmpty ? nil : bytes, upper: keyAfterPrefix(bytes))
    }
    return ByteRange(
      lower: try Self.encode(lower, with: codec, isLower: true),
      upper: try Self.encode(upper, with: codec, isLower: false))
  }

  private static func encode(
    _ prefix: Prefix, with codec: any KeyCodec<Key>
  ) throws -> [UInt8] {
    switch prefix {
    case .bytes(let bytes): return bytes
    case .elements(let elements):
      guard let tuple = codec as? any TuplePrefixCodec else {
        preconditionFailure("ranges over first elements need a tuple codec, not \(codec)")
      }
      var buffer = EncodingBuffer()
      try tuple.encodePrefix(elements, into: &buffer)
      return BytesCodec().decode(buffer.bytes)
    }
  }

  /// A bound as bytes; the smallest key above another one has a byte 0 more.
  private static func encode(
    _ bound: Bound, with codec: any KeyCodec<Key>, isLower: Bool
  ) throws -> [UInt8]? {
    let key: Key
    let isNextKey: Bool
    switch bound {
    case .none: return nil
    case .including(let bound): (key, isNextKey) = (bound, !isLower)
    case .excluding(let bound): (key, isNextKey) = (bound, isLower)
    }
    var buffer = EncodingBuffer()
    try codec.encode(key, into: &buffer)
    if isNextKey { buffer.append(0) }
    return BytesCodec().decode(buffer.bytes)
  }
}
