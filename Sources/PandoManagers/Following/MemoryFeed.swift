import PandoModels
import PandoProviders
import PandoSystem

/// A store in memory whose entities can be followed.
protocol FollowedMemory<E>: Sendable {
  associatedtype E: Entity

  /// Tells a feed of every change from now on; it is not retained.
  func connect(_ feed: MemoryFeed<E>)

  /// Gives all entities, and the number of the last write that they show.
  ///
  /// - Parameter body: Nothing is written while it runs; quick.
  func withPresent(_ body: (_ entities: [RankedEntity<E>], _ number: UInt64) -> Void)

  /// Waits until all writes so far are shown by everybody who follows them.
  func shown() async
}

/// Shows what is written to a store in memory: to those who follow queries of a manager, and in the same
/// step to the providers beside it.
///
/// ```
/// write ─► publish, in the order of the writes ─► pipeline of the providers ─► queries and live trees
/// ```
final class MemoryFeed<E: Entity>: Sendable {
  /// Takes the identifiers of what has changed; on the pipeline.
  typealias Watcher = @Sendable (Set<ByteString>) -> Void

  private let memory: any FollowedMemory<E>
  private let providers: DataModelManager
  private let followers = QueryFollowers<E>()
  /// All entities as the followed queries show them; empty while there are none.
  ///
  /// With it a query is filled again at its place in the order. Changed on the pipeline only.
  private let present = Locked<[ByteString: RankedEntity<E>]>([:])
  /// Who else is told which entities have changed, by a number of theirs.
  private let watchers = Locked<[UInt64: Watcher]>([:])

  init(_ memory: any FollowedMemory<E>, _ providers: DataModelManager) {
    self.memory = memory
    self.providers = providers
    memory.connect(self)
  }

  /// Queues a write; its place in the order is fixed when this returns.
  ///
  /// - Parameters:
  ///   - changes: What it did, each entity once.
  ///   - number: Its number; grows from write to write.
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

  private var isWatched: Bool { !followers.isEmpty || watchers.withLock { !$0.isEmpty } }

  /// Waits until what has been published so far is shown.
  func shown() async { await providers.shown() }

  /// Begins to follow a query: it gets its present entities, and what every later change makes of them.
  ///
  /// Any thread; returns at once.
  func begin(_ query: LiveQuery<E>) {
    followers.insert(query)
    query.endings.add { [weak self, number = query.number] in self?.remove(number) }
    // Under the lock of the memory, so at its place between the writes.
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
      followers.begin(query, with: try fill(query), at: number)
    } catch {
      followers.fail(query, error)
    }
  }

  private func remove(_ number: UInt64) {
    followers.remove(number)
    guard followers.isEmpty else { return }
    providers.enqueue {
      if self.followers.isEmpty { self.present.withLock { $0 = [:] } }
    }
  }

  private func stage(_ changes: [EntityChange<E>], at number: UInt64) -> FollowingRun {
    var run = FollowingRun(number: number, context: nil)
    if !followers.isEmpty {
      present.withLock { present in
        for change in changes { present[change.identifier] = change.entity }
      }
      followers.stage(changes, &run, fill: fill)
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

  /// Tells somebody of every change from now on.
  ///
  /// - Returns: Ends that.
  func watch(_ watcher: @escaping Watcher) -> @Sendable () -> Void {
    let number = FollowedNumber.next()
    watchers.withLock { $0[number] = watcher }
    return { [weak self] in _ = self?.watchers.withLock { $0.removeValue(forKey: number) } }
  }

  /// What a window is filled with.
  private func fill(_ query: LiveQuery<E>) throws -> [RankedEntity<E>] {
    try query.followed.read(present.withLock { $0 })
  }
}

extension FollowedMemory {
  /// Reads what a window is filled with.
  func read(_ followed: FollowedQuery<E>) throws -> [RankedEntity<E>] {
    var present: [ByteString: RankedEntity<E>] = [:]
    withPresent { entities, _ in
      present = Dictionary(entities.map { ($0.identifier, $0) }) { $1 }
    }
    return try followed.read(present)
  }
}

extension FollowedQuery {
  /// What a window is filled with, of all entities that there are.
  fileprivate func read(
    _ present: [ByteString: RankedEntity<E>]
  ) throws -> [RankedEntity<E>] {
    let ordered = present.values.ordered { $0.rank < $1.rank }.map(\.entity)
    let found = try stored.apply(to: ordered).entities
    return accepted(found.compactMap { present[ByteString($0.modelIdentifier ?? "")] })
  }
}
