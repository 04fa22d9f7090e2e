import PandoLMDB
import PandoModels
import PandoSystem

/// Index rows that are made from more than the body of a record: from children of it.
///
/// A child may not be stored yet when its parent is, and may change without it. So such rows are made
/// where a write ends or reads, from what is stored then. Where records beside its own have a part in them,
/// they are kept a second time under the node: then they can be taken away though the child has
/// changed. The declaration of an index says which types have had such a part; only a change of a record
/// of these asks for its parents.
extension WriteSession {
  /// Whose rows in which index.
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

  /// Notes which types have a part in rows of others, and which fields of theirs.
  func noteChildTypes() {
    state.childTypes = []
    state.childSteps = [:]
    for index in state.indexes?.values.flatMap({ $0 }) ?? [] {
      for type in index.childTypes {
        state.childTypes.insert(type)
        state.childSteps[type, default: []] += index.fields.flatMap { $0.parts.map(\.key) }
      }
    }
  }

  /// Notes that a record has changed, if one of its node has a part in rows of others and the fields in
  /// question are not as they were.
  @_optimize(size)
  func noteChild(_ key: RecordKey, from old: [UInt8]?, to new: ArraySlice<UInt8>?) throws {
    // What a record lacks another one of its node may have.
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

  /// Makes the rows that are open before somebody reads them; what that throws the write throws.
  func settleBeforeRead() {
    do {
      try settleIndexRows()
    } catch {
      state.isHalfDone = true
      if state.failure == nil { state.failure = error }
    }
  }

  /// Takes away the rows that a record's own body tells, and notes that new ones are to be made.
  @inline(never)
  func changeRelatedRows(
    _ index: StoredIndex, _ key: RecordKey, _ old: [UInt8]?, _ new: ArraySlice<UInt8>?
  ) throws {
    let owner = RowOwner(index: index.number, record: key)
    let before = try old.map { try index.rows(in: $0.span, self) }
    let after = try new.map { try index.rows(in: $0.span, self) }
    if let before, before.isOwn {
      if let after, after.isOwn, after.rows == before.rows { return }
      for value in try index.values(of: before, self) {
        try deleteRow(index.rowKey(value, node: key.node).span, in: tables.indexRows)
      }
    }
    state.unsettledRows.insert(owner)
  }

  /// Takes the rows of a node that goes out of the indexes, while its children can still be named.
  func leaveIndexes(_ node: UInt64) throws {
    for type in try reading({ try $0.requiredSummary(of: node).types }) {
      let key = RecordKey(type: type, node: node)
      if try indexes(ofType: type) == nil, !state.childTypes.contains(type) { continue }
      try changeIndexRows(of: key, from: storedBody(of: key), to: nil)
    }
  }

  /// Makes the rows that this write has left open.
  func settleIndexRows() throws {
    if state.changedChildren.isEmpty, state.unsettledRows.isEmpty { return }
    if !state.changedChildren.isEmpty { try noteParents() }
    let owners = state.unsettledRows.ordered {
      ($0.index, $0.record.node) < ($1.index, $1.record.node)
    }
    state.unsettledRows = []
    for owner in owners {
      let all = try indexes(ofType: owner.record.type)
      guard let index = all?.first(where: { $0.number == owner.index }) else { continue }
      try settle(index, owner.record)
    }
  }

  /// Notes the parents in whose rows changed records have a part.
  @_optimize(size)
  private func noteParents() throws {
    var level = Array(state.changedChildren)
    state.changedChildren = []
    var seen = Set(level)
    // Nothing further up depends on them than the longest name has steps.
    let fields = state.indexes?.values.flatMap { $0.flatMap(\.fields) } ?? []
    let stepCount = fields.map(\.parts.count).max() ?? 0
    for _ in 0..<max(0, stepCount - 1) where !level.isEmpty {
      var next: [RecordKey] = []
      for child in level {
        var parents: [RecordKey] = []
        try reading { reader in
          try reader.forEachParent(of: child.node) { parent, _ in
            if !parent.isCollection { parents.append(parent) }
            return true
          }
        }
        for parent in parents {
          for index in try indexes(ofType: parent.type) ?? []
          where index.childTypes.contains(child.type) {
            state.unsettledRows.insert(RowOwner(index: index.number, record: parent))
          }
          if state.childTypes.contains(parent.type), seen.insert(parent).inserted {
            next.append(parent)
          }
        }
      }
      level = next
    }
  }

  /// Makes the rows of a record in an index as they are to be now.
  @_optimize(size)
  private func settle(_ index: StoredIndex, _ key: RecordKey) throws {
    let keptKey = index.keptKey(node: key.node)
    let kept = try reading { reader -> [[UInt8]]? in
      guard let bytes = try reader.snapshot.bytes(forKey: keptKey.span, in: tables.indexRows)
      else { return nil }
      return try StoredIndex.keptValues(bytes)
    }
    let rows = try reading { reader -> IndexRows? in
      guard let body = try reader.body(of: key) else { return nil }
      return try index.rows(in: body, self)
    }
    let values = try rows.map { try index.values(of: $0, self) } ?? []
    if let rows, let noted = index.noting(rows) { try declare(noted) }
    let bytes = values.map(\.bytes)
    if let kept, kept == bytes, rows?.isOwn == false, !index.isUnique { return }
    let (before, after) = (Set(kept ?? []), Set(bytes))
    for value in kept ?? [] where !after.contains(value) {
      try deleteRow(index.rowKey(value, node: key.node).span, in: tables.indexRows)
    }
    for value in values
    where !before.contains(value.bytes) || index.isUnique && value.isCutOff {
      try putRow(value, of: index, key.node)
    }
    if let rows, !rows.isOwn {
      if kept != bytes {
        try put(StoredIndex.keptBytes(values).span, forKey: keptKey.span, in: tables.indexRows)
      }
    } else if kept != nil {
      try deleteRow(keptKey.span, in: tables.indexRows)
    }
  }
}
