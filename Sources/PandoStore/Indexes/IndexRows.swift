import PandoModels

/// The rows of one record in an index, as its body says, before the children in it are looked up.
struct IndexRows {
  /// The fields of each row.
  fileprivate(set) var rows: [[FieldLeaf]] = [[]]
  /// The types of other records that they were made from.
  fileprivate(set) var childTypes: [UInt32] = []

  /// Whether a child is named by them.
  var namesChildren: Bool {
    rows.contains { $0.contains { if case .child = $0 { true } else { false } } }
  }

  /// Whether the record's own body says all.
  var isOwn: Bool { childTypes.isEmpty }
}

extension StoredIndex {
  /// The rows of a record.
  @_optimize(size)
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

  /// The values of rows, each once.
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

  /// The values of the rows that a record has.
  func values(in body: Span<UInt8>, _ children: any FieldChildren) throws -> [IndexValue] {
    if let plain = try plainValue(in: body) { return [plain] }
    return try values(of: rows(in: body, children), children)
  }

  /// The key under which lies what rows a record has, where they were made from others, too.
  func keptKey(node: UInt64) -> [UInt8] {
    var key = Self.bytes(number | Self.keptBit)
    ByteFields.append(bigEndian: node, width: Self.nodeByteCount, to: &key)
    return key
  }

  /// Marks the number of an index in such a key.
  static let keptBit: UInt32 = 1 << 31

  /// What lies there.
  static func keptBytes(_ values: [IndexValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values {
      ByteFields.append(UInt64(value.bytes.count), width: 2, to: &bytes)
      bytes += value.bytes
    }
    return bytes
  }

  /// The values that lie there.
  static func keptValues(_ bytes: Span<UInt8>) throws -> [[UInt8]] {
    var values: [[UInt8]] = []
    var place = 0
    while place < bytes.count {
      guard let count = ByteFields.littleEndian(bytes, at: place, width: 2),
        place + 2 + Int(count) <= bytes.count
      else { throw StoreError.damaged("indexes", "the rows of a record are malformed") }
      values.append(Array(copying: bytes.extracting((place + 2)..<(place + 2 + Int(count)))))
      place += 2 + Int(count)
    }
    return values
  }
}
