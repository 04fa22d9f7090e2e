import FoundationEssentials
import PandoRecords

/// The contents of a cursor, and their text.
///
/// ```
/// 0  1  the version, 1
/// 1  1  0 to read on, 1 to read back
/// 2  4  the fingerprint of type and order, big-endian
/// 6  6  the node, big-endian
/// 12    for each key of the order a value: its kind (1) and its bytes, see below
///    4  the lower half of the XXH64 of all bytes before, big-endian
/// ```
/// The bytes of a value: none for null, not-a-number and values of several parts; 1 for a Boolean; 8 for a double
/// (0x41); the sign (1), the magnitude (16) and the exponent (2, signed) for another number (0x40); the number of bytes
/// (4) and these for texts and data; 16 for a UUID. The text is base64url without padding.
struct CursorPlace: Hashable {
  /// Whether a page at the cursor comes before the place.
  let isBackward: Bool
  let fingerprint: UInt32
  let values: [QueryValue]
  let node: UInt64

  private static let version: UInt8 = 1
  private static let headByteCount = 12
  private static let checksumByteCount = 4
  private static let doubleKind = QueryValue.Kind.number.rawValue + 1
  /// The exponents of decimal numbers without zeros at their end.
  private static let exponentLimits = -128...(127 + 38)
  /// The node numbers that a row of an index can have.
  private static let nodeLimit = UInt64(255) << 40

  init(isBackward: Bool, fingerprint: UInt32, values: [QueryValue], node: UInt64) {
    self.isBackward = isBackward
    self.fingerprint = fingerprint
    self.values = values
    self.node = node
  }

  /// Reads a text; `nil` if it is not the text of a place.
  init?(text: String) {
    guard text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x2B && $0 != 0x2F }) else { return nil }
    let padded =
      text.replacing("-", with: "+").replacing("_", with: "/")
      + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: padded) else { return nil }
    let bytes = Array(data)
    let end = bytes.count - Self.checksumByteCount
    guard end >= Self.headByteCount, bytes[0] == Self.version, bytes[1] <= 1 else { return nil }
    var reader = ByteReader(bytes: bytes[..<end], place: 2)
    guard Self.checksum(bytes[..<end]) == ByteReader.number(bytes[end...]),
      let fingerprint = reader.number(4), let node = reader.number(6), node < Self.nodeLimit
    else { return nil }
    var values: [QueryValue] = []
    while !reader.isAtEnd {
      guard let value = Self.value(&reader) else { return nil }
      values.append(value)
    }
    self.init(
      isBackward: bytes[1] == 1, fingerprint: UInt32(fingerprint), values: values,
      node: UInt64(node))
    // One place has one text.
    guard self.text == text else { return nil }
  }

  var text: String {
    var bytes: [UInt8] = [Self.version, isBackward ? 1 : 0]
    Self.append(UInt128(fingerprint), 4, to: &bytes)
    Self.append(UInt128(node), 6, to: &bytes)
    for value in values { Self.append(value, to: &bytes) }
    Self.append(Self.checksum(bytes[...]), Self.checksumByteCount, to: &bytes)
    return Data(bytes).base64EncodedString().filter { $0 != "=" }
      .replacing("+", with: "-").replacing("/", with: "_")
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt128 {
    // Read during the call only.
    let hash = unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) }
    return UInt128(UInt32(truncatingIfNeeded: hash))
  }

  /// The fingerprint of a type and an order.
  static func fingerprint<E: Queryable>(_ order: [QueryOrder<E>]) -> UInt32 {
    var bytes = Array(E.modelTypeName.utf8)
    for order in order.prefix(while: { $0.key != .natural }) {
      switch order.key {
      case .natural, .relevance: break
      case .field(let field, let isDescending):
        bytes += [0, isDescending ? 2 : 1]
        bytes += Array(field.label.utf8)
      case .identifiers(let identifiers):
        bytes += [0, 3]
        for identifier in identifiers { bytes += Array(identifier.text.utf8) + [0] }
      }
    }
    return UInt32(truncatingIfNeeded: checksum(bytes[...]))
  }
}

// MARK: Values

extension CursorPlace {
  private static func append(_ number: UInt128, _ width: Int, to bytes: inout [UInt8]) {
    for index in (0..<width).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt128(8 * index)))
    }
  }

  private static func append(_ value: QueryValue, to bytes: inout [UInt8]) {
    func append(_ content: some Collection<UInt8>) {
      Self.append(UInt128(content.count), 4, to: &bytes)
      bytes += content
    }
    func append(_ number: DecimalNumber) {
      bytes.append(number.isNegative ? 1 : 0)
      Self.append(number.magnitude, 16, to: &bytes)
      Self.append(UInt128(UInt16(bitPattern: Int16(clamping: number.exponent))), 2, to: &bytes)
    }
    if case .double(let double) = value, !double.isNaN {
      bytes.append(doubleKind)
      return Self.append(UInt128(double.bitPattern), 8, to: &bytes)
    }
    bytes.append(value.kind.rawValue)
    switch value {
    case .null, .double, .composite, .elements: break
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .integer, .unsigned, .wideInteger, .decimal:
      append(value.decimalNumber ?? DecimalNumber(isNegative: false, magnitude: 0, exponent: 0))
    case .string(let text): append(text.utf8)
    case .data(let data): append(data)
    case .uuid(let uuid):
      unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes.append(contentsOf: $0) }
    }
  }

  private static func value(_ reader: inout ByteReader) -> QueryValue? {
    guard let kind = reader.number(1).map({ UInt8($0) }) else { return nil }
    if kind == doubleKind {
      return reader.number(8).map { .double(Double(bitPattern: UInt64($0))) }
    }
    switch QueryValue.Kind(rawValue: kind) {
    case .null: return .null
    case .notANumber: return .double(.nan)
    case .composite: return .composite
    case .bool: return reader.number(1).map { .bool($0 == 1) }
    case .number:
      guard let sign = reader.number(1), let magnitude = reader.number(16),
        let exponent = reader.number(2)
      else { return nil }
      let power = Int(Int16(bitPattern: UInt16(exponent)))
      guard exponentLimits.contains(power) else { return nil }
      return QueryValue(
        DecimalNumber(isNegative: sign == 1, magnitude: magnitude, exponent: power))
    case .string:
      return reader.counted().flatMap { String(validating: $0, as: UTF8.self) }.map { .string($0) }
    case .data: return reader.counted().map { .data(Data($0)) }
    case .uuid:
      return reader.bytes(16).map { bytes in
        let bytes = Array(bytes)
        // There are sixteen bytes.
        return .uuid(
          UUID(uuid: unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: uuid_t.self) }))
      }
    case nil: return nil
    }
  }
}

/// Reads numbers and bytes from the contents of a cursor.
private struct ByteReader {
  let bytes: ArraySlice<UInt8>
  var place: Int

  var isAtEnd: Bool { place == bytes.endIndex }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt128 {
    bytes.reduce(0) { $0 << 8 | UInt128($1) }
  }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= bytes.endIndex - place else { return nil }
    defer { place += count }
    return bytes[place..<(place + count)]
  }

  mutating func number(_ width: Int) -> UInt128? { bytes(width).map { Self.number($0) } }

  mutating func counted() -> ArraySlice<UInt8>? {
    guard let count = number(4) else { return nil }
    return bytes(Int(count))
  }
}
