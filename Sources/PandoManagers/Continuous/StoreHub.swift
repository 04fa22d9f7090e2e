import Dispatch
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Follows the commits of one model store for all managers over it, in step with the live trees.
///
/// A write that affects no followed query or graph reads nothing. Other entities are read from the snapshot
/// that the store's pipeline shows next.
final class StoreHub: Sendable {
  struct State {
    /// The followers by the namespace of identifiers; several types can share one.
    var types: [ByteString: [any StoreFollowers]] = [:]
    var tally = HubTally()
  }

  /// Takes the changed nodes of a namespace.
  typealias Watcher = @Sendable (Set<ByteString>) -> Void

  private struct Watch: Sendable {
    let number: UInt64
    let namespace: ByteString
    let body: Watcher
  }

  let line: StorePipeline
  /// Graphs that are read from another store first, and contain entities of this one.
  private let watches = Locked<[Watch]>([])
  let state = Locked(State())
  /// The followed graphs.
  let graphs = GraphFollowers()
  /// Runs the first reads of queries, so that callers don't wait.
  let loader = DispatchQueue(label: "pando.following", attributes: .concurrent)

  private init(_ line: StorePipeline) { self.line = line }

  /// Returns the hub of a store, or makes it.
  ///
  /// - Parameter store: An open store.
  /// - Returns: The hub; one for each store while it is in use.
  /// - Throws: `StoreError` or `LMDBError` if the store can't be read.
  static func hub(of store: ModelStore) throws -> StoreHub {
    let line = try StorePipeline.pipeline(of: store)
    return line.member { StoreHub(line) }
  }

  var store: ModelStore { line.store }

  /// Counts of its work.
  var tally: HubTally { state.withLock { $0.tally } }

  /// The number of followed queries.
  var queryCount: Int {
    state.withLock { $0.types.values.flatMap { $0 } }.reduce(0) { $0 + $1.count }
  }

  /// Waits until running loads, and all present commits of all processes, are shown.
  func shown() async {
    await withCheckedContinuation { continuation in
      loader.async {
        // A snapshot may have a commit that the pipeline does not have yet.
        if let number = try? self.store.read({ try $0.commitValue }) {
          self.store.feed.waitForHandOver(of: number)
        }
        continuation.resume()
      }
    }
    await line.loaded()
    try? await refresh()
  }

  /// Calls a closure after each commit that changes entities of a namespace; on the pipeline.
  ///
  /// - Returns: Ends the calls.
  func watch(
    _ namespace: String, _ body: @escaping Watcher
  ) -> @Sendable () -> Void {
    let number = FollowedNumber.next()
    watches.withLock {
      $0.append(Watch(number: number, namespace: ByteString(namespace), body: body))
    }
    return { self.watches.withLock { $0.removeAll { $0.number == number } } }
  }

  /// Publishes commits of other processes.
  func refresh() async throws { try await line.refresh() }
}

extension StoreHub: StorePipelineMember {
  func loaded() async {
    await withCheckedContinuation { continuation in
      loader.async(flags: .barrier) { continuation.resume() }
    }
  }

  func plan(for write: CommitEffects) -> CommitPlan {
    guard let changeSet = write.changeSet else { return .nothing }
    let types = state.withLock { $0.types }
    if types.isEmpty, graphs.count == 0, watches.withLock(\.isEmpty) { return .nothing }
    let touched = TouchedNodes(changeSet, write.content)
    if watches.withLock({ !$0.isEmpty }), !touched.identifiers.isEmpty { return .read }
    if graphs.concerns(touched) { return .read }
    for (namespace, followers) in types {
      for followers in followers where followers.concerns(touched, of: namespace) { return .read }
    }
    return .nothing
  }

  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? { nil }

  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? {
    let types = state.withLock { $0.types }
    var run = FollowingRun(number: group.number, context: group.newest?.context)
    if !types.isEmpty { run.stage(group, types, snapshot) }
    if graphs.count > 0 { graphs.stage(group, snapshot, &run, self) }
    let watches = watches.withLock { $0 }
    if !watches.isEmpty {
      let touched = group.touched(in: snapshot)
      run.add {
        for watch in watches {
          let found = touched.filter { $0.isIdentifier(of: watch.namespace) }
          if !found.isEmpty { watch.body(found) }
        }
      }
    }
    let tally = run.tally
    state.withLock { $0.tally.add(tally) }
    return run
  }

  func finish(_ write: CommitEffects) {}
  func fail(_ write: CommitEffects, _ error: any Error) {}
  func showsList(_ cacheKey: ByteString) -> Bool { false }

  func showUnread(_ write: CommitEffects) {}

  /// Ends all queries and graphs with an error.
  func failRead(_ error: any Error) {
    for followers in state.withLock({ $0.types }).values.joined() { followers.fail(error) }
    graphs.fail(error, self)
  }

  func storeHasClosed() {
    failRead(ManagerError(.closed, store.path, "the store was closed"))
  }
}
