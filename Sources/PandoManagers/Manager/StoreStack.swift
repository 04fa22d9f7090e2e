import PandoStore
import PandoSystem

/// The stores of a manager, from the nearest to the farthest.
package struct StoreStack<E: Entity>: Sendable {
  /// The stores that need no server.
  package let local: [any LocalStoring<E>]
  /// The servers.
  package let remote: [any Storing<E>]
  /// The farthest local store, which decides; the nearer ones follow it.
  private let last: (any LocalStoring<E>)?
  private let nearer: NearerStores<E>
  /// The farthest local store without the caches before it, if it is in memory.
  let memory: (any FollowedMemory<E>)?
  /// The same, in memory or on disk, if it answers without waiting.
  let directLast: (any LocalStoring<E>)?
  /// The farthest local store without the caches before it, if it has a recovery store.
  let recoverable: RecoverableStore<E>?
  /// Serializes updates if a store can't read and write in one step.
  private let updates = AsyncGate()
  /// Serializes writes with their requests if the transaction of a write can't queue its request.
  private let steps = AsyncGate()

  init(_ stores: [any Storing<E>], events: ManagerEventHandler?) {
    let sorted = stores.enumerated()
      .ordered { ($0.element.level, $0.offset) < ($1.element.level, $1.offset) }.map(\.element)
    let near = sorted.filter { $0.level.isLocal }.map { $0.local }
    local = Self.withCaches(Self.withModelStoreLast(near))
    remote = sorted.filter { !$0.level.isLocal }
    last = local.last
    nearer = NearerStores(
      local.dropLast(), before: last, over: Self.counting(last)?.followedStore, events: events)
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

  /// The store beneath caches and recovery.
  private static func counting(_ store: (any LocalStoring<E>)?) -> (any LocalStoring<E>)? {
    switch withoutCaches(store) {
    case let recoverable as RecoverableStore<E>: counting(recoverable.mainStore)
    case let store: store
    }
  }

  /// The open store on disk beneath the farthest local store.
  var followedStore: ModelStore? { Self.counting(last)?.followedStore }

  /// The sequence number of the first write that waits for a server; `nil` if none does.
  var waitingSince: UInt64? {
    get throws { try followedStore?.read { try $0.firstWaitingPlace } }
  }

  /// Prepares the stores before their entities can be followed; `nil` if they need no preparation.
  var prepare: (@Sendable () async throws -> Void)? {
    guard let recoverable else { return nil }
    return { try await recoverable.prepare() }
  }

  /// The local stores that hold what was written, from the nearest to the farthest.
  var readable: [any LocalStoring<E>] {
    guard let last, local.count > 1 else { return local }
    return nearer.current + [last]
  }

  /// Whether the nearer stores need no ``catchUp()``.
  var isInStep: Bool { nearer.isInStep }

  /// Sends the nearer stores what others have written, so that they can be read.
  func catchUp() async { await nearer.catchUp() }

  /// Whether the deciding store keeps sequence numbers.
  var keepsOrder: Bool { Self.counting(last)?.updatesInPlace == true }

  /// Moves a store over a model store in memory behind the others in memory, where it is on disk, too.
  private static func withModelStoreLast(
    _ stores: [any LocalStoring<E>]
  ) -> [any LocalStoring<E>] {
    guard stores.last?.level == .memory else { return stores }
    return stores.filter { !isOverModelStore($0) } + stores.filter(isOverModelStore)
  }

  private static func isOverModelStore(_ store: any LocalStoring<E>) -> Bool {
    counting(store)?.followedStore != nil
  }

  /// Joins a disk store, or one over a model store in memory, with a memory store directly before it.
  private static func withCaches(_ stores: [any LocalStoring<E>]) -> [any LocalStoring<E>] {
    guard stores.count > 1, let last = stores.last, last.level == .disk || isOverModelStore(last),
      let memory = stores.dropLast().last as? any KeyValueStoring<E>
    else { return stores }
    return stores.dropLast(2) + [CacheStore(keyValueStore: memory, persistentStore: last)]
  }

  /// Takes the sequence number of a request to a server, and so of its answer.
  ///
  /// It never lies between a write and the request of that write.
  package func takeReadPlace() async throws -> UInt64 { try await inStep { try await place() } }

  /// Queues a request without a local write, and takes its sequence number.
  func takePlace(_ enqueue: () async throws -> Void) async throws -> UInt64 {
    try await inStep {
      let place = try await place()
      try await enqueue()
      return place
    }
  }

  private func place() async throws -> UInt64 { try await last?.takeReadPlace() ?? 0 }

  /// Whether local writes run the steps of a context in their transaction.
  ///
  /// A queue in another store can't take part in the transaction.
  package var runsSteps: Bool {
    guard let last, last.runsSteps else { return false }
    guard let queue = remote.first as? any NamingStore<E> else { return true }
    return queue.queueStore === followedStore
  }

  /// Returns true if the store takes the entities of other, persistent types that come with an answer.
  var takesIncluded: Bool { runsSteps || followedStore?.isInMemory == false }

  /// Runs a write that also queues its request, so that requests have the order of their writes.
  func inStep<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    try await runsSteps ? body() : steps.run(body)
  }

  /// Runs a write, passes its changes to the nearer stores, and waits until they are published.
  private func inOrder<Result>(
    _ write: () async throws -> Result, _ changes: (Result) -> StoredChanges<E>
  ) async rethrows -> Result {
    let result = try await nearer.follow(write, changes)
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
      try await last.apply(entities, in: context)
    } _: {
      $0.changes(removed: [])
    }
  }

  /// Changes a stored entity.
  ///
  /// - Returns: No entity if there is none with the identifier.
  func write(
    _ update: EntityUpdate<E>, in context: WriteContext<E>
  ) async throws -> AppliedWrite<E> {
    var context = context
    guard keepsOrder else {
      // A custom store reads and sets in two steps, so other updates wait meanwhile.
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

  /// Entities of a server, with the stored values of fields that the server does not have.
  func withLocalFields(_ entities: [E]) async throws -> [E] {
    guard let last, !entities.isEmpty else { return entities }
    let stored = try await last.get(withQuery: Query(ids: entities.map(\.id).unique), in: .local)
    return LocalFields.restored(entities, from: stored.entities)
  }

  /// Stores an answer of a server.
  @discardableResult
  func store(_ answer: AnswerWrite<E>) async throws -> AppliedAnswer<E> {
    guard let last else {
      return AppliedAnswer(write: AppliedWrite([], place: answer.asOf), removed: [])
    }
    return try await inOrder {
      try await last.apply(answer)
    } _: {
      $0.write.changes(removed: $0.removed)
    }
  }

  /// Removes entities from the local stores.
  @discardableResult
  func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> UInt64 {
    let last = try requireLast()
    return try await inOrder {
      try await last.applyRemoval(of: identifiers, in: context)
    } _: { _ in
      // A late removal keeps newer entities.
      context.asOf == nil ? StoredChanges(gone: identifiers) : StoredChanges(unsure: identifiers)
    }
  }

  /// Removes entities that a server does not have.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - asOf: The sequence number of the request.
  ///   - step: Further writes in the same transaction, if the stores run steps.
  /// - Throws: The error of the store that failed.
  func removeAnswered(
    _ identifiers: [EntityIdentifier<E>], asOf: UInt64, _ step: WriteContext<E>.Step? = nil
  ) async throws {
    guard last != nil, !identifiers.isEmpty else { return }
    var context = WriteContext<E>.answer(asOf: asOf)
    if last?.runsSteps == true, let step { context.steps.append(step) }
    try await remove(identifiers, in: context)
  }

  /// Removes entities that match a query from the local stores.
  func removeAll(
    _ query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    let last = try requireLast()
    return try await inOrder {
      try await last.removeAll(withQuery: query, in: context)
    } _: {
      StoredChanges(gone: $0)
    }
  }
}

extension AppliedWrite {
  /// The changes of the write, and removals beside it.
  fileprivate func changes(removed: [EntityIdentifier<E>]) -> StoredChanges<E> {
    let absent = entities.filter { $0.stored == nil }.map(\.identifier)
    return StoredChanges(stored: stored, gone: removed + absent)
  }
}
