import PandoStore
import PandoSystem

/// The stores of a manager, from the nearest to the farthest.
package struct StoreStack<E: Entity>: Sendable {
  /// Those that need no server.
  package let local: [any LocalStoring<E>]
  /// Servers.
  package let remote: [any Storing<E>]
  /// The farthest local one: what it says is so, and the others follow.
  private let last: (any LocalStoring<E>)?
  private let nearer: [any LocalStoring<E>]
  /// The farthest local one, without the caches before it, if it is in memory.
  let memory: (any FollowedMemory<E>)?
  /// The same, or the disk, if it answers without waiting.
  let directLast: (any LocalStoring<E>)?
  /// The farthest local one, without the caches before it, if another one stands behind it.
  let recoverable: RecoverableStore<E>?
  /// Where there are others, writes come one after another, so that all are written in one order.
  private let gate = AsyncGate()
  /// Where a store has no step that reads and writes, updates come one after another.
  private let updates = AsyncGate()
  /// Where a request can't be queued in the transaction of its write, the two are one step.
  private let steps = AsyncGate()

  init(_ stores: [any Storing<E>], events: ManagerEventHandler?) {
    let sorted = stores.enumerated()
      .ordered { ($0.element.level, $0.offset) < ($1.element.level, $1.offset) }.map(\.element)
    local = Self.withCaches(sorted.filter { $0.level.isLocal }.map { $0.local })
    remote = sorted.filter { !$0.level.isLocal }
    last = local.last
    nearer = Array(local.dropLast())
    recoverable = Self.withoutCaches(last) as? RecoverableStore<E>
    memory = Self.counting(last) as? any FollowedMemory<E>
    directLast = Self.counting(last).flatMap { $0.answersDirectly ? $0 : nil }
  }

  private static func withoutCaches(_ store: (any LocalStoring<E>)?) -> (any LocalStoring<E>)? {
    switch store {
    case let cache as CacheStore<E>: withoutCaches(cache.persistentStore)
    case let limited as LRUStore<E>: withoutCaches(limited.store.local)
    default: store
    }
  }

  /// Where the entities are that count.
  private static func counting(_ store: (any LocalStoring<E>)?) -> (any LocalStoring<E>)? {
    switch withoutCaches(store) {
    case let recoverable as RecoverableStore<E>: counting(recoverable.mainStore)
    case let store: store
    }
  }

  /// The open store on disk that the farthest local one is a view of.
  var followedStore: ModelStore? { Self.counting(last)?.followedStore }

  /// The place of the first write that waits to be sent to a server; `nil` if none does.
  var waitingSince: UInt64? {
    get throws { try followedStore?.read { try $0.firstWaitingPlace } }
  }

  /// What has to be done before what is here can be followed.
  var prepare: (@Sendable () async throws -> Void)? {
    guard let recoverable else { return nil }
    return { try await recoverable.prepare() }
  }

  /// Whether the store that counts knows how old what it has is.
  var keepsOrder: Bool { Self.counting(last)?.updatesInPlace == true }

  /// Puts memory stores that come right before a disk store together with it.
  private static func withCaches(_ stores: [any LocalStoring<E>]) -> [any LocalStoring<E>] {
    guard stores.count > 1, let disk = stores.last, disk.level == .disk,
      let memory = stores.dropLast().last as? any KeyValueStoring<E>
    else { return stores }
    return stores.dropLast(2) + [CacheStore(keyValueStore: memory, persistentStore: disk)]
  }

  /// Gives what a server is asked now its place: its answer is as old as this.
  ///
  /// It comes before a write and its request, or after both.
  package func takeReadPlace() async throws -> UInt64 { try await inStep { try await place() } }

  /// Queues a request that nothing is written with, and gives it its place.
  func takePlace(_ enqueue: () async throws -> Void) async throws -> UInt64 {
    try await inStep {
      let place = try await place()
      try await enqueue()
      return place
    }
  }

  private func place() async throws -> UInt64 { try await last?.takeReadPlace() ?? 0 }

  /// Whether the steps of a context are carried out in the transaction of a local write.
  ///
  /// A queue in another store can't take part in the transaction.
  package var runsSteps: Bool {
    guard let last, last.runsSteps else { return false }
    guard let queue = remote.first as? any NamingStore<E> else { return true }
    return queue.queueStore === followedStore
  }

  /// Returns true if the store takes the entities of other, persistent types that come with an answer.
  var takesIncluded: Bool { runsSteps || followedStore?.isInMemory == false }

  /// Carries out a write and queues its request, so that requests are in the order of the writes.
  func inStep<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    try await runsSteps ? body() : steps.run(body)
  }

  /// Carries out a write; what it changes is shown when this returns.
  private func inOrder<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    let result = nearer.isEmpty ? try await body() : try await gate.run(body)
    await memory?.shown()
    return result
  }

  func requireLast() throws -> any LocalStoring<E> {
    guard let last else { throw CoreManager<E>.noStore("local") }
    return last
  }
}

extension StoreStack {
  /// Writes entities to the local stores.
  package func write(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    let last = try requireLast()
    return try await inOrder {
      let applied = try await last.apply(entities, in: context)
      try await follow(applied, removed: [])
      return applied
    }
  }

  /// Changes an entity as it is stored.
  ///
  /// - Returns: Nothing if there is no such entity.
  func write(
    _ update: EntityUpdate<E>, in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    var context = context
    guard keepsOrder else {
      // A store of a service's own can be read and set: others wait meanwhile.
      return try await updates.run {
        let query = Query(ids: [update.identifier])
        guard var entity = try await requireLast().get(withQuery: query, in: .local).first else {
          return AppliedWrite([], place: 0)
        }
        try update.change(&entity)
        return try await write([entity], in: context)
      }
    }
    context.update = update
    return try await write([], in: context)
  }

  /// Brings the nearer stores to what the farthest one has stored.
  private func follow(
    _ applied: AppliedWrite<E>, removed: [EntityIdentifier<E>]
  ) async throws {
    let gone = removed + applied.entities.filter { $0.stored == nil }.map(\.identifier)
    for store in nearer {
      _ = try await store.set(applied.stored, in: .local)
      if !gone.isEmpty { try await store.remove(gone, in: .local) }
    }
  }

  /// Entities that a server has sent, with what it does not know as it is stored here.
  func withLocalFields(_ entities: [E]) async throws -> [E] {
    guard let last, !entities.isEmpty else { return entities }
    let stored = try await last.get(withQuery: Query(ids: entities.map(\.id).unique), in: .local)
    return LocalFields.restored(entities, from: stored.entities)
  }

  /// Stores what a server answered.
  @discardableResult
  func store(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    guard let last else {
      return AppliedAnswer(write: AppliedWrite([], place: answer.asOf), removed: [])
    }
    return try await inOrder {
      let applied = try await last.apply(answer)
      try await follow(applied.write, removed: applied.removed)
      return applied
    }
  }

  /// Removes entities from the local stores.
  @discardableResult
  func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    let last = try requireLast()
    return try await inOrder {
      let place = try await last.applyRemoval(of: identifiers, in: context)
      try await followRemoval(of: identifiers, from: last, in: context)
      return place
    }
  }

  private func followRemoval(
    of identifiers: [EntityIdentifier<E>], from last: any Storing<E>, in context: WriteContext<E>
  ) async throws {
    guard !nearer.isEmpty else { return }
    // A late removal leaves some of them.
    let left =
      context.asOf == nil
      ? [] : try await last.get(withQuery: Query(ids: identifiers), in: .local).entities.map(\.id)
    let gone = identifiers.filter { !left.contains($0) }
    for store in nearer { try await store.remove(gone, in: .local) }
  }

  /// Removes entities that a server said it does not have.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - asOf: The place at which it was asked.
  ///   - step: What else is done in the transaction, if there is one.
  /// - Throws: Why they can't be removed.
  func removeAnswered(
    _ identifiers: [EntityIdentifier<E>], asOf: UInt64, _ step: WriteContext<E>.Step? = nil
  ) async throws {
    guard last != nil, !identifiers.isEmpty else { return }
    var context = WriteContext<E>.answer(asOf: asOf)
    if runsSteps, let step { context.steps.append(step) }
    try await remove(identifiers, in: context)
  }

  /// Removes from the local stores what matches a query.
  func removeAll(
    _ query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    let last = try requireLast()
    return try await inOrder {
      let removed = try await last.removeAll(withQuery: query, in: context)
      for store in nearer where !removed.isEmpty { try await store.remove(removed, in: .local) }
      return removed
    }
  }
}
