import PandoModels
public import PandoStore

/// One write of a container: changes of entities, other models and lists, and their requests, in one commit.
///
/// ```swift
/// try await container.write { entities in
///   try entities.updateIfPresent(Card.self, id) { $0.column = done }
///   try entities.remove(Draft.self, draft, in: .localAndRemote)
///   try entities.transaction.moveElement(card, fromCollection: "todo", toCollection: "done", at: 0)
/// }
/// ```
/// It lives in the closure of ``CoreManagerContainer/write(context:_:)``; the compiler refuses to keep it.
/// Writer thread only.
public struct EntityTransaction: ~Copyable {
  /// The transaction of the store, for models that are no entities, and for lists.
  public var transaction: ModelTransaction
  private let container: CoreManagerContainer
  private var requests: [EntityRequest] = []

  init(_ transaction: borrowing ModelTransaction, _ container: CoreManagerContainer) {
    self.transaction = transaction.alias()
    self.container = container
  }

  /// Returns an entity, with the changes of this write so far.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - identifier: Its identifier.
  /// - Returns: The entity; `nil` if there is none.
  /// - Throws: `ModelError` if it can't be decoded; `StoreError`, `LMDBError`.
  /// - Complexity: O(log *n*) for each node of its tree.
  public func get<E: LocalEntity>(
    _ type: E.Type, _ identifier: EntityIdentifier<E>
  ) throws -> E? {
    try transaction.snapshot.entity(identifier)
  }

  /// Sets an entity, merged into a stored one.
  ///
  /// - Parameters:
  ///   - entity: The new value.
  ///   - context: `.local`, or `.localAndRemote` to send it to the server too.
  /// - Returns: The stored value.
  /// - Throws: ``ManagerError`` `unknownEntity`, `noStore`, `userAccessInvalid`; `QueryError`
  ///   `invalidIdentifier`; `ModelError`, `StoreError`, `LMDBError`.
  /// - Complexity: O(log *n*) for each node of the given and the stored tree.
  @discardableResult
  public mutating func set<E: LocalEntity>(
    _ entity: E, in context: WriteContext<E> = .local
  ) throws -> E {
    // Calls that may throw come first: a caller that catches the error has changed nothing.
    let server = try server(for: context)
    let request = try server?.request(toSet: [entity], in: context)
    let replaced = try server?.replaced(bySetting: [entity], in: &transaction)
    let applied = try transaction.apply(
      [entity], asOf: nil, keepsOrder: Self.keepsOrder(E.self), isLocal: server == nil)
    if let request { requests.append(EntityRequest(request, replacing: try written(replaced))) }
    return applied.first?.stored ?? entity
  }

  /// Changes a stored entity; only differing nodes are written.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - identifier: Its identifier.
  ///   - context: `.local`, or `.localAndRemote` to send the result to the server too.
  ///   - change: Changes the value, but not its identifier.
  /// - Returns: The stored value.
  /// - Throws: ``ManagerError`` `notFound`; the error of `change`; else as ``set(_:in:)``.
  /// - Complexity: O(log *n*) for each node of its tree, before and after, and the cost of `change`.
  @discardableResult
  public mutating func update<E: LocalEntity>(
    _ type: E.Type, _ identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local,
    _ change: (inout E) throws -> Void
  ) throws -> E {
    if let entity = try updateIfPresent(type, identifier, in: context, change) { return entity }
    throw ManagerError(
      .notFound, identifier.modelIdentifier, "there is no such entity here; nothing was changed")
  }

  /// Changes a stored entity, if it exists.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - identifier: Its identifier.
  ///   - context: `.local`, or `.localAndRemote` to send the result to the server too.
  ///   - change: Changes the value, but not its identifier.
  /// - Returns: The stored value; `nil` if there is no such entity.
  /// - Throws: The error of `change`; else as ``set(_:in:)``.
  /// - Complexity: O(log *n*) for each node of its tree, before and after, and the cost of `change`.
  @discardableResult
  public mutating func updateIfPresent<E: LocalEntity>(
    _ type: E.Type, _ identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local,
    _ change: (inout E) throws -> Void
  ) throws -> E? {
    let server = try server(for: context)
    guard var entity = try get(type, identifier) else { return nil }
    try change(&entity)
    let request = try server?.request(toSet: [entity], in: context)
    let replaced = try server?.replaced(bySetting: [entity], in: &transaction)
    let update = EntityUpdate(identifier) { [entity] in $0 = entity }
    let applied = try transaction.apply(
      update, keepsOrder: Self.keepsOrder(type), isLocal: server == nil)
    if let request { requests.append(EntityRequest(request, replacing: try written(replaced))) }
    return applied.first?.stored
  }

  /// Removes an entity.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - identifier: Its identifier; an absent entity is no error.
  ///   - context: `.local`, or `.localAndRemote` to remove it on the server too.
  /// - Throws: As ``set(_:in:)``; `StoreError` `restricted` if a deletion rule forbids it.
  /// - Complexity: O(log *n*) for each parent, and the size of each collection that holds it; about twice
  ///   that if the server gets a request that the type undoes if it is refused.
  public mutating func remove<E: LocalEntity>(
    _ type: E.Type, _ identifier: EntityIdentifier<E>, in context: WriteContext<E> = .local
  ) throws {
    try identifier.validate()
    let current = try transaction.snapshot.currentIdentifier(of: identifier)
    let server = try server(for: context)
    let request = try server?.request(toRemove: [current], in: context)
    let replaced = try server?.replaced(byRemoving: [current], in: &transaction)
    try transaction.removeEntities([current], asOf: nil, keepsOrder: Self.keepsOrder(type))
    if let request { requests.append(EntityRequest(request, replacing: try written(replaced))) }
  }

  /// Queues the requests after all changes, in the order of the calls.
  consuming func finish() throws -> [EntityRequest] {
    for request in requests { try request.enqueue(&transaction) }
    let replaced = Set(requests.flatMap { $0.replaced() })
    for request in requests { request.leaveOut(replaced) }
    return requests
  }

  /// The replaced values, with the present ones.
  private func written(_ replaced: (any Sendable)?) throws -> (any Sendable)? {
    guard let nodes = replaced as? any ReplacedNodes else { return replaced }
    return try nodes.written(in: transaction.snapshot)
  }

  private static func keepsOrder<E: LocalEntity>(_ type: E.Type) -> Bool {
    type is any ServedEntity.Type
  }

  /// The queue to the server; `nil` if the context names no server.
  private func server<E: LocalEntity>(
    for context: WriteContext<E>
  ) throws -> (any RemoteStoring<E>)? {
    guard let manager = container.manager(of: E.self) else {
      throw ManagerError(
        .unknownEntity, E.modelTypeName, "name the type where the container is made")
    }
    guard let store = manager.stack.followedStore, store === container.diskStoreConfig.modelStore
    else {
      throw ManagerError(
        .noStore, E.modelTypeName, "its entities are not in the store of the container")
    }
    let access = try AccessCheck(context.accessValidator, E.self)
    switch context.target {
    case .local: return nil
    case .remote:
      throw ManagerError(
        .noStore, E.modelTypeName,
        "what is written together is written here; say .local or .localAndRemote")
    case .localAndRemote:
      try access.requireServer()
      guard let server = manager.stack.remote.first as? any RemoteStoring<E> else {
        throw ManagerError(.noStore, E.modelTypeName, "there is no queue to tell a server by")
      }
      return server
    }
  }
}

/// A request of a write, for any entity type.
struct EntityRequest: Sendable {
  let enqueue: @Sendable (inout ModelTransaction) throws -> Void
  let committed: @Sendable () -> Void
  /// The queued requests that this one has replaced, before `committed`.
  let replaced: @Sendable () -> [String]
  /// Excludes replaced requests of the same write from `confirm`: it also waits for their replacements.
  let leaveOut: @Sendable (Set<String>) -> Void
  /// Waits for the server's answer.
  ///
  /// Throws `aborted` if a request of another write has replaced this one: the server gets the change with that
  /// one, which it may still refuse.
  let confirm: @Sendable () async throws -> Void

  init<E: Entity>(_ write: any QueuedWrite<E>, replacing replaced: (any Sendable)?) {
    enqueue = { try write.enqueue(&$0, replacing: replaced) }
    committed = { write.committed() }
    let replaceable = write as? any ReplaceableWrite
    self.replaced = { replaceable?.replacedRequests ?? [] }
    leaveOut = { replaceable?.leaveOut($0) }
    confirm = { _ = try await write.answer() }
  }
}
