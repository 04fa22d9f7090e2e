/// Which keys of a table to visit.
///
/// ```swift
/// try snapshot.scan(ages, in: KeyRange("A"..<"C")) { entry in … }
/// try snapshot.scan(ages, in: .prefix("Ad")) { entry in … }
/// try snapshot.scan(visits, in: .prefix("Ada")) { entry in … }  // keys: .tuple(.string, .uint64)
/// ```
///
/// - Note: One thread at a time: it is not `Sendable`.
public struct KeyRange<Key> {
  /// Where a range ends, on either side.
  enum Bound {
    case none
    case including(Key)
    case excluding(Key)
  }

  /// What all keys of the range begin with.
  enum Prefix {
    case bytes([UInt8])
    case elements([Any])
  }

  var lower = Bound.none
  var upper = Bound.none
  var prefix: Prefix?

  /// Every key.
  public static var all: KeyRange { KeyRange(lower: .none, upper: .none) }

  /// The keys from one, included, to another.
  ///
  /// - Parameters:
  ///   - lower: The first key, if it is there.
  ///   - upper: The key to stop before.
  /// - Returns: The range; empty if `upper` is not above `lower`.
  public static func from(_ lower: Key, upTo upper: Key) -> KeyRange {
    KeyRange(lower: .including(lower), upper: .excluding(upper))
  }

  /// The keys from one to another, both included.
  ///
  /// - Parameters:
  ///   - lower: The first key, if it is there.
  ///   - upper: The last key, if it is there.
  /// - Returns: The range; empty if `upper` is below `lower`.
  public static func from(_ lower: Key, through upper: Key) -> KeyRange {
    KeyRange(lower: .including(lower), upper: .including(upper))
  }

  /// The keys from one on.
  ///
  /// - Parameter lower: The first key, if it is there.
  /// - Returns: The range.
  public static func from(_ lower: Key) -> KeyRange {
    KeyRange(lower: .including(lower), upper: .none)
  }

  /// The keys after one.
  ///
  /// - Parameter lower: A key that is left out.
  /// - Returns: The range.
  public static func after(_ lower: Key) -> KeyRange {
    KeyRange(lower: .excluding(lower), upper: .none)
  }

  /// The keys before one.
  ///
  /// - Parameter upper: A key that is left out.
  /// - Returns: The range.
  public static func upTo(_ upper: Key) -> KeyRange {
    KeyRange(lower: .none, upper: .excluding(upper))
  }

  /// The keys up to one, included.
  ///
  /// - Parameter upper: The last key, if it is there.
  /// - Returns: The range.
  public static func through(_ upper: Key) -> KeyRange {
    KeyRange(lower: .none, upper: .including(upper))
  }
}

extension KeyRange where Key: Comparable {
  /// The keys of a half-open range.
  ///
  /// - Parameter range: The range.
  public init(_ range: Range<Key>) {
    self = .from(range.lowerBound, upTo: range.upperBound)
  }

  /// The keys of a closed range.
  ///
  /// - Parameter range: The range.
  public init(_ range: ClosedRange<Key>) {
    self = .from(range.lowerBound, through: range.upperBound)
  }
}

extension KeyRange {
  /// The keys whose text begins with a prefix.
  ///
  /// - Parameter prefix: Text; empty means every key.
  /// - Returns: The range.
  public static func prefix(_ prefix: String) -> KeyRange where Key == String {
    KeyRange(prefix: .bytes([UInt8](prefix.utf8)))
  }

  /// The keys that begin with a prefix.
  ///
  /// - Parameter prefix: Bytes; empty means every key.
  /// - Returns: The range.
  public static func prefix(_ prefix: [UInt8]) -> KeyRange where Key == [UInt8] {
    KeyRange(prefix: .bytes(prefix))
  }

  /// The pairs with a first element.
  ///
  /// - Parameter first: The element.
  /// - Returns: The range.
  public static func prefix<First, Second>(
    _ first: First
  ) -> KeyRange where Key == (First, Second) {
    KeyRange(prefix: .elements([first]))
  }

  /// The triples with a first element.
  ///
  /// - Parameter first: The element.
  /// - Returns: The range.
  public static func prefix<First, Second, Third>(
    _ first: First
  ) -> KeyRange where Key == (First, Second, Third) {
    KeyRange(prefix: .elements([first]))
  }

  /// The triples with two first elements.
  ///
  /// - Parameters:
  ///   - first: The first element.
  ///   - second: The second element.
  /// - Returns: The range.
  public static func prefix<First, Second, Third>(
    _ first: First, _ second: Second
  ) -> KeyRange where Key == (First, Second, Third) {
    KeyRange(prefix: .elements([first, second]))
  }
}

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
