import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

/// Index rows that depend on children of a record.
///
/// A child may be stored after its parent, and may change without it. So such rows are made at the
/// end of a write or before a read, from the stored records. Rows that depend on other records are
/// also kept under their node, so that they can be removed after the child has changed. The
/// declaration of an index lists the types of these records. Only a change of a record of such a
/// type requires a lookup of its parents.
extension WriteSession {
  /// The rows of a record in an index.
  struct RowOwner: Hashable {
    let index: UInt32
    let record: RecordKey
  }

  func record(_ reference: RecordReference) throws -> FieldChild? {
    try reading { try $0.child(reference) }
  }

  func identifier(ofNode node: UInt64) throws -> String? {
    try reading { try $0.nodeRow(node)?.identifier(node: node) }
  }

  func records(ofNode node: UInt64) throws -> [FieldChild] {
    try reading { try $0.children(ofNode: node) }
  }

  func swiftType(_ number: UInt32) throws -> (any SimpleModel.Type)? {
    directory.swiftType(named: try typeName(number))
  }

  /// Collects the types that contribute to rows of others, and their fields.
  func noteChildTypes() {
    state.childTypes = []
    state.childSteps = [:]
    for index in state.indexes?.values.flatMap({ $0 }) ?? [] {
      for type in index.childTypes {
        state.childTypes.insert(type)
        state.childSteps[type, default: []] += index.fields.flatMap { field in
          field.parts.indices.flatMap { field.keys(ofPart: $0) }
        }
      }
    }
  }

  /// Notes a changed record, if its node contributes to rows of others and the relevant fields
  /// differ.
  func noteChild(_ key: RecordKey, from old: [UInt8]?, to new: ArraySlice<UInt8>?) throws {
    // A field may be missing in one record of a node and present in another.
    let types = try reading { reader in
      try reader.summary(of: key.node)?.types.filter(state.childTypes.contains) ?? []
    }
    if types.isEmpty { return }
    if let old, let new {
      let steps = types.flatMap { state.childSteps[$0] ?? [] }
      if steps.allSatisfy({ FieldPath.isSame($0, old.span, new.span) }) { return }
    }
    for type in types { state.changedChildren.insert(RecordKey(type: type, node: key.node)) }
  }

  /// Makes the open rows before a read; an error makes the write fail.
  func settleBeforeRead() {
    do {
      try settleIndexRows()
      try settleTotals()
      try settleWords()
    } catch {
      state.isHalfDone = true
      if state.failure == nil { state.failure = error }
    }
  }

  /// Removes the rows that depend on the record alone, and notes that new ones are required.
  @inline(never)
  func changeRelatedRows(
    _ index: StoredIndex, _ key: RecordKey, _ old: [UInt8]?, _ new: ArraySlice<UInt8>?
  ) throws {
    let owner = RowOwner(index: index.number, record: key)
    let before = try old.map { try index.rows(in: $0.span, self) }
    let after = try new.map { try index.rows(in: $0.span, self) }
    if let before, before.isOwn {
      if let after, after.isOwn, after.rows == before.rows, !index.keepsTotals { return }
      for value in try index.values(of: before, self) {
        try delete(row: index.rowKey(value, node: key.node), of: index)
      }
    }
    state.unsettledRows.insert(owner)
  }

  /// Removes a node's rows from the indexes, while its children can still be named.
  func leaveIndexes(_ node: UInt64) throws {
    _ = try indexes(ofType: 0)  // reads them all
    if state.indexes?.isEmpty ?? false, state.childTypes.isEmpty { return }
    for type in try reading({ try $0.requiredSummary(of: node).types }) {
      let key = RecordKey(type: type, node: node)
      if try indexes(ofType: type) == nil, !state.childTypes.contains(type) { continue }
      try changeIndexRows(of: key, from: storedBody(of: key), to: nil)
    }
  }

  /// Makes the open rows of this write.
  func settleIndexRows() throws {
    if state.changedChildren.isEmpty, state.unsettledRows.isEmpty { return }
    var owners: [RowOwner] = []
    if !state.changedChildren.isEmpty { try noteParents(&owners) }
    owners += state.unsettledRows
    state.unsettledRows = []
    if !zip(owners, owners.dropFirst()).allSatisfy({ $0.isBefore($1) }) {
      owners = owners.ordered { $0.isBefore($1) }
    }
    var start = 0
    while start < owners.count {
      let first = owners[start]
      let limit = min(owners.count, start + Self.settledTogether)
      var end = start + 1
      while end < limit, owners[end].index == first.index { end += 1 }
      let all = try indexes(ofType: first.record.type)
      if let index = all?.first(where: { $0.number == first.index }) {
        try settle(index, owners[start..<end])
      }
      start = end
    }
  }

  /// How many records are processed at a time, in key order; more are cheaper.
  private static var settledTogether: Int { 1024 }

  /// Notes the parents whose rows depend on changed records.
  private func noteParents(_ owners: inout [RowOwner]) throws {
    var level = Array(state.changedChildren)
    state.changedChildren = []
    var seen = Set(level)
    // A record can only affect as many levels as the longest name has steps.
    let fields = state.indexes?.values.flatMap { $0.flatMap(\.fields) } ?? []
    let stepCount = fields.map(\.parts.count).max() ?? 0
    for _ in 0..<max(0, stepCount - 1) where !level.isEmpty {
      var next: [RecordKey] = []
      for child in level {
        // Parents of one type are adjacent.
        var type: UInt32?
        var numbers: [UInt32] = []
        var leadsOn = false
        try reading { reader in
          try reader.forEachParent(of: child.node) { parent, _ in
            if parent.isCollection { return true }
            if parent.type != type {
              type = parent.type
              numbers = (try indexes(ofType: parent.type) ?? [])
                .filter { $0.childTypes.contains(child.type) }.map(\.number)
              leadsOn = state.childTypes.contains(parent.type)
            }
            for number in numbers { owners.append(RowOwner(index: number, record: parent)) }
            if leadsOn, seen.insert(parent).inserted { next.append(parent) }
            return true
          }
        }
      }
      level = next
    }
  }

  /// Makes the present rows of records in an index; the records are sorted.
  private func settle(_ index: StoredIndex, _ owners: ArraySlice<RowOwner>) throws {
    let prefix = index.prefix
    let keptPrefix = index.keptPrefix
    var gone = EntryBatch()
    var come = EntryBatch()
    var keptGone = EntryBatch()
    var keptCome = EntryBatch()
    var noted = index
    var last: RowOwner?
    // The new and the kept rows of the previous record, which are mostly the same.
    var made = MadeRows()
    var before = KeptRows()
    let nothing: [UInt8] = []
    // The rows of an index with totals, `nil` for one that goes.
    var rows: [(key: [UInt8], value: [UInt8]?)] = []
    try reading { reader in
      var keptRows = try reader.snapshot.cursor(in: tables.indexRows)
      var nodes = try reader.snapshot.cursor(in: tables.nodes)
      for owner in owners where owner != last {
        last = owner
        let node = IntegerKey(owner.record.node)
        let place = node.bytes.span.extracting((8 - StoredIndex.nodeByteCount)..<8)
        let kept = try reader.kept(keptPrefix, owner.record.node, at: &keptRows)
        let body = try reader.body(of: owner.record, at: &nodes)
        if try made.make(index, body, self), let rows = made.rows {
          noted = noted.noting(rows) ?? noted
        }
        if let kept, made.isKept, !index.isUnique, !index.keepsTotals,
          made.keptBytes.span.hasSameBytes(as: kept)
        {
          continue
        }
        try before.read(kept)
        if index.keepsTotals {
          var value: [UInt8] = []
          if let body { value = try index.rowValue(in: body) }
          for gone in before.values where !made.contains(gone) {
            rows.append((index.rowKey(gone, node: owner.record.node), nil))
          }
          for come in made.values {
            rows.append((index.rowKey(come, node: owner.record.node), value))
          }
        }
        for value in before.values where !made.contains(value) && !index.keepsTotals {
          gone.append(prefix.span, value.span, place, value: nothing.span)
        }
        for value in made.values
        where !before.contains(value.bytes) || index.isUnique && value.isCutOff {
          if !index.keepsTotals {
            come.append(prefix.span, value.bytes.span, place, value: nothing.span)
          }
          if index.isUnique {
            state.uniqueRows.append((index, index.rowKey(value, node: owner.record.node)))
          }
        }
        if made.isKept {
          keptCome.append(keptPrefix.span, nothing.span, place, value: made.keptBytes.span)
        } else if kept != nil {
          keptGone.append(keptPrefix.span, nothing.span, place, value: nothing.span)
        }
      }
    }
    if noted !== index { try declare(noted) }
    for row in rows {
      if let value = row.value {
        try put(row: row.key, value, of: index)
      } else {
        try delete(row: row.key, of: index)
      }
    }
    if gone.isEmpty, come.isEmpty, keptGone.isEmpty, keptCome.isEmpty { return }
    try withTransaction { transaction in
      try transaction.delete(gone, in: tables.indexRows)
      try transaction.put(come, in: tables.indexRows)
      try transaction.delete(keptGone, in: tables.indexRows)
      try transaction.put(keptCome, in: tables.indexRows)
    }
  }
}

extension WriteSession.RowOwner {
  fileprivate func isBefore(_ other: WriteSession.RowOwner) -> Bool {
    index == other.index
      ? record.rawValue < other.record.rawValue : index < other.index
  }
}

extension StoreReader {
  /// The kept rows of a record, mostly of the next one at the cursor.
  @_lifetime(copy cursor)
  fileprivate func kept(
    _ prefix: [UInt8], _ node: UInt64, at cursor: inout Cursor
  ) throws -> Span<UInt8>? {
    // The number of the index, and the lower bytes of the node number.
    let key = InlineArray<10, UInt8> { place in
      place < prefix.count
        ? prefix[place] : UInt8(truncatingIfNeeded: node >> UInt64(8 * (9 - place)))
    }
    guard try cursor.move(toFirstNotBelow: key.span), let found = cursor.key,
      found.hasSameBytes(as: key.span)
    else { return nil }
    return cursor.value
  }
}
