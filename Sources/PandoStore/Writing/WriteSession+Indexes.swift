import PandoLMDB
import PandoSystem
import PandoModels

extension WriteSession {
  /// The indexes of a type, or `nil` for none.
  ///
  /// All are read when a flush asks for the first time.
  func indexes(ofType type: UInt32) throws -> [StoredIndex]? {
    if let indexes = state.indexes { return indexes[type] }
    let indexes = try reading { try $0.indexes() }
    state.indexes = indexes
    noteChildTypes()
    return indexes[type]
  }

  /// Replaces what is known of an index, and writes its declaration.
  func declare(_ index: StoredIndex) throws {
    try put(index.value.span, forKey: index.key.span, in: tables.indexes)
    state.indexes?[index.type, default: []].removeAll { $0 == index }
    state.indexes?[index.type, default: []].append(index)
    noteChildTypes()
    state.counters.takeFormat()
  }

  /// Corrects the index rows of a record that comes, changes or goes.
  ///
  /// Its body so far is `old`, or `nil` if it comes; from now on it is `new`, or `nil` if it goes.
  func changeIndexRows(of key: RecordKey, from old: [UInt8]?, to new: ArraySlice<UInt8>?) throws {
    let indexes = try indexes(ofType: key.type)
    if !state.childTypes.isEmpty { try noteChild(key, from: old, to: new) }
    guard let indexes else { return }
    for index in indexes {
      if !state.unsettledRows.isEmpty,
        state.unsettledRows.contains(RowOwner(index: index.number, record: key))
      {
        continue
      }
      let before = try old.map { try index.plainValue(in: $0.span) }
      let after = try new.map { try index.plainValue(in: $0.span) }
      if case .some(.none) = before { try changeRelatedRows(index, key, old, new); continue }
      if case .some(.none) = after { try changeRelatedRows(index, key, old, new); continue }
      if before == after, before??.isCutOff != true || !index.isUnique { continue }
      if let before = before ?? nil {
        try deleteRow(index.rowKey(before, node: key.node).span, in: tables.indexRows)
      }
      if let after = after ?? nil { try putRow(after, of: index, key.node) }
    }
  }

  /// Puts a row into an index.
  func putRow(_ value: IndexValue, of index: StoredIndex, _ node: UInt64) throws {
    let row = index.rowKey(value, node: node)
    try put([UInt8]().span, forKey: row.span, in: tables.indexRows)
    if index.isUnique { state.uniqueRows.append((index, row)) }
  }

  /// Declares an index, and makes its rows from the records there are.
  ///
  /// - Returns: Whether there was none, or one that was not unique.
  @_optimize(size)
  func addIndex(
    onFields names: [String], ofTypeNamed typeName: String, isUnique: Bool = false
  ) throws -> Bool {
    try checkFields(names, typeName, isUnique)
    try settleIndexRows()
    let type = try typeNumber(named: typeName)
    let fields = names.map { FieldPath($0) }
    let present = try indexes(ofType: type)?.first { $0.fields == fields }
    if let present, present.isUnique || !isUnique { return false }
    let taken = state.indexes?.values.joined().map(\.number).max() ?? 0
    let index = StoredIndex(
      number: present?.number ?? taken + 1, type: type, fields: fields, isUnique: isUnique)
    try declare(index)
    note(names, typeName, isUnique: isUnique, isAdded: true)
    let rows = try rows(of: index)
    if present == nil {
      for row in rows { try put(row.value.span, forKey: row.key.span, in: tables.indexRows) }
    }
    if isUnique { for row in rows where !row.isKept { try requireUnique(row.key, of: index) } }
    return true
  }

  /// Notes for other stores that an index was made or dropped.
  private func note(_ fields: [String], _ typeName: String, isUnique: Bool, isAdded: Bool) {
    state.notes?.indexes.append(
      (ModelIndex(typeName: typeName, fields: fields, isUnique: isUnique), isAdded))
  }

  private func checkFields(
    _ names: [String], _ typeName: String, _ isUnique: Bool
  ) throws {
    let byteCount = names.reduce(names.count - 1) { $0 + $1.utf8.count }
    guard (1...StoredIndex.fieldCountMaximum).contains(names.count) else {
      throw StoreError(
        .invalidIndex, typeName,
        "an index has 1 to \(StoredIndex.fieldCountMaximum) fields, this one has \(names.count)")
    }
    guard !names.contains(""), byteCount <= FieldPath.byteCountMaximum else {
      throw StoreError(
        .invalidIndex, typeName,
        "the name of a field has 1 to \(FieldPath.byteCountMaximum) bytes, "
          + (names.count == 1
            ? "this one has \(byteCount)" : "those of an index together; these have \(byteCount)"))
    }
    guard Set(names.map { ByteString($0) }).count == names.count else {
      throw StoreError(.invalidIndex, typeName, "an index names a field twice")
    }
    let lists = names.filter { FieldPath($0).hasElements }
    guard lists.count < 2, lists.isEmpty || !isUnique else {
      throw StoreError(
        .invalidIndex, typeName,
        isUnique
          ? "a unique index can't be one of elements: \(lists[0])"
          : "an index has the elements of one list, not of several: "
            + lists.joined(separator: " and "))
    }
  }

  /// Checks what this write has put into unique indexes: each value stands there once.
  ///
  /// At its end, so that records may change values with one another.
  func checkUniqueRows() throws {
    if state.uniqueRows.isEmpty { return }
    for (index, row) in state.uniqueRows { try requireUnique(row, of: index) }
    state.uniqueRows = []
  }

  /// Looks for another record with the values of a row.
  private func requireUnique(_ row: [UInt8], of index: StoredIndex) throws {
    try reading { reader in
      guard let node = StoredIndex.node(ofRow: row.span),
        let body = try reader.body(of: RecordKey(type: index.type, node: node)),
        let values = try index.uniqueValues(in: body, self)
      else { return }
      // The record may have changed since.
      guard
        let value = try index.values(in: body, self).first,
        index.rowKey(value, node: node) == row
      else { return }
      try reader.forEachRow(of: index, in: IndexRange(prefix: value.bytes)) { key in
        let other = try index.node(ofRow: key)
        guard other != node else { return true }
        if value.isCutOff {
          guard let body = try reader.body(of: RecordKey(type: index.type, node: other)),
            try index.uniqueValues(in: body, self) == values
          else { return true }
        }
        let type = try directory.name(ofTypeNumber: index.type, in: reader)
        throw StoreError(
          .valueTaken, try reader.identifier(of: node),
          "\(index.name) of a \(type) is unique, and "
            + values.map(\.description).joined(separator: ", ")
            + " is that of \(try reader.identifier(of: other)); nothing of the write is kept")
      }
    }
  }

  /// All rows that an index must have, in order, with what is kept of them.
  @_optimize(size)
  private func rows(
    of index: StoredIndex
  ) throws -> [(key: [UInt8], value: [UInt8], isKept: Bool)] {
    var all: [(key: [UInt8], value: [UInt8], isKept: Bool)] = []
    var noted = index
    try reading { reader in
      var nodes = try reader.nodes(ofType: index.type)
      while let node = try nodes.next(reader) {
        let body = try reader.countedBody(of: RecordKey(type: index.type, node: node))
        if let plain = try index.plainValue(in: body) {
          all.append((index.rowKey(plain, node: node), [], false))
          continue
        }
        let rows = try index.rows(in: body, self)
        noted = noted.noting(rows) ?? noted
        let values = try index.values(of: rows, self)
        for value in values { all.append((index.rowKey(value, node: node), [], false)) }
        if !rows.isOwn {
          all.append((index.keptKey(node: node), StoredIndex.keptBytes(values), true))
        }
      }
    }
    if noted !== index { try declare(noted) }
    return all.ordered { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// Removes an index with its rows.
  ///
  /// - Returns: Whether there was one.
  @_optimize(size)
  func dropIndex(onFields names: [String], ofTypeNamed typeName: String) throws -> Bool {
    let fields = names.map { FieldPath($0) }
    try settleIndexRows()
    guard let type = try reading({ try $0.typeRow(named: typeName) })?.number,
      let index = try indexes(ofType: type)?.first(where: { $0.fields == fields })
    else { return false }
    var keys: [[UInt8]] = []
    try reading { reader in
      try reader.forEachRow(of: index, in: .everything) { key in
        keys.append(Array(copying: key))
        return true
      }
    }
    try reading { reader in
      let prefix = StoredIndex.bytes(index.number | StoredIndex.keptBit)
      try reader.snapshot.scan(tables.indexRows, prefix: prefix) { key, _ in
        keys.append(Array(copying: key))
        return true
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.indexRows) }
    try deleteRow(index.key.span, in: tables.indexes)
    note(names, typeName, isUnique: index.isUnique, isAdded: false)
    state.indexes?[type]?.removeAll { $0 == index }
    state.uniqueRows.removeAll { $0.index == index }
    noteChildTypes()
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
