import PandoLMDB
import PandoModels
import PandoSystem

extension WriteSession {
  /// The indexes of a type; `nil` if there are none.
  ///
  /// All indexes are read at the first call of a flush.
  func indexes(ofType type: UInt32) throws -> [StoredIndex]? {
    if let indexes = state.indexes { return indexes[type] }
    let indexes = try reading { try $0.indexes() }
    state.indexes = indexes
    noteChildTypes()
    return indexes[type]
  }

  /// Replaces the cached index, and writes its declaration.
  func declare(_ index: StoredIndex) throws {
    try put(index.value.span, forKey: index.key.span, in: tables.indexes)
    state.indexes?[index.type, default: []].removeAll { $0 == index }
    state.indexes?[index.type, default: []].append(index)
    noteChildTypes()
    state.counters.takeFormat()
  }

  /// Corrects the index rows of an added, changed or removed record.
  ///
  /// `old` is `nil` for an added record, `new` for a removed one.
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
      if index.holdsWords {
        try changeWords(of: index, key, from: old, to: new)
        continue
      }
      let before = try old.map { try index.plainValue(in: $0.span) }
      let after = try new.map { try index.plainValue(in: $0.span) }
      if case .some(.none) = before { try changeRelatedRows(index, key, old, new); continue }
      if case .some(.none) = after { try changeRelatedRows(index, key, old, new); continue }
      if before == after, before??.isCutOff != true || !index.isUnique, !index.keepsTotals {
        continue
      }
      if let before = before ?? nil, let old, before != after {
        let value = try index.rowValue(in: old.span)
        let row = index.rowKey(before, node: key.node)
        let isFound = try delete(row: row, value, of: index)
        if !isFound, before.hasNumber, let former = try index.formerPlainValue(in: old.span) {
          _ = try delete(row: index.rowKey(former, node: key.node), value, of: index)
        }
      }
      if let after = after ?? nil, let new {
        let row = index.rowKey(after, node: key.node)
        let value = try index.rowValue(in: new.span)
        if before == after {
          try put(row: row, value, of: index)
        } else {
          try putNew(row: row, value, of: index)
        }
        if index.isUnique { state.uniqueRows.append((index, row)) }
      }
    }
  }

  /// Declares an index, and makes its rows from the existing records.
  ///
  /// `fields` contain the fallbacks. If an existing index has others, its rows are made again,
  /// unless `keepsFallbacks` is set.
  ///
  /// - Returns: Whether rows were made, or the index became unique.
  func addIndex(
    on fields: [FieldPath], ofTypeNamed typeName: String, isUnique: Bool = false,
    sums: [FieldPath]? = nil, keepsFallbacks: Bool = false
  ) throws -> Bool {
    try checkFields(fields, typeName, isUnique)
    try checkSums(sums ?? [], typeName)
    try checkWords(fields, typeName, isUnique: isUnique, keepsTotals: sums != nil)
    try settleIndexRows()
    let type = try typeNumber(named: typeName)
    let present = try indexes(ofType: type)?.first { $0.hasFields(named: fields) }
    // It keeps what it sums up already.
    var allSums = sums ?? present?.sums
    for sum in present?.sums ?? [] where allSums?.contains(where: sum.hasSameName) == false {
      allSums?.append(sum)
    }
    let isSame =
      present.map { (keepsFallbacks || $0.fields == fields) && $0.sums == allSums } ?? false
    if let present, isSame, present.isUnique || !isUnique { return false }
    let taken = state.indexes?.values.joined().map(\.number).max() ?? 0
    let index = StoredIndex(
      number: present?.number ?? taken + 1, type: type,
      fields: keepsFallbacks || isSame ? present?.fields ?? fields : fields,
      isUnique: isUnique || present?.isUnique ?? false, sums: allSums)
    if let present, !isSame { try deleteRows(of: present) }
    state.adds = true
    try declare(index)
    note(index, typeName, isAdded: true)
    if index.holdsWords {
      try makeWords(of: index)
      return true
    }
    let rows = try rows(of: index)
    if !isSame {
      for row in rows { try put(row.value.span, forKey: row.key.span, in: tables.indexRows) }
      try makeTotals(of: index)
    }
    for row in rows where index.isUnique && !row.isKept { try requireUnique(row.key, of: index) }
    return true
  }

  /// The same by field names, as the type reads them if this process has used it.
  func addIndex(
    onFields names: [String], ofTypeNamed typeName: String, isUnique: Bool = false,
    sums: [String]? = nil
  ) throws -> Bool {
    func path(_ name: String) -> FieldPath { directory.path(name, ofTypeNamed: typeName) }
    return try addIndex(
      on: names.map(path), ofTypeNamed: typeName, isUnique: isUnique, sums: sums?.map(path),
      keepsFallbacks: true)
  }

  /// Refuses sums of what is no field of the record itself.
  private func checkSums(_ sums: [FieldPath], _ typeName: String) throws {
    guard sums.count <= StoredIndex.fieldCountMaximum else {
      throw StoreError(
        .invalidIndex, typeName,
        "an index sums up at most \(StoredIndex.fieldCountMaximum) fields, this one \(sums.count)")
    }
    for sum in sums where !sum.isWhole || sum.name.isEmpty {
      throw StoreError(
        .invalidIndex, typeName,
        "an index sums up fields of the record itself, and \"\(sum.name)\" is none")
    }
  }

  /// Refuses words of what is no text of the record itself, and words beside other fields.
  private func checkWords(
    _ fields: [FieldPath], _ typeName: String, isUnique: Bool, keepsTotals: Bool
  ) throws {
    guard let words = fields.first(where: \.areWords) else { return }
    guard fields.count == 1, !isUnique, !keepsTotals else {
      throw StoreError(
        .invalidIndex, typeName,
        "an index of words has no other fields, keeps no totals and is not unique: \(words.name)")
    }
    for source in words.sources where !source.mayHaveWords {
      throw StoreError(
        .invalidIndex, typeName,
        "an index of words has texts, or lists of texts, of the record itself, and "
          + "\"\(source.name)\" is none")
    }
  }

  /// Makes the indexes of a type read records like its Swift type, if they have no fallbacks yet.
  ///
  /// So unique values and rows are right even without a call of `addIndexes(of:)`. A unique index
  /// does not change if records already share a value: `addIndexes(of:)` names them.
  func adoptFallbacks(of type: any SimpleModel.Type, _ number: UInt32) throws {
    guard let indexes = try indexes(ofType: number) else { return }
    let hasHistory = directory.hasHistory(type)
    let name = try directory.name(of: type)
    for index in indexes where hasHistory || !index.isPlain {
      let paths = index.fields.map { field in
        field.isPlainlyRead ? directory.path(field.name, ofTypeNamed: name) : field
      }
      let sums = index.sums?.map { directory.path($0.name, ofTypeNamed: name) }
      if paths == index.fields && sums == index.sums || directory.keepsFallbacks(of: index.number) {
        continue
      }
      if index.isUnique, try haveDuplicates(index, reading: paths) {
        directory.noteKeptFallbacks(of: index.number)
        continue
      }
      // The index is consistent again at the end.
      let wasHalfDone = state.isHalfDone
      _ = try addIndex(on: paths, ofTypeNamed: name, isUnique: index.isUnique, sums: sums)
      state.isHalfDone = wasHalfDone
    }
  }

  /// Whether two records would share the values of a unique index.
  private func haveDuplicates(_ index: StoredIndex, reading fields: [FieldPath]) throws -> Bool {
    let wanted = StoredIndex(
      number: index.number, type: index.type, fields: fields, isUnique: true)
    var seen: Set<[UInt8]> = []
    return try reading { reader in
      var nodes = try reader.nodes(ofType: index.type)
      while let node = try nodes.next(reader) {
        let body = try reader.countedBody(of: RecordKey(type: index.type, node: node))
        guard try wanted.uniqueValues(in: body, self) != nil else { continue }
        for value in try wanted.values(in: body, self) where !seen.insert(value.bytes).inserted {
          return true
        }
      }
      return false
    }
  }

  /// Notes an added or dropped index for other stores.
  private func note(_ index: StoredIndex, _ typeName: String, isAdded: Bool) {
    state.notes?.indexes.append(
      (ModelIndex(typeName: typeName, index), isAdded))
  }

  private func checkFields(
    _ fields: [FieldPath], _ typeName: String, _ isUnique: Bool
  ) throws {
    let names = fields.map(\.name)
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
    guard Set(names).count == names.count else {
      throw StoreError(.invalidIndex, typeName, "an index names a field twice")
    }
    let lists = fields.filter(\.hasElements).map(\.name)
    guard lists.count < 2, lists.isEmpty || !isUnique else {
      throw StoreError(
        .invalidIndex, typeName,
        isUnique
          ? "a unique index can't be one of elements: \(lists[0])"
          : "an index has the elements of one list, not of several: "
            + lists.joined(separator: " and "))
    }
  }

  /// Checks that each value that this write put into a unique index occurs once.
  ///
  /// Called at its end, so that records may exchange values.
  func checkUniqueRows() throws {
    if state.uniqueRows.isEmpty { return }
    for (index, row) in state.uniqueRows { try requireUnique(row, of: index) }
    state.uniqueRows = []
  }

  /// Throws if another record has the values of a row.
  private func requireUnique(_ row: [UInt8], of index: StoredIndex) throws {
    guard let taken = try takenValue(row, of: index, holderCountMaximum: 2) else { return }
    throw StoreError(
      .valueTaken, taken.holders[0],
      "\(taken.reason(other: taken.holders[1])); nothing of the write is kept")
  }

  /// The values that several records have in unique indexes, among those that this write put there.
  func takenValues() throws -> [TakenValue] {
    try settleIndexRows()
    var taken: [TakenValue] = []
    var seen: Set<[UInt8]> = []
    for (index, row) in state.uniqueRows {
      // For values that were cut off, equal rows may have different values.
      let isCutOff = IndexValue.isCutOff(
        StoredIndex.value(ofRow: row.span), index.contentByteCountMaximum)
      let value = isCutOff ? row : Array(row.dropLast(StoredIndex.nodeByteCount))
      guard seen.insert(value).inserted, let found = try takenValue(row, of: index) else {
        continue
      }
      taken.append(found)
    }
    return taken
  }

  /// The records with the values of a row, its own first; `nil` if there is no other.
  private func takenValue(
    _ row: [UInt8], of index: StoredIndex, holderCountMaximum: Int = .max
  ) throws -> TakenValue? {
    try reading { reader in
      guard let node = StoredIndex.node(ofRow: row.span),
        let body = try reader.body(of: RecordKey(type: index.type, node: node)),
        let values = try index.uniqueValues(in: body, self)
      else { return nil }
      // The record may have changed since.
      guard
        let value = try index.values(in: body, self).first,
        index.rowKey(value, node: node) == row
      else { return nil }
      var nodes = [node]
      try reader.forEachRow(of: index, in: IndexRange(values: value.bytes)) { key in
        let other = try index.node(ofRow: key)
        guard other != node else { return true }
        if value.isCutOff {
          guard let body = try reader.body(of: RecordKey(type: index.type, node: other)),
            try index.uniqueValues(in: body, self) == values
          else { return true }
        }
        nodes.append(other)
        return nodes.count < holderCountMaximum
      }
      guard nodes.count > 1 else { return nil }
      return TakenValue(
        typeName: try directory.name(ofTypeNumber: index.type, in: reader),
        indexName: index.name, values: values,
        holders: try nodes.map { try reader.identifier(of: $0) })
    }
  }

  /// All rows of an index, sorted, with the kept rows.
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
          try all.append((index.rowKey(plain, node: node), index.rowValue(in: body), false))
          continue
        }
        let rows = try index.rows(in: body, self)
        noted = noted.noting(rows) ?? noted
        let values = try index.values(of: rows, self)
        let rowValue = try index.rowValue(in: body)
        for value in values { all.append((index.rowKey(value, node: node), rowValue, false)) }
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
  /// - Returns: Whether it existed.
  func dropIndex(onFields names: [String], ofTypeNamed typeName: String) throws -> Bool {
    let fields = names.map { FieldPath($0) }
    try settleIndexRows()
    guard let type = try reading({ try $0.typeRow(named: typeName) })?.number,
      let index = try indexes(ofType: type)?.first(where: { $0.hasFields(named: fields) })
    else { return false }
    try deleteRows(of: index)
    try deleteRow(index.key.span, in: tables.indexes)
    state.frees = true
    note(index, typeName, isAdded: false)
    state.indexes?[type]?.removeAll { $0 == index }
    noteChildTypes()
    return true
  }

  /// Removes the rows of an index.
  private func deleteRows(of index: StoredIndex) throws {
    // In parts, because an index of words may have more rows than memory holds.
    while true {
      var part: [[UInt8]] = []
      try reading { reader in
        try reader.forEachRow(of: index, in: .everything) { key in
          part.append(Array(copying: key))
          return part.count < 10_000
        }
      }
      for key in part { try deleteRow(key.span, in: tables.indexRows) }
      if part.count < 10_000 { break }
    }
    var keys: [[UInt8]] = []
    try reading { reader in
      let prefix = StoredIndex.bytes(index.number | StoredIndex.keptBit)
      try reader.snapshot.scan(tables.indexRows, prefix: prefix) { key, _ in
        keys.append(Array(copying: key))
        return true
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.indexRows) }
    try deleteTotals(of: index)
    state.uniqueRows.removeAll { $0.index == index }
  }
}

extension WriteSession {
  /// Counts the first record of a type for a node.
  func recordCame(_ key: RecordKey) throws {
    if state.note(key, came: true) { return }
    try countRecord(ofType: key.type, by: 1)
    try changeTypeBlock(of: key) { $0.insert(key.node) }
  }

  /// Counts a removed record.
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

  /// Writes the changed rows of ``TypeBlock``s of this flush.
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
  /// Counts an added or removed record, if the necessary rows were read.
  ///
  /// - Returns: `false`, without effect, if they were not.
  fileprivate mutating func note(_ key: RecordKey, came: Bool) -> Bool {
    let type = Int(key.type)
    guard type < recordDifferences.count, recordDifferences[type] != 0,
      typeBlocks.note(key, came: came)
    else { return false }
    recordDifferences[type] += came ? 1 : -1
    return true
  }
}

/// Values of a unique index that several records have.
package struct TakenValue: Sendable {
  let typeName: String
  let indexName: String
  let values: [QueryValue]
  /// The identifiers of their nodes, at least two.
  package let holders: [String]

  /// The reason why one record can't have the values of another.
  package func reason(other: String) -> String {
    "\(indexName) of a \(typeName) is unique, and "
      + "\(values.map(\.description).joined(separator: ", ")) is that of \(other)"
  }
}
