import PandoLMDB
public import PandoModels

/// What is committed to a store, by this process and others, as it happens.
///
/// ```swift
/// for try await change in store.changes(since: last) {
///   print(change.commitNumber, change.updated)
/// }
/// ```
/// Each commit comes once and in order, however slowly they are taken: for who is slow at most 256 change sets
/// are held in memory, and the store's change log has the others. The sequence ends when the store is closed or
/// the task is cancelled.
///
/// - Note: Any task. Each iterator goes its own way.
public struct StoreChanges: AsyncSequence, Sendable {
  /// What comes.
  public typealias Element = ChangeSet

  private let source: Source

  init(
    _ store: ModelStore, since start: Result<CommitNumber, any Error>, readsRecords: Bool,
    cursor: String? = nil
  ) {
    source = Source(store, start, readsRecords, cursor)
  }

  /// Begins behind the commit that the sequence was made with.
  ///
  /// - Returns: An iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

  /// Brings one commit after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// How many change sets are read at once, and kept until they are taken.
    private static let batchCount = 256

    private let reading: Reading
    /// The last commit that was brought; `nil` at the beginning.
    private var last: CommitNumber?
    /// What has been read and not been brought, the first one last.
    private var batch: [ChangeSet] = []

    init(_ source: Source) { reading = Reading(source) }

    /// Waits for the next commit.
    ///
    /// - Returns: What it has changed; `nil` when the store is closed or the task cancelled.
    /// - Throws: ``StoreError`` `changesExpired` when the change log no longer reaches back to the last
    ///   commit that was brought, or that is none of the store's past: read afresh, and begin anew behind what was read. What reading the
    ///   store throws.
    /// - Complexity: The wait, and the size of the change set; with the records O(log *n*) for each of them.
    public mutating func next() async throws -> ChangeSet? {
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

  /// Has the feed look for others' commits as long as it lives.
  private final class Reading: Sendable {
    let source: Source

    init(_ source: Source) {
      self.source = source
      source.store.feed.beginReading()
    }

    deinit { source.store.feed.endReading() }
  }

  /// What is read, and from where.
  final class Source: Sendable {
    let store: ModelStore
    let start: Result<CommitNumber, any Error>
    private let readsRecords: Bool
    /// What is told beside it when the log no longer reaches back.
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

    /// Adds the records, if they are asked for: one commit's at a time, as they may be large.
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
  /// The records that a commit has written: as they were then if the log has them, else as they are.
  fileprivate func changedRecords(
    of change: ChangeSet, newest: CommitNumber
  ) throws -> [ChangedRecord] {
    if let logged = try loggedRecords(of: change.commitNumber.value) {
      return logged.map { ChangedRecord(node: $0, commitNumber: change.commitNumber) }
    }
    return try (change.inserted + change.updated).flatMap { try records(of: $0) }
      .map { ChangedRecord(node: $0, commitNumber: newest) }
  }
}
