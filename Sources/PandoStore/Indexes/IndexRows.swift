import PandoModels

/// The rows of one record in an index, before its children are looked up.
struct IndexRows {
  /// The fields of each row.
  fileprivate(set) var rows: [[FieldLeaf]] = [[]]
  /// The types of other records from which the rows were made.
  fileprivate(set) var childTypes: [UInt32] = []

  /// Whether a row names a child.
  var namesChildren: Bool {
    rows.contains { $0.contains { if case .child = $0 { true } else { false } } }
  }

  /// Whether the rows depend only on the record's own body.
  var isOwn: Bool { childTypes.isEmpty }
}

extension StoredIndex {
  /// The rows of a record.
  func rows(in body: Span<UInt8>, _ children: any FieldChildren) throws -> IndexRows {
    var result = IndexRows()
    for field in fields {
      let findings = try field.findings(in: body, children)
      result.rows = result.rows.flatMap { row in findings.leaves.map { row + [$0] } }
      for type in findings.childTypes where !result.childTypes.contains(type) {
        result.childTypes.append(type)
      }
    }
    return result
  }

  /// The values of rows, without duplicates.
  func values(of rows: IndexRows, _ children: any FieldChildren) throws -> [IndexValue] {
    var values: [IndexValue] = []
    var seen: Set<[UInt8]> = []
    for row in rows.rows {
      var value = IndexValue()
      for leaf in row { value.append(try leaf.value(children), contentByteCountMaximum) }
      if rows.rows.count == 1 || seen.insert(value.bytes).inserted { values.append(value) }
    }
    return values
  }

  /// The values of the rows of a record.
  func values(in body: Span<UInt8>, _ children: any FieldChildren) throws -> [IndexValue] {
    if let plain = try plainValue(in: body) { return [plain] }
    return try values(of: rows(in: body, children), children)
  }

  /// The prefix of the keys with kept rows, for records whose rows depend on others.
  var keptPrefix: [UInt8] { Self.bytes(number | Self.keptBit) }

  /// The key of a record's kept rows, if they depend on other records.
  func keptKey(node: UInt64) -> [UInt8] {
    var key = keptPrefix
    key.append(bigEndian: node, width: Self.nodeByteCount)
    return key
  }

  /// Marks the number of an index in such a key.
  static let keptBit: UInt32 = 1 << 31

  /// Encodes kept rows.
  static func keptBytes(_ values: [IndexValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values { bytes.append(counted: value.bytes, width: 2) }
    return bytes
  }

  /// Decodes kept rows.
  static func keptValues(_ bytes: Span<UInt8>) throws -> [[UInt8]] {
    var values: [[UInt8]] = []
    var row = RowReader(bytes, "indexes", "the rows of a record are malformed")
    while row.restByteCount > 0 { values.append(try row.counted(width: 2)) }
    return values
  }
}

/// The required rows of successive records.
///
/// If the names of all fields lead through children, and through the same ones as before, the rows
/// are equal. So they are made once for all parents of one child.
struct MadeRows {
  /// The rows; `nil` if there is no record.
  private(set) var rows: IndexRows?
  private(set) var values: [IndexValue] = []
  /// The encoded rows kept under the node.
  private(set) var keptBytes: [UInt8] = []
  /// For rows from children alone: the child of each field and the following step.
  private var sources: [FieldPath.Source] = []
  private var lookup = ValueLookup()

  /// Whether the rows are kept under the node, too.
  var isKept: Bool { rows?.isOwn == false }

  /// Makes the rows of a record.
  ///
  /// - Returns: `false` if the last rows are still valid.
  mutating func make(
    _ index: StoredIndex, _ body: Span<UInt8>?, _ children: any FieldChildren
  ) throws -> Bool {
    if let body, sources.count == index.fields.count {
      var isSame = true
      for (number, field) in index.fields.enumerated() where isSame {
        isSame = try field.source(in: body) == sources[number]
      }
      if isSame { return false }
    }
    self = MadeRows()
    guard let body else { return true }
    let new = try index.rows(in: body, children)
    rows = new
    values = try index.values(of: new, children)
    keptBytes = StoredIndex.keptBytes(values)
    lookup = ValueLookup(values.map(\.bytes))
    for field in index.fields {
      guard let source = try field.source(in: body) else { return true }
      sources.append(source)
    }
    return true
  }

  func contains(_ value: [UInt8]) -> Bool { lookup.contains(value) }
}

/// The kept values of successive records.
struct KeptRows {
  private var lookup = ValueLookup()
  private var bytes: [UInt8] = []

  /// Reads the kept rows of a record; `nil` if it has none.
  mutating func read(_ kept: Span<UInt8>?) throws {
    guard let kept else {
      self = KeptRows()
      return
    }
    if kept.hasSameBytes(as: bytes.span) { return }
    lookup = ValueLookup(try StoredIndex.keptValues(kept))
    bytes = Array(copying: kept)
  }

  var values: [[UInt8]] { lookup.values }

  func contains(_ value: [UInt8]) -> Bool { lookup.contains(value) }
}

/// Values in which others are searched; mostly one.
private struct ValueLookup {
  let values: [[UInt8]]
  /// The set of more than a few values.
  private let set: Set<[UInt8]>

  private static let fewCount = 4

  init(_ values: [[UInt8]] = []) {
    self.values = values
    set = values.count > Self.fewCount ? Set(values) : []
  }

  func contains(_ value: [UInt8]) -> Bool {
    set.isEmpty ? values.contains(value) : set.contains(value)
  }
}
