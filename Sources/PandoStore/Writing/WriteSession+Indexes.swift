import PandoLMDB
import PandoSystem
import PandoModels

extension WriteSession {
  /// The indexes of a type, or `nil` for none.
  ///
  /// All are read when a flush asks for the first time.
  private func indexes(ofType type: UInt32) throws -> [StoredIndex]? {
    if let indexes = state.indexes { return indexes[type] }
    let indexes = try reading { try $0.indexes() }
    state.indexes = indexes
    return indexes[type]
  }

  /// Corrects the index rows of a record that comes, changes or goes.
  ///
  /// Its body so far is `old`, or `nil` if it comes; from now on it is `new`, or `nil` if it goes.
  func changeIndexRows(of key: RecordKey, from old: [UInt8]?, to new: ArraySlice<UInt8>?) throws {
    guard let indexes = try indexes(ofType: key.type) else { return }
    for index in indexes {
      let before = try old.map { IndexValue(try index.field.value(in: $0.span)) }
      let after = try new.map { IndexValue(try index.field.value(in: $0.span)) }
      if before == after { continue }
      if let before {
        try deleteRow(index.rowKey(before, node: key.node).span, in: tables.indexRows)
      }
      if let after {
        try put(
          [UInt8]().span, forKey: index.rowKey(after, node: key.node).span, in: tables.indexRows)
      }
    }
  }

  /// Declares an index, and makes its rows from the records there are.
  ///
  /// - Returns: Whether there was none.
  func addIndex(onField name: String, ofTypeNamed typeName: String) throws -> Bool {
    guard !name.isEmpty, name.utf8.count <= FieldPath.byteCountMaximum else {
      throw StoreError(
        .invalidIndex, typeName,
        "the name of a field has 1 to \(FieldPath.byteCountMaximum) bytes, this one has "
          + "\(name.utf8.count)")
    }
    let type = try typeNumber(named: typeName)
    let field = FieldPath(name)
    if try indexes(ofType: type)?.contains(where: { $0.field == field }) == true { return false }
    let taken = state.indexes?.values.joined().map(\.number).max() ?? 0
    let index = StoredIndex(number: taken + 1, type: type, field: field)
    try put(index.value.span, forKey: index.key.span, in: tables.indexes)
    state.indexes?[type, default: []].append(index)
    for key in try rowKeys(of: index) {
      try put([UInt8]().span, forKey: key.span, in: tables.indexRows)
    }
    return true
  }

  /// The keys of all rows that an index must have, in order.
  private func rowKeys(of index: StoredIndex) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try reading { reader in
      try reader.forEachRecord(ofType: index.type) { key, body in
        keys.append(index.rowKey(IndexValue(try index.field.value(in: body)), node: key.node))
        return true
      }
    }
    return keys.ordered { $0.lexicographicallyPrecedes($1) }
  }

  /// Removes an index with its rows.
  ///
  /// - Returns: Whether there was one.
  func dropIndex(onField name: String, ofTypeNamed typeName: String) throws -> Bool {
    guard let type = try reading({ try $0.typeRow(named: typeName) })?.number,
      let index = try indexes(ofType: type)?.first(where: { $0.field == FieldPath(name) })
    else { return false }
    var keys: [[UInt8]] = []
    try reading { reader in
      try reader.forEachRow(of: index, in: .everything) { key in
        keys.append(Array(copying: key))
        return true
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.indexRows) }
    try deleteRow(index.key.span, in: tables.indexes)
    state.indexes?[type]?.removeAll { $0 == index }
    return true
  }
}

extension WriteSession {
  /// Notes that a node has got its first record of a type.
  func recordCame(_ key: RecordKey) throws {
    if state.note(key, came: true) { return }
    try countRecord(ofType: key.type, by: 1)
    try changeTypeBlock(of: key) { $0.insert(key.node) }
  }

  /// Notes that a record is gone.
  func recordWent(_ key: RecordKey) throws {
    if state.note(key, came: false) { return }
    try countRecord(ofType: key.type, by: -1)
    try changeTypeBlock(of: key) { $0.remove(key.node) }
  }

  private func changeTypeBlock(
    of key: RecordKey, _ change: (inout TypeBlock) -> Void
  ) throws {
    let number = TypeBlock.number(of: key)
    var block =
      try state.typeBlocks[number] ?? reading { try $0.storedTypeBlock(number) } ?? TypeBlock()
    change(&block)
    state.typeBlocks[number] = block
  }

  /// Writes the rows of ``TypeBlock``s that have changed in this flush.
  func writeTypeBlocks() throws {
    for (number, block) in state.typeBlocks.sorted {
      let key = IntegerKey(number)
      let bytes = block.bytes
      if bytes.isEmpty {
        try deleteRow(key.bytes.span, in: tables.nodesByType)
      } else {
        try put(bytes.span, forKey: key.bytes.span, in: tables.nodesByType)
      }
    }
    state.typeBlocks = TypeBlocks()
  }
}

extension WriteSession.State {
  /// Notes that a record came or went, if all that it takes has been read.
  ///
  /// - Returns: `false`, and nothing was done, if it has not.
  fileprivate mutating func note(_ key: RecordKey, came: Bool) -> Bool {
    let type = Int(key.type)
    guard type < recordDifferences.count, recordDifferences[type] != 0,
      typeBlocks.note(key, came: came)
    else { return false }
    recordDifferences[type] += came ? 1 : -1
    return true
  }
}
