import PandoModels
import PandoSystem

/// An index in a store: a row of the `indexes` table.
///
/// ```
/// key    type number (4), names of the fields (UTF-8), between them FF each      big endian
/// value  index number (4)                                                        little endian
///        of one that version 2 of the format does not know: flags (1), 1 for a unique one, 2 for one
///        with identifiers of children as values, 4 for one whose fields have former names,
///        defaults or a reading, 8 for one that keeps totals; with flag 4 or 8 how many numbers follow
///        (4); then the numbers of the types of other records that its rows were made from (4 each);
///        with flag 4 for each field the length of its fallbacks (4) and their bytes, see
///        ``FieldFallback``; with flag 8 the number of summed fields (1), and for each the length of
///        its name (2), its name, the length of its fallbacks (4) and their bytes
/// ```
/// A row of `indexRows` is a value of a record; a field of elements has one per element. If the
/// rows of a record depend on others, its values are also kept under the index number with its
/// highest bit and the node. Each value follows its length (2, little-endian). All properties are
/// constant.
final class StoredIndex: Sendable {
  let number: UInt32
  let type: UInt32
  /// The fields whose values make a row, in order.
  let fields: [FieldPath]
  /// Whether values must be unique among records.
  let isUnique: Bool
  /// Whether children have been values of rows.
  let namesChildren: Bool
  /// The numbers that the index sums up over any range of its rows; `nil` if it keeps no totals.
  let sums: [FieldPath]?
  /// The types of other records from which rows were made, ascending.
  let childTypes: [UInt32]
  /// Whether all fields are in the body itself; whether they are children is not known.
  let isPlain: Bool

  /// The number of bytes of the index number in a row's key.
  static let numberByteCount = 4
  /// The number of bytes of the node in a row's key.
  static let nodeByteCount = 6
  /// The most fields that an index can have.
  static let fieldCountMaximum = 8
  /// The separator between field names, which is not a byte of UTF-8 text.
  private static let separator: UInt8 = 0xFF

  init(
    number: UInt32, type: UInt32, fields: [FieldPath], isUnique: Bool, sums: [FieldPath]? = nil,
    namesChildren: Bool = false, childTypes: [UInt32] = []
  ) {
    self.number = number
    self.type = type
    self.fields = fields
    self.isUnique = isUnique
    self.sums = sums
    self.namesChildren = namesChildren
    self.childTypes = childTypes
    isPlain = fields.allSatisfy(\.isWhole)
  }

  convenience init(key: Span<UInt8>, value: Span<UInt8>) throws {
    var row = RowReader(value, "indexes", "a declaration is malformed")
    let number = try row.number(width: 4)
    let flags = row.restByteCount > 0 ? try row.number(width: 1) : 0
    guard key.count > 4, flags <= 15, number > 0 else { throw row.malformed }
    let type = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(key[$1]) }
    var names: [String] = []
    var start = 4
    for end in 4...key.count where end == key.count || key[end] == Self.separator {
      names.append(try key.extracting(start..<end).text("the name of a field"))
      start = end + 1
    }
    let typeCount =
      flags & 12 != 0 ? Int(try row.number(width: 4)) : (row.restByteCount + 3) / 4
    var childTypes: [UInt32] = []
    for _ in 0..<typeCount { childTypes.append(UInt32(try row.number(width: 4))) }
    var fields = names.map { FieldPath($0) }
    if flags & 4 != 0 {
      fields = try names.map { try FieldPath($0, fallbackBytes: row.counted(width: 4)) }
    }
    let sumCount = flags & 8 != 0 ? Int(try row.number(width: 1)) : 0
    var sums: [FieldPath] = []
    for _ in 0..<sumCount {
      let bytes = try row.counted(width: 2)
      let name = try bytes.span.text("the name of a field")
      sums.append(try FieldPath(name, fallbackBytes: row.counted(width: 4)))
    }
    try row.end()
    guard value.count > 4 || fields.count == 1, fields.count <= Self.fieldCountMaximum else {
      throw row.malformed
    }
    self.init(
      number: UInt32(number), type: type, fields: fields, isUnique: flags & 1 != 0,
      sums: flags & 8 != 0 ? sums : nil,
      namesChildren: flags & 2 != 0, childTypes: childTypes)
  }

  /// A copy with the types of new rows; `nil` if it has them already.
  func noting(_ rows: IndexRows) -> StoredIndex? {
    let types = Set(childTypes).union(rows.childTypes)
    let namesChildren = namesChildren || rows.namesChildren
    if types.count == childTypes.count, namesChildren == self.namesChildren { return nil }
    return StoredIndex(
      number: number, type: type, fields: fields, isUnique: isUnique, sums: sums,
      namesChildren: namesChildren, childTypes: types.ordered())
  }

  /// The name in messages and plans.
  var name: String { fields.map(\.name).joined(separator: ", ") }

  /// Whether versions before format 3 do not support the index.
  var needsNewFormat: Bool {
    fields.count > 1 || isUnique || !childTypes.isEmpty || hasElements || namesChildren
      || hasFallbacks || keepsTotals
  }

  /// Whether the number of rows and the sums of any range are known without reading its rows.
  var keepsTotals: Bool { sums != nil }

  /// The place of a field among the summed ones.
  func sumPlace(of path: FieldPath) -> Int? { sums?.firstIndex(of: path) }

  /// Whether a field has former names, a default or a reading.
  var hasFallbacks: Bool { fields.contains { !$0.isPlainlyRead } }

  /// Whether it has fields of the given names, in order, regardless of fallbacks.
  func hasFields(named others: [FieldPath]) -> Bool {
    fields.count == others.count && zip(fields, others).allSatisfy { $0.hasSameName(as: $1) }
  }

  /// Whether a record has one row per element of a list.
  var hasElements: Bool { fields.contains(where: \.hasElements) }

  /// Whether it has a row for each word of a text, with the value of ``WordRow``.
  var holdsWords: Bool { fields[0].areWords }

  /// The most bytes kept of a text or of data in a row.
  var contentByteCountMaximum: Int { IndexValue.contentByteCountMaximum / fields.count }

  /// The key of the declaration.
  var key: [UInt8] {
    Self.bytes(type) + Array(fields.map { Array($0.name.utf8) }.joined(separator: [Self.separator]))
  }

  /// The value of the declaration.
  var value: [UInt8] {
    var value: [UInt8] = []
    value.append(littleEndian: UInt64(number), width: 4)
    if needsNewFormat {
      value.append(
        (isUnique ? 1 : 0) | (namesChildren ? 2 : 0) | (hasFallbacks ? 4 : 0)
          | (keepsTotals ? 8 : 0))
    }
    if hasFallbacks || keepsTotals {
      value.append(littleEndian: UInt64(childTypes.count), width: 4)
    }
    for type in childTypes { value.append(littleEndian: UInt64(type), width: 4) }
    if hasFallbacks {
      for field in fields { value.append(counted: field.fallbackBytes, width: 4) }
    }
    if let sums {
      value.append(UInt8(sums.count))
      for field in sums {
        value.append(counted: Array(field.name.utf8), width: 2)
        value.append(counted: field.fallbackBytes, width: 4)
      }
    }
    return value
  }

  /// The common prefix of the keys of all rows.
  var prefix: [UInt8] { Self.bytes(number) }

  static func bytes(_ number: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt64(number), width: 4)
    return bytes
  }

  /// The row value of a record, if all fields are in its body and none is a child; else `nil`.
  func plainValue(in body: Span<UInt8>) throws -> IndexValue? {
    if !isPlain { return nil }
    var value = IndexValue()
    for field in fields {
      guard let found = try field.plainValue(in: body) else { return nil }
      value.append(found, contentByteCountMaximum)
    }
    return value
  }

  /// The same in the form of versions that encoded a number in a tag like a list.
  @inline(never)
  func formerPlainValue(in body: Span<UInt8>) throws -> IndexValue? {
    var value = IndexValue()
    for field in fields {
      guard var found = try field.plainValue(in: body) else { return nil }
      if found.kind == .number, let range = try field.range(in: body),
        body[range.lowerBound] >> 5 == CBORHead.Major.tag.rawValue
      {
        found = .composite
      }
      value.append(found, contentByteCountMaximum)
    }
    return value
  }

  /// The values of a record that must be unique; `nil` if one of them is null.
  func uniqueValues(
    in body: Span<UInt8>, _ children: any FieldChildren
  ) throws -> [QueryValue]? {
    let values = try fields.map { try $0.value(in: body, children) }
    return values.contains(.null) ? nil : values
  }

  /// The key of the row of a record.
  func rowKey(_ value: IndexValue, node: UInt64) -> [UInt8] { rowKey(value.bytes, node: node) }

  /// The same for the bytes of a value.
  func rowKey(_ value: [UInt8], node: UInt64) -> [UInt8] {
    var key = prefix
    key.reserveCapacity(key.count + value.count + Self.nodeByteCount)
    key.append(contentsOf: value)
    key.append(bigEndian: node, width: Self.nodeByteCount)
    return key
  }

  /// The bytes of a row's key after the number of the index.
  static func row(_ value: [UInt8], node: UInt64) -> [UInt8] {
    var row = value
    row.append(bigEndian: node, width: nodeByteCount)
    return row
  }

  /// The node at the end of a row's key.
  func node(ofRow key: Span<UInt8>) throws -> UInt64 {
    guard let node = Self.node(ofRow: key) else {
      throw StoreError.damaged("index on \(name)", "a row is malformed")
    }
    return node
  }

  /// The node at the end of a row's key; `nil` if the key is too short.
  static func node(ofRow key: Span<UInt8>) -> UInt64? {
    guard key.count > numberByteCount + nodeByteCount else { return nil }
    // The key has at least eight bytes; the lower six of the last eight are the node.
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
  // Only numbers of one version are compared.
  static func == (left: StoredIndex, right: StoredIndex) -> Bool { left.number == right.number }
}
