/// The range of keys that a scan visits.
///
/// ```swift
/// try snapshot.scan(ages, in: KeyRange("A"..<"C")) { entry in … }
/// try snapshot.scan(ages, in: .prefix("Ad")) { entry in … }
/// try snapshot.scan(visits, in: .prefix("Ada")) { entry in … }  // keys: .tuple(.string, .uint64)
/// ```
///
/// - Note: One thread at a time: it is not `Sendable`.
public struct KeyRange<Key> {
  /// One end of a range.
  enum Bound {
    case none
    case including(Key)
    case excluding(Key)
  }

  /// The common prefix of all keys of a range.
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
  ///   - lower: The first key, if it exists.
  ///   - upper: The key to stop before.
  /// - Returns: The range; empty if `upper` is not above `lower`.
  public static func from(_ lower: Key, upTo upper: Key) -> KeyRange {
    KeyRange(lower: .including(lower), upper: .excluding(upper))
  }

  /// The keys from one to another, both included.
  ///
  /// - Parameters:
  ///   - lower: The first key, if it exists.
  ///   - upper: The last key, if it exists.
  /// - Returns: The range; empty if `upper` is below `lower`.
  public static func from(_ lower: Key, through upper: Key) -> KeyRange {
    KeyRange(lower: .including(lower), upper: .including(upper))
  }

  /// The keys from one to the end of the table.
  ///
  /// - Parameter lower: The first key, if it exists.
  /// - Returns: The range.
  public static func from(_ lower: Key) -> KeyRange {
    KeyRange(lower: .including(lower), upper: .none)
  }

  /// The keys after one.
  ///
  /// - Parameter lower: A key; the range excludes it.
  /// - Returns: The range.
  public static func after(_ lower: Key) -> KeyRange {
    KeyRange(lower: .excluding(lower), upper: .none)
  }

  /// The keys before one.
  ///
  /// - Parameter upper: A key; the range excludes it.
  /// - Returns: The range.
  public static func upTo(_ upper: Key) -> KeyRange {
    KeyRange(lower: .none, upper: .excluding(upper))
  }

  /// The keys up to one, included.
  ///
  /// - Parameter upper: The last key, if it exists.
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
  /// The keys that begin with a text.
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

  /// The pairs with the given first element.
  ///
  /// - Parameter first: The element.
  /// - Returns: The range.
  public static func prefix<First, Second>(
    _ first: First
  ) -> KeyRange where Key == (First, Second) {
    KeyRange(prefix: .elements([first]))
  }

  /// The triples with the given first element.
  ///
  /// - Parameter first: The element.
  /// - Returns: The range.
  public static func prefix<First, Second, Third>(
    _ first: First
  ) -> KeyRange where Key == (First, Second, Third) {
    KeyRange(prefix: .elements([first]))
  }

  /// The triples with the given first two elements.
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

/// A range of encoded keys.
struct ByteRange {
  /// The first key, inclusive; `nil` for the beginning of the table.
  var lower: [UInt8]?
  /// The end, exclusive; `nil` for the end of the table.
  var upper: [UInt8]?
}

extension KeyRange {
  /// Encodes the range.
  func encoded(with codec: TableCodec<Key>) throws -> ByteRange {
    if let prefix {
      let bytes = try Self.encode(prefix, with: codec)
      return ByteRange(lower: bytes.isEmpty ? nil : bytes, upper: keyAfterPrefix(bytes))
    }
    return ByteRange(
      lower: try Self.encode(lower, with: codec, isLower: true),
      upper: try Self.encode(upper, with: codec, isLower: false))
  }

  private static func encode(
    _ prefix: Prefix, with codec: TableCodec<Key>
  ) throws -> [UInt8] {
    switch prefix {
    case .bytes(let bytes): return bytes
    case .elements(let elements):
      guard let encodePrefix = codec.encodePrefix else {
        preconditionFailure("ranges over first elements need the codec of a tuple")
      }
      var buffer = EncodingBuffer()
      try encodePrefix(elements, &buffer)
      return copied(buffer.bytes)
    }
  }

  /// Encodes a bound; the next larger key is the same bytes and a byte 0.
  private static func encode(
    _ bound: Bound, with codec: TableCodec<Key>, isLower: Bool
  ) throws -> [UInt8]? {
    let key: Key
    let isNextKey: Bool
    switch bound {
    case .none: return nil
    case .including(let bound): (key, isNextKey) = (bound, !isLower)
    case .excluding(let bound): (key, isNextKey) = (bound, isLower)
    }
    var buffer = EncodingBuffer()
    try codec.encode(key, &buffer)
    if isNextKey { buffer.append(0) }
    return copied(buffer.bytes)
  }
}
