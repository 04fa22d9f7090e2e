/// The callbacks of one update.
enum Delivery {
  /// Calls the holders, and then the batches.
  static func deliver(_ changes: [any StagedChange]) {
    if changes.count == 1, let only = changes.first {
      only.deliver()
      for batch in only.batches { batch.deliver(changes) }
      return
    }
    var batches: [any LiveBatch] = []
    var members: [ObjectIdentifier: [any StagedChange]] = [:]
    for change in changes {
      change.deliver()
      for batch in change.batches {
        if members[ObjectIdentifier(batch)] == nil { batches.append(batch) }
        members[ObjectIdentifier(batch), default: []].append(change)
      }
    }
    for batch in batches {
      batch.deliver(members[ObjectIdentifier(batch)] ?? [])
    }
  }
}
