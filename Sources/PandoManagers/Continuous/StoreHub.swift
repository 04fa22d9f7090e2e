import Dispatch
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Follows the commits of one model store for all managers over it, in step with the live trees.
///
/// A write that concerns no followed query or graph reads nothing. For all others the entities are read
/// from the snapshot that the pipeline of the store shows next.
final class StoreHub: Sendable {
  struct State {
    /// Who follows, by namespace of identifiers; several types can share one.
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
  /// Which graphs are followed.
  let graphs = GraphFollowers()
  /// Where queries are read first: never on the thread of a caller.
  let loader = DispatchQueue(label: "pando.following", attributes: .concurrent)

  private init(_ line: StorePipeline) { self.line = line }

  /// The hub of a store, made now if there is none.
  ///
  /// - Parameter store: An open store.
  /// - Returns: The same hub for everybody, as long as somebody keeps it.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  static func hub(of store: ModelStore) throws -> StoreHub {
    let line = try StorePipeline.pipeline(of: store)
    return line.member { StoreHub(line) }
  }

  var store: ModelStore { line.store }

  /// How much work it has done.
  var tally: HubTally { state.withLock { $0.tally } }

  /// How many queries are followed.
  var queryCount: Int {
    state.withLock { $0.types.values.flatMap { $0 } }.reduce(0) { $0 + $1.count }
  }

  /// Waits until what is being read, and what is committed now, by whatever process, is shown.
  func shown() async {
    await withCheckedContinuation { continuation in
      loader.async {
        // A commit can be read a moment before it comes to the pipeline.
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

  /// Takes in what other processes have committed.
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

  /// A query or graph that can't be read any more ends by the error.
  func failRead(_ error: any Error) {
    for followers in state.withLock({ $0.types }).values.joined() { followers.fail(error) }
    graphs.fail(error, self)
  }

  func storeHasClosed() {
    failRead(ManagerError(.closed, store.path, "the store was closed"))
  }
}
