import PandoSystem

/// A value of the `types` table, whose key is the type name in UTF-8.
///
/// ```
/// offset 0        4                8            16
///        ┌────────┬────────────────┬─────────────┐
///        │ number │ schema version │ record count│   little endian
///        └────────┴────────────────┴─────────────┘
/// ```
struct TypeRow: Equatable {
  /// The number in record keys, at least 1.
  var number: UInt32
  /// The version of the last migration of this type, 0 at first.
  var schemaVersion: UInt32 = 0
  /// The number of records of the type.
  var recordCount: UInt64 = 0

  init(number: UInt32) { self.number = number }

  init(_ bytes: Span<UInt8>, name: String) throws {
    var row = RowReader(bytes, "type \(name)")
    number = UInt32(try row.number(width: 4))
    schemaVersion = UInt32(try row.number(width: 4))
    recordCount = try row.number()
    try row.end()
    guard 1...RecordKey.typeMaximum ~= number else { throw row.malformed }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for value in [number, schemaVersion] { bytes.append(littleEndian: UInt64(value), width: 4) }
    bytes.append(littleEndian: recordCount)
    return bytes
  }
}

/// The nodes with a record of a type among 2 048 adjacent ones: a row of the `nodesByType` table.
///
/// ```
/// key   0      2                8
///       ┌──────┬────────────────┐
///       │ type │ node ÷ 2 048   │   big endian
///       └──────┴────────────────┘
/// value: up to 256 bytes; bit k of byte j is node 2 048 · block + 8 · j + k. Zeros at the end are
/// left out, and so is a block without nodes.
/// ```
struct TypeBlock: Equatable {
  static let nodeCountLog2: UInt64 = 11

  private var words = InlineArray<32, UInt64>(repeating: 0)

  /// A block without nodes.
  init() {}

  /// Reads a row.
  ///
  /// - Throws: ``StoreError`` `damaged` if it is too long or ends with zeros.
  init(_ bytes: Span<UInt8>, type: UInt32) throws {
    guard bytes.count > 0, bytes.count <= words.count * 8, bytes[bytes.count - 1] != 0 else {
      throw StoreError.damaged(
        "type number \(type)", "a row of its nodes has \(bytes.count) bytes and is malformed")
    }
    let wholeCount = bytes.count / 8
    for index in 0..<wholeCount {
      // In bounds by the line above.
      words[index] = unsafe UInt64(
        littleEndian: bytes.bytes.unsafeLoadUnaligned(
          fromByteOffset: 8 &* index, as: UInt64.self))
    }
    for index in 8 * wholeCount..<bytes.count {
      words[wholeCount] |= UInt64(bytes[index]) << UInt64(index % 8 * 8)
    }
  }

  /// The number of the row of a record.
  static func number(of key: RecordKey) -> UInt64 {
    UInt64(key.type) << 48 | key.node >> nodeCountLog2
  }

  /// The number of another type's row for the same nodes.
  static func row(_ number: UInt64, ofType type: UInt32) -> UInt64 {
    UInt64(type) << 48 | number & (1 << 48 - 1)
  }

  /// The type of the nodes of a row.
  static func type(ofRow number: UInt64) -> UInt32 { UInt32(number >> 48) }

  private static func position(_ node: UInt64) -> (word: Int, bit: UInt64) {
    let index = Int(node & (1 << nodeCountLog2 - 1))
    return (index / 64, 1 << UInt64(index % 64))
  }

  func contains(_ node: UInt64) -> Bool {
    let (word, bit) = Self.position(node)
    return words[word] & bit != 0
  }

  mutating func insert(_ node: UInt64) {
    let (word, bit) = Self.position(node)
    words[word] |= bit
  }

  mutating func remove(_ node: UInt64) {
    let (word, bit) = Self.position(node)
    words[word] &= ~bit
  }

  static func == (left: TypeBlock, right: TypeBlock) -> Bool {
    for index in left.words.indices where left.words[index] != right.words[index] { return false }
    return true
  }

  /// Removes the nodes of another block.
  mutating func subtract(_ other: TypeBlock) {
    for index in words.indices { words[index] &= ~other.words[index] }
  }

  /// The nodes of the row with a number, ascending.
  @inline(never)
  func nodes(ofRow number: UInt64) -> [UInt64] {
    let first = (number & (1 << 48 - 1)) << Self.nodeCountLog2
    var nodes: [UInt64] = []
    for index in words.indices {
      var rest = words[index]
      while rest != 0 {
        nodes.append(first + UInt64(64 * index + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return nodes
  }

  /// The bytes of the row; empty for a block without nodes.
  var bytes: [UInt8] {
    var count = words.count
    while count > 0, words[count - 1] == 0 { count -= 1 }
    if count == 0 { return [] }
    let byteCount = 8 * count - words[count - 1].leadingZeroBitCount / 8
    return unsafe Array(unsafeUninitializedCapacity: 8 * count) { room, initializedCount in
      // The room has whole words; bytes after the last one are zeros and are not read.
      for index in 0..<count {
        unsafe UnsafeMutableRawBufferPointer(room).storeBytes(
          of: words[index].littleEndian, toByteOffset: 8 &* index, as: UInt64.self)
      }
      initializedCount = byteCount
    }
  }
}

extension [UInt64] {
  /// Sorts numbers and removes duplicates.
  @inline(never)
  mutating func sortDistinct() {
    sort()
    var last: UInt64?
    removeAll { number in
      defer { last = number }
      return number == last
    }
  }
}

/// The rows of nodes by type that a flush has changed and not written yet.
struct TypeBlocks {
  /// Up to this number, rows are searched one by one.
  private static let listedCountMaximum = 8

  /// The positions of the rows; empty while there are few.
  private var positions: [UInt64: Int] = [:]
  private var rows: [(number: UInt64, block: TypeBlock)] = []
  /// The position of the row of each type's last record: new nodes mostly share one.
  private var recentPositions: [Int] = []

  /// The numbers of the rows.
  var numbers: [UInt64] { rows.map(\.number) }

  private func position(_ number: UInt64) -> Int? {
    guard positions.isEmpty else { return positions[number] }
    return rows.firstIndex { $0.number == number }
  }

  /// The rows sorted by number.
  ///
  /// Unsorted if there are too few for the order to matter.
  var sorted: [(number: UInt64, block: TypeBlock)] {
    rows.count <= Self.listedCountMaximum ? rows : rows.ordered { $0.number < $1.number }
  }

  subscript(number: UInt64) -> TypeBlock? {
    get { position(number).map { rows[$0].block } }
    set {
      guard let newValue else { preconditionFailure("a row that has changed stays") }
      if let position = position(number) {
        rows[position].block = newValue
        return
      }
      rows.append((number, newValue))
      if !positions.isEmpty {
        positions[number] = rows.count - 1
      } else if rows.count > Self.listedCountMaximum {
        for (position, row) in rows.enumerated() { positions[row.number] = position }
      }
    }
  }

  /// Notes that a record was added or removed, if its row is here.
  ///
  /// - Returns: `false`, without effect, if it is not.
  mutating func note(_ key: RecordKey, came: Bool) -> Bool {
    let number = TypeBlock.number(of: key)
    let type = Int(key.type)
    let position: Int
    if type < recentPositions.count, rows[recentPositions[type]].number == number {
      position = recentPositions[type]
    } else {
      guard let found = self.position(number) else { return false }
      position = found
      let missing = type + 1 - recentPositions.count
      if missing > 0 { recentPositions += Array(repeating: found, count: missing) }
      recentPositions[type] = found
    }
    if came { rows[position].block.insert(key.node) } else { rows[position].block.remove(key.node) }
    return true
  }
}
