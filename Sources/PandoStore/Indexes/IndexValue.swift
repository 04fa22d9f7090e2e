import FoundationEssentials
import PandoModels
import PandoSystem

/// ``QueryValue``s as bytes in their total order: the middle part of an index row's key.
///
/// ```
/// kind (1)  then
/// number    the greatest double not above it, so turned that its bytes are in order (8), and how far
///           above that it is (2); of a double of 2⁶⁴ or more, also below 0, how many bytes that has (2),
///           and these; of a decimal number between them, the same of the greatest double or integer
///           below it, and the bytes of ``DecimalNumber``
/// text      its UTF-8, each 0 as 00 FF, and the end 00 01; after 400 bytes cut off, the end 00 02
/// data      the same
/// UUID      its 16 bytes
/// bool      0 or 1
/// ```
/// The values of *n* fields are adjacent, and texts are cut off after 400 / *n* bytes. No value is
/// a prefix of another, except that a decimal number continues the one below it with FF. All values
/// are exact except long texts and data; different long ones may have the same bytes. See
/// docs/format.md, "Indexes".
struct IndexValue: Equatable {
  /// The most bytes kept of a text or of data; leaves room for the rest of the key in LMDB's 511.
  static let contentByteCountMaximum = 400

  private(set) var bytes: [UInt8] = []
  /// Whether a value was cut off.
  private(set) var isCutOff = false
  /// Whether it has a number, which earlier versions may have encoded like a list.
  private(set) var hasNumber = false

  init() { bytes.reserveCapacity(Self.usualByteCount) }

  init(_ value: QueryValue, _ contentByteCountMaximum: Int = Self.contentByteCountMaximum) {
    self.init()
    append(value, contentByteCountMaximum)
  }

  /// Appends the value of the next field.
  mutating func append(_ value: QueryValue, _ limit: Int) {
    bytes.append(value.kind.rawValue)
    if value.kind == .number { hasNumber = true }
    switch value {
    case .null, .composite, .elements: break
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .integer(let value): Self.append(ExactNumber(value), to: &bytes)
    case .unsigned(let value): Self.append(ExactNumber(value), to: &bytes)
    case .wideInteger(let isNegative, let magnitude):
      Self.append(ExactNumber(isNegative: isNegative, magnitude: magnitude), to: &bytes)
    case .decimal(let isNegative, let magnitude, let exponent):
      let number = DecimalNumber(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      if let integer = number.integer {
        return Self.append(ExactNumber(isNegative: isNegative, magnitude: integer), to: &bytes)
      }
      let floor = number.floor
      Self.append(floor.number, to: &bytes)
      if !floor.isExact { number.append(to: &bytes) }
    case .double(let value): if !value.isNaN { Self.append(ExactNumber(value), to: &bytes) }
    case .string(let text): appendContent(text.utf8, limit)
    case .data(let data): appendContent(data, limit)
    case .uuid(let uuid):
      unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes.append(contentsOf: $0) }
    }
  }

  private mutating func appendContent(_ content: some Sequence<UInt8>, _ limit: Int) {
    let isCutOff = Self.appendContent(content, limit, to: &bytes)
    bytes += [0, isCutOff ? 2 : 1]
    if isCutOff { self.isCutOff = true }
  }

  /// Enough room for numbers, UUIDs and short texts.
  private static let usualByteCount = 32

  /// Whether a value would be cut off.
  static func cutsOff(_ value: QueryValue, _ limit: Int = contentByteCountMaximum) -> Bool {
    let byteCount =
      switch value {
      case .string(let text): text.utf8.count
      case .data(let data): data.count
      default: 0
      }
    // Escaping doubles a byte at most.
    return 2 * byteCount > limit && IndexValue(value, limit).isCutOff
  }

  /// Finds the end of a value in a row.
  ///
  /// - Parameters:
  ///   - row: The values of a row.
  ///   - start: The start of the value.
  /// - Returns: The end, beyond the row if that is too short, and whether the value was cut off.
  static func end(
    ofValueIn row: Span<UInt8>, from start: Int
  ) -> (place: Int, isCutOff: Bool) {
    guard start < row.count else { return (start, false) }
    let byteCount: Int
    switch QueryValue.Kind(rawValue: row[start]) {
    case .bool: byteCount = 2
    case .number:
      guard row.count > start + 10 else { return (start + 11, false) }
      let end = end(ofFloorIn: row, from: start)
      let isDecimal = end < row.count && row[end] == DecimalNumber.mark
      let isNegative = row[start + 1] < 0x80
      return (
        isDecimal ? DecimalNumber.end(in: row, from: end, isNegative: isNegative) : end, false
      )
    case .uuid: byteCount = 17
    case .string, .data:
      var place = start + 1
      while place + 1 < row.count {
        if row[place] == 0 {
          if row[place + 1] != 0xFF { return (place + 2, row[place + 1] == 2) }
          place += 1
        }
        place += 1
      }
      return (row.count + 1, false)
    default: byteCount = 1
    }
    return (start + byteCount, false)
  }

  /// Whether a value in a row was cut off at this limit.
  static func isCutOff(_ row: Span<UInt8>, _ limit: Int) -> Bool {
    // A value that was cut off has its kind, all bytes but at most one, and an end of two.
    guard row.count >= limit + 2 else { return false }
    var place = 0
    while place < row.count {
      let end = end(ofValueIn: row, from: place)
      if end.isCutOff { return true }
      place = end.place
    }
    return false
  }

  /// The value of a row, from its bytes alone; `nil` if it was cut off.
  ///
  /// It equals the original value, but does not show whether a whole number was an integer.
  static func value(_ bytes: Span<UInt8>) -> QueryValue? {
    guard bytes.count > 0 else { return nil }
    switch QueryValue.Kind(rawValue: bytes[0]) {
    case .null: return .null
    case .notANumber: return .double(.nan)
    case .bool where bytes.count == 2: return .bool(bytes[1] == 1)
    case .number where bytes.count >= 11: return number(bytes)
    case .string where bytes.count > 2 && bytes[bytes.count - 1] == 1:
      return String(validating: content(bytes).span, as: UTF8.self).map { .string($0) }
    case .data where bytes.count > 2 && bytes[bytes.count - 1] == 1:
      return .data(Data(content(bytes)))
    case .uuid where bytes.count == 17:
      return unsafe bytes.withUnsafeBytes { bytes in
        // Sixteen bytes follow the first.
        .uuid(UUID(uuid: unsafe bytes.loadUnaligned(fromByteOffset: 1, as: uuid_t.self)))
      }
    default: return nil
    }
  }

  /// The end of the double and of the distance above it.
  private static func end(ofFloorIn row: Span<UInt8>, from start: Int) -> Int {
    isWide(numberIn: row, from: start) ? start + 11 + Int(row[start + 10]) : start + 11
  }

  /// The number in a row; `nil` if it is malformed.
  private static func number(_ bytes: Span<UInt8>) -> QueryValue? {
    let end = end(ofFloorIn: bytes, from: 0)
    if end > bytes.count { return nil }
    if end < bytes.count {
      return DecimalNumber(bytes, from: end, isNegative: bytes[1] < 0x80).map { QueryValue($0) }
    }
    let floor = floor(ofNumberIn: bytes, from: 0)
    var rest: UInt128 = 0
    let isWide = isWide(numberIn: bytes, from: 0)
    for index in isWide ? 11..<bytes.count : 9..<11 { rest = rest << 8 | UInt128(bytes[index]) }
    guard isWide else {
      if let whole = Int64(exactly: floor) { return .integer(whole &+ Int64(rest)) }
      return UInt64(exactly: floor).map { .unsigned($0 &+ UInt64(rest)) }
        ?? ExactNumber(floor: floor, rest: rest).value
    }
    return ExactNumber(floor: floor, rest: rest).value
  }

  /// Whether a number has the long form of a double of magnitude 2⁶⁴ or more.
  private static func isWide(numberIn row: Span<UInt8>, from start: Int) -> Bool {
    ExactNumber.isWide(floor(ofNumberIn: row, from: start))
  }

  private static func floor(ofNumberIn row: Span<UInt8>, from start: Int) -> Double {
    var bits: UInt64 = 0
    for index in 1..<9 { bits = bits << 8 | UInt64(row[start + index]) }
    return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }

  /// The content of a text or of data, without escapes.
  private static func content(_ bytes: Span<UInt8>) -> [UInt8] {
    var content: [UInt8] = []
    var index = 1
    while index < bytes.count - 2 {
      content.append(bytes[index])
      index += bytes[index] == 0 ? 2 : 1
    }
    return content
  }

  /// The common first bytes of all texts with a prefix.
  static func start(
    ofTextsWithPrefix prefix: String, _ limit: Int = contentByteCountMaximum
  ) -> [UInt8] {
    var bytes = [QueryValue.Kind.string.rawValue]
    _ = appendContent(prefix.utf8, limit, to: &bytes)
    return bytes
  }

  /// The bytes of a word, which has no zero and is not cut off.
  static func bytes(ofWord word: Span<UInt8>) -> [UInt8] {
    var bytes = start(ofWordsWithPrefix: word)
    bytes.append(0)
    bytes.append(1)
    return bytes
  }

  /// The common first bytes of all words with a prefix.
  static func start(ofWordsWithPrefix prefix: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(prefix.count + 3)
    bytes.append(QueryValue.Kind.string.rawValue)
    for index in prefix.indices { bytes.append(prefix[index]) }
    return bytes
  }

  private static func append(_ number: ExactNumber, to bytes: inout [UInt8]) {
    let bits = number.floor.bitPattern
    let ordered = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift)))
    }
    guard ExactNumber.isWide(number.floor) else {
      bytes.append(UInt8(number.rest >> 8))
      bytes.append(UInt8(truncatingIfNeeded: number.rest))
      return
    }
    let byteCount = (UInt128.bitWidth - number.rest.leadingZeroBitCount + 7) / 8
    bytes += [0, UInt8(byteCount)]
    for index in (0..<byteCount).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number.rest >> UInt128(8 * index)))
    }
  }

  /// Appends content with escaped zeros, up to the limit.
  ///
  /// - Returns: Whether it was cut off.
  private static func appendContent(
    _ content: some Sequence<UInt8>, _ limit: Int, to bytes: inout [UInt8]
  ) -> Bool {
    let limit = bytes.count + limit
    for byte in content {
      guard bytes.count + (byte == 0 ? 2 : 1) <= limit else { return true }
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
    return false
  }
}
