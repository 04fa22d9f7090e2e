import PandoModels
import PandoProviders
import PandoSystem

/// A store in memory whose entities can be followed.
protocol FollowedMemory<E>: Sendable {
  associatedtype E: Entity

  /// Makes a feed receive every later change; the feed is held weakly.
  func connect(_ feed: MemoryFeed<E>)

  /// Passes all entities, and the sequence number of the last write in them.
  ///
  /// - Parameter body: Runs under the store's lock, so it must be quick.
  func withPresent(_ body: (_ entities: [RankedEntity<E>], _ number: UInt64) -> Void)

  /// Waits until all followers show the writes so far.
  func shown() async
}

/// Publishes the writes of a store in memory to followed queries, and in the same step to providers.
///
/// ```
/// write ─► publish, in the order of the writes ─► pipeline of the providers ─► queries and live trees
/// ```
final class MemoryFeed<E: Entity>: Sendable {
  /// Receives the identifiers of changed entities, on the pipeline.
  typealias Watcher = @Sendable (Set<ByteString>) -> Void

  private let memory: any FollowedMemory<E>
  private let providers: DataModelManager
  private let views = ViewIndex()
  /// All entities as the followed queries show them; empty without queries.
  ///
  /// A window that is filled again gets these entities. Changed on the pipeline only.
  private let present = Locked<[ByteString: RankedEntity<E>]>([:])
  /// Other receivers of changes, by number.
  private let watchers = Locked<[UInt64: Watcher]>([:])

  init(_ memory: any FollowedMemory<E>, _ providers: DataModelManager) {
    self.memory = memory
    self.providers = providers
    memory.connect(self)
  }

  /// Queues a write; its position in the order of writes is fixed when this returns.
  ///
  /// - Parameters:
  ///   - changes: The changed entities, each once.
  ///   - number: The sequence number of the write.
  func publish(_ changes: [EntityChange<E>], at number: UInt64) {
    let stage: @Sendable () -> any PipelineStep = { self.stage(changes, at: number) }
    let change: @Sendable () -> DataModelManager.Change = {
      (
        changes.compactMap { $0.entity?.entity },
        changes.filter { $0.entity == nil }.map(\.identifier)
      )
    }
    providers.show(change, with: isWatched ? stage : nil)
  }

  private var isWatched: Bool { !views.isEmpty || watchers.withLock { !$0.isEmpty } }

  /// Waits until all published writes are shown.
  func shown() async { await providers.shown() }

  /// Begins to follow a query: loads its entities, and stages it after each later change.
  ///
  /// Any thread may call it. It returns at once.
  func begin(_ query: LiveQuery<E>) {
    views.insert(query)
    query.endings.add { [weak self, number = query.number] in self?.remove(number) }
    // Queued under the lock of the memory, so that the load has a position between two writes.
    memory.withPresent { entities, number in
      providers.enqueue { [weak query] in
        if let query { self.load(query, entities, at: number) }
      }
    }
  }

  private func load(_ query: LiveQuery<E>, _ entities: [RankedEntity<E>], at number: UInt64) {
    present.withLock { present in
      present = Dictionary(entities.map { ($0.identifier, $0) }) { $1 }
    }
    do {
      let window = query.window(of: try fill(query))
      views.insert(nil, in: window, of: query)
      views.didShow(window, of: query)
      query.state.stage(window, at: number)
      query.state.commit(window, context: nil)
      if InternalChecks.areOn {
        views.checkInvariants(of: query, showing: window)
      }
    } catch {
      fail(query, error)
    }
  }

  private func fail(_ query: LiveQuery<E>, _ error: any Error) {
    views.remove(query.number)
    query.state.fail(error)
  }

  private func remove(_ number: UInt64) {
    views.remove(number)
    guard views.isEmpty else { return }
    providers.enqueue {
      if self.views.isEmpty { self.present.withLock { $0 = [:] } }
    }
  }

  private func stage(_ changes: [EntityChange<E>], at number: UInt64) -> FollowingRun {
    var run = FollowingRun(number: number, context: nil)
    if !views.isEmpty {
      present.withLock { present in
        for change in changes { present[change.identifier] = change.entity }
      }
      for case (let query as LiveQuery<E>, let changes) in views.concerned(by: changes) {
        stage(query, changes, &run)
      }
    }
    let watchers = watchers.withLock { $0 }
    if !watchers.isEmpty {
      run.add {
        let touched = Set(changes.map(\.identifier))
        for watcher in watchers.values { watcher(touched) }
      }
    }
    return run
  }

  private func stage(
    _ query: LiveQuery<E>, _ changes: [EntityChange<E>], _ run: inout FollowingRun
  ) {
    do {
      var isFilled = false
      let window = try query.stage(changes, &run) {
        isFilled = true
        return try fill(query)
      }
      let nodes = isFilled ? nil : run.moved
      if let window { run.add(window, of: query, nodes, views) }
    } catch {
      run.add { self.fail(query, error) }
    }
  }

  /// Adds a receiver of later changes.
  ///
  /// - Returns: Removes it.
  func watch(_ watcher: @escaping Watcher) -> @Sendable () -> Void {
    let number = FollowedNumber.next()
    watchers.withLock { $0[number] = watcher }
    return { [weak self] in _ = self?.watchers.withLock { $0.removeValue(forKey: number) } }
  }

  /// The entities that fill a window.
  private func fill(_ query: LiveQuery<E>) throws -> [RankedEntity<E>] {
    try query.followed.read(present.withLock { $0 })
  }
}

extension FollowedMemory {
  /// Reads the entities of a window.
  func read(_ followed: AcceptedQuery<E>) throws -> [RankedEntity<E>] {
    var present: [ByteString: RankedEntity<E>] = [:]
    withPresent { entities, _ in
      present = Dictionary(entities.map { ($0.identifier, $0) }) { $1 }
    }
    return try followed.read(present)
  }
}

extension AcceptedQuery {
  /// The entities of a window, selected from all entities.
  fileprivate func read(
    _ present: [ByteString: RankedEntity<E>]
  ) throws -> [RankedEntity<E>] {
    let ordered = present.values.ordered { $0.rank < $1.rank }.map(\.entity)
    let found = try stored.apply(to: ordered).entities
    return accepted(found.compactMap { present[ByteString($0.modelIdentifier ?? "")] })
  }
}
