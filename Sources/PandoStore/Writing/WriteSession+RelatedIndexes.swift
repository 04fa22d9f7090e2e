import PandoLMDB
import PandoModels
import PandoSystem

/// Index rows that are made from more than the body of a record: from children of it.
///
/// A child may not be stored yet when its parent is, and may change without it. So such rows are made
/// where an operation ends, from what is stored then. Where records beside its own have a part in them,
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

  /// Notes which types have a part in rows of others.
  func noteChildTypes() {
    state.childTypes = Set(state.indexes?.values.joined().flatMap(\.childTypes) ?? [])
  }

  /// Takes away the rows that a record's own body tells, and notes that new ones are to be made.
  @inline(never)
  func changeRelatedRows(
    _ index: StoredIndex, _ key: RecordKey, _ old: [UInt8]?, _ new: ArraySlice<UInt8>?
  ) throws {
    let owner = RowOwner(index: index.number, record: key)
    if state.unsettledRows.contains(owner) { return }
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

  /// Makes the rows that the operation under way has left open.
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
  private func noteParents() throws {
    var level = Array(state.changedChildren)
    state.changedChildren = []
    var seen = Set(level)
    // No name has more steps, so nothing further up depends on them.
    for _ in 0..<(FieldPath.byteCountMaximum / 2) where !level.isEmpty {
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
    for value in kept ?? [] where !bytes.contains(value) {
      try deleteRow(index.rowKey(value, node: key.node).span, in: tables.indexRows)
    }
    for value in values
    where !(kept ?? []).contains(value.bytes) || index.isUnique && value.isCutOff {
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
