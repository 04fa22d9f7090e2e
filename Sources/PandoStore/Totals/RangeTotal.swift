import PandoModels
import PandoSystem

/// How many rows a range of an index has, and the sums of the numbers in them.
struct RangeTotal {
  private(set) var rowCount = 0
  private(set) var sums: [NumberSum]

  /// The total of no rows.
  init(of index: StoredIndex) {
    sums = Array(repeating: NumberSum(), count: index.sums?.count ?? 0)
  }

  /// The total of the rows of another one, with the opposite sign.
  private init(negating other: RangeTotal) {
    rowCount = -other.rowCount
    sums = other.sums.map(\.negated)
  }

  /// Adds a row, or takes it away.
  ///
  /// - Parameters:
  ///   - value: The value of the row: its numbers.
  ///   - isAdded: Whether it is added.
  /// - Throws: ``StoreError`` `damaged` for a malformed row.
  mutating func change(by value: Span<UInt8>, isAdded: Bool) throws {
    rowCount += isAdded ? 1 : -1
    var row = RowReader(value, "indexRows", "the numbers of a row are malformed")
    for place in sums.indices {
      let number = try RowNumber.read(&row)
      if isAdded { sums[place].add(number) } else { sums[place].remove(number) }
    }
    try row.end()
  }

  mutating func add(_ other: RangeTotal) {
    rowCount += other.rowCount
    for place in sums.indices { sums[place].add(other.sums[place]) }
  }

  mutating func remove(_ other: RangeTotal) { add(RangeTotal(negating: other)) }
}

/// A row of the totals of an index: of rows that follow one another, or of adjacent rows of the level below.
///
/// ```
/// key    index number with the second highest bit (4), level (1), then the first key of the range,
///        without the index number; the first range of a level begins with no bytes   big-endian
/// value  number of members (4), number of rows (8)                                   little-endian
///        then each sum, see ``NumberSum``
/// ```
/// Level 1 has ranges of index rows; level *n* + 1 has ranges of level *n*. Each range of a level begins with
/// one of the level below. So a total of any range is the difference of two walks down, which pass at most
/// ``memberCountMaximum`` rows of each level.
struct TotalRow {
  /// How many rows of the index, or of the level below, belong to it.
  var memberCount = 0
  var total: RangeTotal

  #if DEBUG
    /// More members are divided among several rows; few, so that tests have several levels.
    static let memberCountMaximum = 32
  #else
    /// More members are divided among several rows.
    static let memberCountMaximum = 64
  #endif
  /// How many members a new row gets, so that more can come before it is divided again.
  static let newMemberCount = memberCountMaximum / 2
  /// Marks the number of an index in the key of a total.
  static let bit: UInt32 = 1 << 30

  init(of index: StoredIndex) { total = RangeTotal(of: index) }

  init(_ bytes: Span<UInt8>, of index: StoredIndex) throws {
    self.init(of: index)
    var row = RowReader(bytes, "indexRows", "a total is malformed")
    memberCount = Int(try row.number(width: 4))
    try total.add(from: &row)
    try row.end()
  }

  /// Counts a row of the index (`level` 0) or of a level.
  mutating func addMember(_ value: Span<UInt8>, ofLevel level: Int) throws {
    memberCount += 1
    if level == 0 { try total.change(by: value, isAdded: true) } else { try total.add(value) }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(12 + 32 * total.sums.count)
    bytes.append(littleEndian: UInt64(memberCount), width: 4)
    total.append(to: &bytes)
    return bytes
  }
}

extension RangeTotal {
  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt64(bitPattern: Int64(rowCount)))
    for sum in sums { sum.append(to: &bytes) }
  }

  fileprivate mutating func add(from row: inout RowReader) throws {
    rowCount += Int(Int64(bitPattern: try row.number()))
    for place in sums.indices { try sums[place].add(from: &row) }
  }

  /// Adds the total in a row, without its own value.
  mutating func add(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "indexRows", "a total is malformed")
    _ = try row.number(width: 4)
    try add(from: &row)
    try row.end()
  }
}

extension StoredIndex {
  /// The common prefix of all totals.
  var totalsPrefix: [UInt8] { Self.bytes(number | TotalRow.bit) }

  /// The prefix of the totals of a level.
  func totalsPrefix(level: Int) -> [UInt8] { totalsPrefix + [UInt8(level)] }

  /// The value of the rows of a record: its numbers in the summed fields.
  ///
  /// - Throws: ``StoreError`` `damaged` if the bytes are no record.
  func rowValue(in body: Span<UInt8>) throws -> [UInt8] {
    guard let sums, !sums.isEmpty else { return [] }
    var bytes: [UInt8] = []
    for field in sums { RowNumber.append(try field.plainValue(in: body) ?? .null, to: &bytes) }
    return bytes
  }
}

/// A number in the value of an index row: its kind (1), then its bytes, little-endian.
private enum RowNumber {
  private enum Kind: UInt64 {
    /// A value that counts in no sum.
    case nothing = 0
    /// Eight bytes.
    case integer = 1
    case unsigned = 2
    case double = 3
    /// A sign (1), a magnitude (16) and an exponent of ten (2).
    case decimal = 4
  }

  static func append(_ value: QueryValue, to bytes: inout [UInt8]) {
    func append(_ kind: Kind, _ number: UInt64) {
      bytes.append(UInt8(kind.rawValue))
      bytes.append(littleEndian: number)
    }
    func append(_ isNegative: Bool, _ magnitude: UInt128, _ exponent: Int) {
      bytes.append(UInt8(Kind.decimal.rawValue))
      bytes.append(isNegative ? 1 : 0)
      bytes.append(littleEndian: magnitude)
      bytes.append(littleEndian: UInt64(bitPattern: Int64(exponent)), width: 2)
    }
    switch value {
    case .integer(let number): append(.integer, UInt64(bitPattern: number))
    case .unsigned(let number): append(.unsigned, number)
    case .double(let number) where !number.isNaN: append(.double, number.bitPattern)
    case .wideInteger(let isNegative, let magnitude): append(isNegative, magnitude, 0)
    case .decimal(let isNegative, let magnitude, let exponent):
      append(isNegative, magnitude, exponent)
    default: bytes.append(UInt8(Kind.nothing.rawValue))
    }
  }

  static func read(_ row: inout RowReader) throws -> QueryValue {
    switch Kind(rawValue: try row.number(width: 1)) {
    case .integer: return .integer(Int64(bitPattern: try row.number()))
    case .unsigned: return .unsigned(try row.number())
    case .double: return .double(Double(bitPattern: try row.number()))
    case .decimal:
      let isNegative = try row.number(width: 1) == 1
      let magnitude = try row.wideNumber()
      let exponent = Int(Int16(truncatingIfNeeded: try row.number(width: 2)))
      return exponent == 0
        ? .wideInteger(isNegative: isNegative, magnitude: magnitude)
        : .decimal(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
    case .nothing: return .null
    case nil: throw row.malformed
    }
  }
}
