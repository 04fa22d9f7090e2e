import Dispatch
import PandoSystem
import PandoModels
import PandoStore

/// Follows the commits of one model store for all managers over it.
///
/// ```
/// write ─► prepare (in the transaction): which followed queries does it concern? their new results
///       ─► flush ─► committed: show them ─► observers, each when it asks
/// ```
/// What a commit means for queries is worked out inside its transaction, because writes that share a
/// flush can't be told apart afterwards; a flush that runs again is worked out again. A commit that
/// concerns no followed type reads nothing. Commits of other processes show up as a gap in the commit
/// numbers and are folded in from the change log; ``refresh()`` looks for one.
final class StoreHub: EntityHub {
  /// What a hub knows its own writes by, which write nothing: places in the order of commits.
  private struct Ticket: Sendable {
    let hub: ObjectIdentifier
    /// Reads something at this place.
    let load: StoreHubLoad?
  }

  struct State {
    /// Who follows, by namespace of identifiers; several types can share one.
    var types: [ByteString: [any StoreFollowers]] = [:]
    /// The last commit that has been prepared, in this flush too.
    var prepared: UInt64
    /// The last commit that is on disk.
    var committed: UInt64
    /// What undoes the flush that is under way.
    var undo: [@Sendable () -> Void] = []
    var tally = HubTally()
  }

  /// What a write means for queries.
  private struct Prepared: Sendable {
    let number: UInt64
    let commits: [@Sendable () -> Void]
  }

  let store: ModelStore
  /// Tells it from all others.
  let number = FollowedNumber.next()
  let state: Locked<State>
  /// Which graphs are followed.
  let graphs = GraphFollowers()
  /// Where queries are read first: never on the thread of a caller.
  let loader = DispatchQueue(label: "pando.following", attributes: .concurrent)
  /// Where a store that is open for reading only is looked at.
  let poller = DispatchQueue(label: "pando.following.poll")

  init(_ store: ModelStore) throws {
    self.store = store
    let number = try store.read { try $0.commitNumber }
    state = Locked(State(prepared: number, committed: number))
    store.addObserver(self)
  }

  deinit { StoreHubs.remove(number, of: ObjectIdentifier(store)) }

  var tally: HubTally { state.withLock { $0.tally } }

  /// How many queries are followed.
  var queryCount: Int {
    state.withLock { $0.types.values.flatMap { $0 } }.reduce(0) { $0 + $1.count }
  }

  /// Takes in what other processes have committed.
  ///
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  func refresh() async throws {
    try await withCheckedThrowingContinuation { continuation in
      place(nil) { continuation.resume(with: $0) }
    }
  }

  /// Has something read at a place in the order of commits.
  ///
  /// - Parameters:
  ///   - load: What is read.
  ///   - completion: Called once, after it has been shown.
  func place(
    _ load: StoreHubLoad?, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    guard store.isReadOnly else { return submit(load, completion: completion) }
    poller.async { completion(Result { try self.catchUp(load) }) }
  }

  /// Queues a write that writes nothing: a place in the order of commits.
  ///
  /// - Parameters:
  ///   - load: What is read at that place.
  ///   - completion: Called once, after it has been shown.
  private func submit(
    _ load: StoreHubLoad?, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    let ticket = Ticket(hub: ObjectIdentifier(self), load: load)
    store.submit(ticket: ticket, context: nil) { _ in
    } completion: { result in
      completion(result.map { _ in })
    }
  }
}

extension StoreHub: CommitObserver {
  func beginFlush() {
    let undo = state.withLock { state in
      state.prepared = state.committed
      defer { state.undo = [] }
      return state.undo
    }
    for step in undo { step() }
  }

  func prepare(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, in snapshot: ModelSnapshot
  ) -> (any Sendable)? {
    let own = (ticket as? Ticket).flatMap { $0.hub == ObjectIdentifier(self) ? $0 : nil }
    let known = state.withLock { $0.prepared }
    let fold = CommitFold(since: known, changeSet, snapshot)
    // From here on queries that begin know that this commit may not have been held against them.
    let types = state.withLock { state in
      state.prepared = max(state.prepared, fold.number)
      return state.types
    }
    var run = FollowingRun(number: fold.number, context: changeSet?.context)
    if !types.isEmpty { run.stage(fold, types, snapshot) }
    if graphs.count > 0 { graphs.stage(fold, snapshot, &run, self) }
    if let load = own?.load { load.stage(snapshot, &run) }
    let (undo, tally) = (run.undo, run.tally)
    state.withLock { state in
      state.undo += undo
      state.tally.add(tally)
    }
    return Prepared(number: fold.number, commits: run.commits)
  }

  func committed(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, prepared: (any Sendable)?
  ) {
    guard let prepared = prepared as? Prepared else { return }
    state.withLock { $0.committed = max($0.committed, prepared.number) }
    for commit in prepared.commits { commit() }
  }
}
