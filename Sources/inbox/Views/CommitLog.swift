import Pando

/// Logs every commit: a listener that is told of all updates, whoever made them.
@MainActor
final class CommitLog: ConsistencyManagerUpdatesListener {
  private let log: Log

  init(_ log: Log) {
    self.log = log
  }

  /// Called on the main queue, after the delegates whose data the update changed.
  nonisolated func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate
  ) {
    guard let changeSet = update.changeSet else { return }
    MainActor.assumeIsolated {
      log("Store", .commit, changeSet.summary, context: update.context as? String)
    }
  }
}

extension ChangeSet {
  /// The change set on one line.
  var summary: String {
    let parts = [
      ("inserted", inserted), ("updated", updated), ("deleted", deleted),
      ("list", collections.map(\.cacheKey)),
    ]
    let words = parts.compactMap { word, names in
      names.isEmpty ? nil : "\(word) \(names.joined(separator: ", "))"
    }
    return "number \(commitNumber): " + words.joined(separator: "; ")
  }
}
