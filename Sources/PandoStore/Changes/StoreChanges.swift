import PandoLMDB
import PandoModels

/// The commits to a store, by all processes, as they happen; at most 256 change sets are in memory.
struct StoreChanges: AsyncSequence, Sendable {
  private let source: Source

  init(
    _ store: ModelStore, since start: Result<CommitNumber, any Error>, readsRecords: Bool,
    cursor: String? = nil
  ) {
    source = Source(store, start, readsRecords, cursor)
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

  /// Returns one commit after another.
  struct AsyncIterator: AsyncIteratorProtocol {
    /// How many change sets are read at once, and kept until they are taken.
    private static let batchCount = 256

    private let reading: Reading
    /// The last returned commit; `nil` at the beginning.
    private var last: CommitNumber?
    /// The change sets read but not returned yet, in reverse order.
    private var batch: [ChangeSet] = []

    init(_ source: Source) { reading = Reading(source) }

    /// Waits for the next commit.
    mutating func next() async throws -> ChangeSet? {
      while true {
        let source = reading.source
        let feed = source.store.feed
        if Task.isCancelled || feed.isEnded { return nil }
        if let change = batch.popLast() {
          last = change.commitNumber
          do {
            return try source.withRecords(change)
          } catch let error as StoreError where error.code == .closed {
            return nil
          }
        }
        let generation = feed.generation
        do {
          batch = try source.read(after: last ?? source.start.get(), atMost: Self.batchCount)
            .reversed()
        } catch let error as StoreError where error.code == .closed {
          return nil
        }
        if batch.isEmpty { await feed.waitForCommit(after: generation) }
      }
    }
  }

  /// Makes the feed watch for commits of other processes as long as it exists.
  private final class Reading: Sendable {
    let source: Source

    init(_ source: Source) {
      self.source = source
      source.store.feed.beginReading()
    }

    deinit { source.store.feed.endReading() }
  }

  /// The source of the commits.
  final class Source: Sendable {
    let store: ModelStore
    let start: Result<CommitNumber, any Error>
    private let readsRecords: Bool
    /// The name of the cursor, for an error if the log no longer reaches back.
    private let cursor: String?

    init(
      _ store: ModelStore, _ start: Result<CommitNumber, any Error>, _ readsRecords: Bool,
      _ cursor: String?
    ) {
      self.store = store
      self.start = start
      self.readsRecords = readsRecords
      self.cursor = cursor
    }

    func read(after last: CommitNumber, atMost count: Int) throws -> [ChangeSet] {
      try store.read { snapshot in
        let state = try snapshot.reader.state(path: store.path)
        let last = try snapshot.reader.place(
          of: last, newest: state?.commitNumber ?? 0, for: cursor.map { "cursor \($0)" })
        guard let state, last < state.commitNumber else { return [] }
        try state.requireChanges(since: last, for: cursor)
        var found: [ChangeSet] = []
        try snapshot.reader.forEachChangeSet(after: last) { change in
          found.append(change)
          return found.count < count
        }
        return found
      }
    }

    /// Adds the records, if requested: for one commit at a time, as they may be large.
    func withRecords(_ change: ChangeSet) throws -> ChangeSet {
      guard readsRecords else { return change }
      return try store.read { snapshot in
        let state = try snapshot.reader.state(path: store.path)
        if let state, try snapshot.reader.retention().keepsRecords {
          try state.requireChanges(since: change.commitNumber.value - 1, for: cursor)
        }
        let newest =
          try state.map { try snapshot.reader.number($0.commitNumber) } ?? change.commitNumber
        return change.with(try snapshot.reader.changedRecords(of: change, newest: newest))
      }
    }
  }
}

extension StoreReader {
  /// The records that a commit wrote: as logged, or else in their present state.
  fileprivate func changedRecords(
    of change: ChangeSet, newest: CommitNumber
  ) throws -> [(node: TreeNode, commitNumber: CommitNumber)] {
    if let logged = try loggedRecords(of: change.commitNumber.value) {
      return logged.map { ($0, change.commitNumber) }
    }
    return try (change.inserted + change.updated).flatMap { try namedRecords(of: $0).trees($0) }
      .map { ($0, newest) }
  }
}
