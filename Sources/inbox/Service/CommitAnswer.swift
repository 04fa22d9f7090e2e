import Pando

/// What a change has led to, as the client learns it.
struct CommitAnswer: Encodable {
  /// The number of the commit; absent if nothing has changed.
  var commit: UInt64?
  var inserted: [String] = []
  var updated: [String] = []
  var deleted: [String] = []

  init(_ changeSet: ChangeSet?) {
    guard let changeSet else { return }
    commit = changeSet.commitNumber
    inserted = changeSet.inserted
    updated = changeSet.updated
    deleted = changeSet.deleted
  }
}
