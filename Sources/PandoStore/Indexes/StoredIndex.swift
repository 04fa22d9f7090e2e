import PandoLMDB
import PandoModels

/// An index as it is declared in a store: a row of the `indexes` table.
///
/// ```
/// key    type number (4), field name (UTF-8)      big endian
/// value  index number (4)                         little endian
/// ```
struct StoredIndex: Hashable {
  let number: UInt32
  let type: UInt32
  let field: FieldPath

  /// How many bytes of a row's key name the index.
  static let numberByteCount = 4
  /// How many bytes of a row's key name the node.
  static let nodeByteCount = 6

  init(number: UInt32, type: UInt32, field: FieldPath) {
    self.number = number
    self.type = type
    self.field = field
  }

  init(key: Span<UInt8>, value: Span<UInt8>) throws {
    guard key.count > 4, value.count == 4,
      let number = ByteFields.littleEndian(value, at: 0, width: 4), number > 0
    else { throw StoreError.damaged("indexes", "a declaration is malformed") }
    self.number = UInt32(number)
    var type: UInt32 = 0
    for index in 0..<4 { type = type << 8 | UInt32(key[index]) }
    self.type = type
    field = FieldPath(try StoreReader.text(key.extracting(4..<key.count), "the name of a field"))
  }

  /// The key of the declaration.
  var key: [UInt8] { Self.bytes(type) + Array(field.name.utf8) }

  /// The value of the declaration.
  var value: [UInt8] {
    var value: [UInt8] = []
    ByteFields.append(UInt64(number), width: 4, to: &value)
    return value
  }

  /// What the keys of all rows begin with.
  var prefix: [UInt8] { Self.bytes(number) }

  static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
  }

  /// The key of the row of a record.
  func rowKey(_ value: IndexValue, node: UInt64) -> [UInt8] {
    var key = prefix
    key.reserveCapacity(key.count + value.bytes.count + Self.nodeByteCount)
    key.append(contentsOf: value.bytes)
    for shift in stride(from: 40, through: 0, by: -8) {
      key.append(UInt8(truncatingIfNeeded: node >> UInt64(shift)))
    }
    return key
  }

  /// The node that a row's key ends with.
  func node(ofRow key: Span<UInt8>) throws -> UInt64 {
    guard let node = Self.node(ofRow: key) else {
      throw StoreError.damaged("index on \(field.name)", "a row is malformed")
    }
    return node
  }

  /// The node that a row's key ends with; `nil` if it is too short for one.
  static func node(ofRow key: Span<UInt8>) -> UInt64? {
    guard key.count > numberByteCount + nodeByteCount else { return nil }
    var node: UInt64 = 0
    for index in (key.count - nodeByteCount)..<key.count { node = node << 8 | UInt64(key[index]) }
    return node
  }
}

extension StoreReader {
  /// The indexes of a type, in the order of the names of their fields.
  func indexes(ofType type: UInt32) throws -> [StoredIndex] {
    var found: [StoredIndex] = []
    try snapshot.scan(tables.indexes, prefix: StoredIndex.bytes(type)) { key, value in
      found.append(try StoredIndex(key: key, value: value))
      return true
    }
    return found
  }

  /// All indexes, by type number.
  func indexes() throws -> [UInt32: [StoredIndex]] {
    var found: [UInt32: [StoredIndex]] = [:]
    try snapshot.scan(tables.indexes) { key, value in
      let index = try StoredIndex(key: key, value: value)
      found[index.type, default: []].append(index)
      return true
    }
    return found
  }

  /// Calls a closure with the keys of an index's rows in a range of values.
  func forEachRow(
    of index: StoredIndex, in range: IndexRange, reversed: Bool = false,
    _ body: (Span<UInt8>) throws -> Bool
  ) throws {
    let prefix = index.prefix
    let upper = range.upper.map { prefix + $0 } ?? IndexRange.successor(of: prefix)
    try snapshot.scan(
      tables.indexRows, from: prefix + range.lower, upTo: upper, reversed: reversed
    ) { key, _ in try body(key) }
  }
}
