import PandoModels

/// An index as it is declared in a store: a row of the `indexes` table.
///
/// ```
/// key    type number (4), names of the fields (UTF-8), between them FF each      big endian
/// value  index number (4)                                                        little endian
///        of an index of several fields, or a unique one: then 1 if it is unique, else 0 (1)
/// ```
final class StoredIndex: Sendable {
  let number: UInt32
  let type: UInt32
  /// The fields whose values make a row, in their order.
  let fields: [FieldPath]
  /// Whether no two records may have the same values.
  let isUnique: Bool

  /// How many bytes of a row's key name the index.
  static let numberByteCount = 4
  /// How many bytes of a row's key name the node.
  static let nodeByteCount = 6
  /// The most fields that an index can have.
  static let fieldCountMaximum = 8
  /// Stands between the names of fields: no byte of a UTF-8 text.
  private static let separator: UInt8 = 0xFF

  init(number: UInt32, type: UInt32, fields: [FieldPath], isUnique: Bool) {
    self.number = number
    self.type = type
    self.fields = fields
    self.isUnique = isUnique
  }

  init(key: Span<UInt8>, value: Span<UInt8>) throws {
    guard key.count > 4, value.count == 4 || value.count == 5 && value[4] <= 1,
      let number = ByteFields.littleEndian(value, at: 0, width: 4), number > 0
    else { throw StoreError.damaged("indexes", "a declaration is malformed") }
    self.number = UInt32(number)
    var type: UInt32 = 0
    for index in 0..<4 { type = type << 8 | UInt32(key[index]) }
    self.type = type
    var fields: [FieldPath] = []
    var start = 4
    for end in 4...key.count where end == key.count || key[end] == Self.separator {
      fields.append(
        FieldPath(try ByteFields.text(key.extracting(start..<end), "the name of a field")))
      start = end + 1
    }
    guard value.count == 5 || fields.count == 1, fields.count <= Self.fieldCountMaximum else {
      throw StoreError.damaged("indexes", "a declaration is malformed")
    }
    self.fields = fields
    isUnique = value.count == 5 && value[4] == 1
  }

  /// What messages and plans call it.
  var name: String { fields.map(\.name).joined(separator: ", ") }

  /// Whether versions before format 3 do not know such an index.
  var needsNewFormat: Bool { fields.count > 1 || isUnique }

  /// How many bytes of a text or of data are kept in a row.
  var contentByteCountMaximum: Int { IndexValue.contentByteCountMaximum / fields.count }

  /// The key of the declaration.
  var key: [UInt8] {
    Self.bytes(type) + Array(fields.map { Array($0.name.utf8) }.joined(separator: [Self.separator]))
  }

  /// The value of the declaration.
  var value: [UInt8] {
    var value: [UInt8] = []
    ByteFields.append(UInt64(number), width: 4, to: &value)
    if needsNewFormat { value.append(isUnique ? 1 : 0) }
    return value
  }

  /// What the keys of all rows begin with.
  var prefix: [UInt8] { Self.bytes(number) }

  static func bytes(_ number: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(bigEndian: UInt64(number), width: 4, to: &bytes)
    return bytes
  }

  /// What the row of a record with a body holds.
  func value(in body: Span<UInt8>) throws -> IndexValue {
    var value = IndexValue()
    for field in fields { value.append(try field.value(in: body), contentByteCountMaximum) }
    return value
  }

  /// The values of a record that no other may have; `nil` if one of them is null.
  func uniqueValues(in body: Span<UInt8>) throws -> [QueryValue]? {
    let values = try fields.map { try $0.value(in: body) }
    return values.contains(.null) ? nil : values
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
      throw StoreError.damaged("index on \(name)", "a row is malformed")
    }
    return node
  }

  /// The node that a row's key ends with; `nil` if it is too short for one.
  static func node(ofRow key: Span<UInt8>) -> UInt64? {
    guard key.count > numberByteCount + nodeByteCount else { return nil }
    // Eight bytes are there; the lower six of them are the node.
    let last = unsafe key.withUnsafeBytes { bytes in
      unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
    }
    return UInt64(bigEndian: last) & RecordKey.nodeMaximum
  }

  /// The values in a row's key, as bytes.
  @_lifetime(copy key)
  static func value(ofRow key: Span<UInt8>) -> Span<UInt8> {
    key.extracting(numberByteCount..<(key.count - nodeByteCount))
  }
}

extension StoredIndex: Equatable {
  // Numbers are compared of one version only.
  static func == (left: StoredIndex, right: StoredIndex) -> Bool { left.number == right.number }
}

/// An index of a store: the values of one field or of several over all records of one type, in order.
///
/// It is kept in the transaction of the records, whoever writes them, and answers queries until it is
/// dropped. One of several fields answers equality of the first ones together with a range or an
/// order of the next:
///
/// ```swift
/// try store.write { try $0.addIndex(on: ["status", "author", "created"], ofType: "Issue") }
/// ```
public struct ModelIndex: Hashable, Sendable {
  /// The type whose records it covers.
  public let typeName: String
  /// The fields, by the names under which they are coded; with dots one leads through objects.
  public let fields: [String]
  /// Whether no two records may have the same values, unless one of them is null.
  public let isUnique: Bool

  /// The field; of several, their names with commas between.
  public var field: String { fields.joined(separator: ", ") }

  /// Names an index.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records it covers.
  ///   - field: The field, by the name under which it is coded.
  public init(typeName: String, field: String) { self.init(typeName: typeName, fields: [field]) }

  /// Names an index of several fields, or one that allows each value once.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records it covers.
  ///   - fields: The fields, in the order of their weight.
  ///   - isUnique: Whether no two records may have the same values.
  public init(typeName: String, fields: [String], isUnique: Bool = false) {
    self.typeName = typeName
    self.fields = fields
    self.isUnique = isUnique
  }
}
