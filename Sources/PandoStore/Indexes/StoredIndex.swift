import PandoModels

/// An index as it is declared in a store: a row of the `indexes` table.
///
/// ```
/// key    type number (4), field name (UTF-8)      big endian
/// value  index number (4)                         little endian
/// ```
struct StoredIndex: Equatable {
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
    field = FieldPath(try ByteFields.text(key.extracting(4..<key.count), "the name of a field"))
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
    var bytes: [UInt8] = []
    ByteFields.append(bigEndian: UInt64(number), width: 4, to: &bytes)
    return bytes
  }

  /// The key of the row of a record.
  func rowKey(_ value: IndexValue, node: UInt64) -> [UInt8] {
    var key = prefix
    key.reserveCapacity(key.count + value.bytes.count + Self.nodeByteCount)
    key.append(contentsOf: value.bytes)
    ByteFields.append(bigEndian: node, width: Self.nodeByteCount, to: &key)
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

/// An index of a store: the values of one field over all records of one type, in order.
///
/// It is kept in the transaction of the records, whoever writes them, and answers queries until it is
/// dropped.
public struct ModelIndex: Hashable, Sendable {
  /// The type whose records it covers.
  public let typeName: String
  /// The field, by the name under which it is coded; with dots it leads through objects.
  public let field: String

  /// Names an index.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records it covers.
  ///   - field: The field, by the name under which it is coded.
  public init(typeName: String, field: String) {
    self.typeName = typeName
    self.field = field
  }
}
