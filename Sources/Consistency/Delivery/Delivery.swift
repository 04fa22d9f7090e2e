/// What is told of one update.
enum Delivery {
  /// Tells the holders, and then the batches.
  static func deliver(_ changes: [any StagedChange], _ update: LiveUpdate) {
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
      batch.deliver(members[ObjectIdentifier(batch)] ?? [], update)
    }
  }
}
