import PandoLMDB
public import PandoModels

/// What is committed to a store, by this process and others, as it happens.
///
/// ```swift
/// for try await change in store.changes(since: 41) {
///   print(change.commitNumber, change.updated)
/// }
/// ```
/// Each commit comes once and in order, however slowly they are taken; nothing is kept in memory for
/// who is slow, as the store's change log has it. The sequence ends when the store is closed or the task is
/// cancelled.
///
/// - Note: Any task. Each iterator goes its own way.
public struct StoreChanges: AsyncSequence, Sendable {
  /// What comes.
  public typealias Element = ChangeSet

  let store: ModelStore
  let start: Result<UInt64, any Error>
  let readsRecords: Bool
  /// What is told beside it when the log no longer reaches back.
  let cursor: String?

  /// Begins behind the commit that the sequence was made with.
  ///
  /// - Returns: An iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Brings one commit after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// How many change sets are read at once, and kept until they are taken.
    private static let batchCount = 256

    private let changes: StoreChanges
    private let reading: Reading
    /// The last commit that was brought; `nil` at the beginning.
    private var last: UInt64?
    /// What has been read and not been brought, the first one last.
    private var batch: [ChangeSet] = []

    init(_ changes: StoreChanges) {
      self.changes = changes
      reading = Reading(changes.store.feed)
    }

    /// Waits for the next commit.
    ///
    /// - Returns: What it has changed; `nil` when the store is closed or the task cancelled.
    /// - Throws: ``StoreError`` `changesExpired` when the change log no longer reaches back to the last
    ///   commit that was brought: read afresh, and begin anew behind what was read. What reading the
    ///   store throws.
    public mutating func next() async throws -> ChangeSet? {
      while true {
        if Task.isCancelled { return nil }
        if let change = batch.popLast() {
          last = change.commitNumber
          return change
        }
        let feed = changes.store.feed
        let generation = feed.generation
        if feed.isEnded { return nil }
        do {
          batch = try changes.read(after: last ?? changes.start.get(), atMost: Self.batchCount)
            .reversed()
        } catch let error as LMDBError where error.code == .closed {
          return nil
        }
        if batch.isEmpty { await feed.waitForCommit(after: generation) }
      }
    }
  }

  /// Has the feed look for others' commits as long as it lives.
  private final class Reading: Sendable {
    private let feed: CommitFeed

    init(_ feed: CommitFeed) {
      self.feed = feed
      feed.beginReading()
    }

    deinit { feed.endReading() }
  }

  private func read(after last: UInt64, atMost count: Int) throws -> [ChangeSet] {
    try store.read { snapshot in
      guard let state = try snapshot.reader.state(path: store.path), last < state.commitNumber
      else { return [] }
      try state.requireChanges(since: last, for: cursor)
      var found: [ChangeSet] = []
      try snapshot.reader.forEachChangeSet(after: last) { change in
        found.append(change)
        return found.count < count
      }
      if readsRecords {
        for index in found.indices {
          found[index] = found[index].with(
            try snapshot.reader.changedRecords(of: found[index], newest: state.commitNumber))
        }
      }
      return found
    }
  }
}

extension StoreReader {
  /// The records that a commit has written: as they were then if the log has them, else as they are.
  fileprivate func changedRecords(
    of change: ChangeSet, newest: UInt64
  ) throws -> [ChangedRecord] {
    if let logged = try loggedRecords(of: change.commitNumber) {
      return logged.map { ChangedRecord(node: $0, commitNumber: change.commitNumber) }
    }
    return try (change.inserted + change.updated).flatMap { try records(of: $0) }
      .map { ChangedRecord(node: $0, commitNumber: newest) }
  }
}
