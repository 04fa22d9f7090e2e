public import PandoManagers
import PandoModels
public import PandoStore
import PandoSystem

/// The entities of one type on a server.
///
/// ```swift
/// let queue = APIClientQueue.open(for: store, client: client)
/// let books = CoreManager<Book>(
///   stores: [DiskStore(modelStore: store), RemoteStore(clientQueue: queue)])
/// let found = try await books.all(in: .localOr(.remote()))
/// ```
///
/// A read is sent to the server; a write waits in the durable queue. The transaction that removes the request of a
/// write from the queue stores the answer, also after a restart.
///
/// - Note: Any thread, several calls at the same time.
public final class RemoteStore<E: RemoteEntity>: RemoteStoring {
  /// The queue of the requests.
  public let clientQueue: APIClientQueue

  /// `remote`.
  public var level: StoreLevel { .remote }

  /// Makes a store.
  ///
  /// - Parameter clientQueue: The queue of the requests; from now on it reads the answers to writes of this type.
  public init(clientQueue: APIClientQueue) {
    self.clientQueue = clientQueue
    clientQueue.register(E.self)
  }

  /// Reads entities by their identifiers from the server.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: How the caller reads.
  /// - Returns: The entities that the server has.
  /// - Throws: ``APIError``.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    do {
      return try await fetch(query, in: context).result
    } catch let error as APIError where error.code == .notFound {
      return .empty
    }
  }

  /// Reads the entities that match a query from the server.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: How the caller reads.
  /// - Returns: The entities, in the order of the answer.
  /// - Throws: ``APIError``.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> { try await fetch(query, in: context).result }

  /// Stores entities on the server, and waits for the answer.
  ///
  /// - Parameters:
  ///   - entities: The entities.
  ///   - context: How the caller writes.
  /// - Returns: The entities as they are stored now; those of the answer if the queue's store lacks them.
  /// - Throws: ``APIError``; ``ManagerError`` `aborted`.
  public func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E] {
    let write = try request(toSet: entities, in: context)
    try await write.enqueue()
    write.committed()
    return try await write.answer()
  }

  /// Removes entities from the server, and waits for the answer.
  ///
  /// - Parameters:
  ///   - identifiers: The identifiers.
  ///   - context: How the caller writes.
  /// - Throws: ``APIError``; ``ManagerError`` `aborted`.
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws {
    let write = try request(toRemove: identifiers, in: context)
    try await write.enqueue()
    write.committed()
    _ = try await write.answer()
  }

  /// Removes the entities that match a query from the server, and waits for the answer.
  ///
  /// It reads the entities first. If the API has no request for all, it removes each with a request of its own.
  /// An identifier in the query that the server does not have is no error.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: How the caller writes.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: ``APIError``.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    let found = try await present(query).entities.map(\.id)
    guard let request = try E.request(for: .removeAll(query)) else {
      try await remove(found, in: context)
      return found
    }
    _ = try await clientQueue.enqueue(request, subjects: found.map(\.modelIdentifier))
      .confirmation()
    return found
  }

  /// Reads the entities that a removal by query removes.
  private func present(_ query: Query<E>) async throws -> QueryResult<E> {
    guard query.identifiers == nil else { return try await get(withQuery: query, in: .remote()) }
    return try await search(withQuery: query, in: .remote())
  }
}

extension RemoteStore {
  /// Returns whether a write of an entity waits, is being sent, or was refused and is still stored.
  ///
  /// - Parameter identifier: The identifier of the entity.
  /// - Returns: Whether there is such a write.
  /// - Throws: `StoreError` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func hasWaitingWrites(of identifier: EntityIdentifier<E>) async throws -> Bool {
    try clientQueue.storage.isMarked(currentIdentifier(of: identifier).modelIdentifier)
  }
}

extension RemoteStore: NamingStore {
  package var queueStore: ModelStore? { clientQueue.store }
  package func keepsEntities() { clientQueue.keepEntities(of: E.self) }

  package func rename(
    _ old: EntityIdentifier<E>, to new: EntityIdentifier<E>, in transaction: inout ModelTransaction
  ) throws {
    func rename<L: LocalEntity>(_ type: L.Type) throws {
      guard let old = old as? EntityIdentifier<L>, let new = new as? EntityIdentifier<L> else {
        preconditionFailure("a type is another one than itself")
      }
      try IdentifierMerge(old: old, new: new, relatedTypes: clientQueue.relatedEntities)
        .carryOut(in: &transaction) { entity in
          (entity as? any MutableEntity)?.renamed(new) as? L ?? entity
        }
    }
    if let type = E.self as? any LocalEntity.Type { try rename(type) }
  }

  package func currentIdentifier(
    of identifier: EntityIdentifier<E>
  ) throws -> EntityIdentifier<E> {
    guard identifier.isLocal else { return identifier }
    return try clientQueue.storage.store.read { try $0.currentIdentifier(of: identifier) }
  }
}

extension RemoteStore {
  /// Reads entities from the server, and returns whether the answer is complete.
  ///
  /// If the API has no request for several identifiers, it sends one request for each, in parallel.
  ///
  /// - Parameters:
  ///   - query: Any query.
  ///   - context: How the caller reads.
  /// - Returns: The answer.
  /// - Throws: ``APIError``: `notFound` for a single identifier that the server does not have.
  package func fetch(_ query: Query<E>, in context: ReadContext<E>) async throws -> RemoteAnswer<E>
  {
    try query.validate()
    if let custom = context.endpoint?.remoteRequest {
      return try await answer(to: custom.request, custom.payload, query)
    }
    guard let asked = query.identifiers else {
      let path = RemotePath.search(query)
      return try await answer(to: request(for: path), E.payload(for: path), query)
    }
    let identifiers = try known(asked)
    guard identifiers.count > 1 else {
      guard let identifier = identifiers.first else {
        return RemoteAnswer(result: .empty, isComplete: false)
      }
      return try await get(identifier, query)
    }
    if let request = try E.request(for: .getAll(identifiers)) {
      return try await answer(
        to: request, E.payload(for: .getAll(identifiers)), query, about: identifiers)
    }
    return try await getEach(identifiers, query)
  }

  private func get(
    _ identifier: EntityIdentifier<E>, _ query: Query<E>
  ) async throws -> RemoteAnswer<E> {
    let path: RemotePath<E> =
      try E.request(for: .get(identifier)) == nil ? .getAll([identifier]) : .get(identifier)
    var payload = E.payload(for: path)
    payload.isFilteredHere = false
    return try await answer(to: request(for: path), payload, query, about: [identifier])
  }

  /// Reads each entity with a request of its own, without those that the server does not have.
  private func getEach(
    _ identifiers: [EntityIdentifier<E>], _ query: Query<E>
  ) async throws -> RemoteAnswer<E> {
    let found = try await withThrowingTaskGroup(of: (Int, [E]).self) { group in
      for (index, identifier) in identifiers.enumerated() {
        group.addTask {
          do {
            let answer = try await self.get(identifier, query)
            return (index, answer.result.entities.filter { $0.id == identifier })
          } catch let error as APIError where error.code == .notFound {
            return (index, [])
          }
        }
      }
      var found = [[E]](repeating: [], count: identifiers.count)
      for try await (index, entities) in group { found[index] = entities }
      return found
    }
    return RemoteAnswer(
      result: QueryResult(found.flatMap { $0 }, groupedBy: query.groupedBy), isComplete: true)
  }

  private func answer(
    to request: APIRequest, _ payload: RemotePayload<E>, _ query: Query<E>,
    about identifiers: [EntityIdentifier<E>] = []
  ) async throws -> RemoteAnswer<E> {
    var request = request
    // The answer to an earlier request may lack changes that a synchronization has stored since.
    if try E.request(for: .changes(since: nil)) != nil {
      request.configuration.sharesEqualRequests = false
    }
    let isFree = request.configuration.strategy == .concurrent
    let response = try await clientQueue.read(
      request, isFree ? .nothing : query.readScope(identifiers))
    let content = try payload.content(of: response, to: request, decoder: E.makeDecoder())
    var result =
      payload.isFilteredHere
      ? try query.apply(to: content.entities)
      : QueryResult(content.entities, groupedBy: query.groupedBy)
    result.page = content.page
    var isComplete = payload.isComplete && query.isUnbounded
    // A skipped element may be any entity, also a stored one.
    if !content.malformed.isEmpty { isComplete = false }
    if let page = content.page, page.hasNext || page.total ?? 0 > content.entities.count {
      isComplete = false
    }
    var answer = RemoteAnswer(result: result, isComplete: isComplete)
    answer.malformed = content.malformed
    answer.included = content.included
    if payload.isFilteredHere, E.hasLocalFields || !query.uniqueBy.isEmpty {
      answer.unfiltered = content.entities
    }
    return answer
  }

  func request(for path: RemotePath<E>) throws -> APIRequest {
    if let request = try E.request(for: path) { return request }
    throw APIError(
      .noRequest, E.modelTypeName, "request(for:) has no request for \(path.kind)")
  }

  /// The present identifiers of entities, without those that the server does not have yet.
  private func known(
    _ identifiers: [EntityIdentifier<E>]
  ) throws -> [EntityIdentifier<E>] {
    guard identifiers.contains(where: \.isLocal) else { return identifiers }
    return try clientQueue.storage.store.read { snapshot in
      try identifiers.map { try snapshot.currentIdentifier(of: $0) }.filter { !$0.isLocal }
    }
  }
}

extension RemoteStore {
  /// Makes the requests for a write, without any effect so far.
  ///
  /// - Parameters:
  ///   - entities: The entities to store; those with a local identifier are created.
  ///   - context: How the caller writes.
  /// - Returns: The requests.
  /// - Throws: ``APIError`` `noRequest` or `invalidRequest`; errors of the entity type.
  package func request(
    toSet entities: [E], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E> {
    if let entity = entities.first(where: \.id.isLocal), !(E.self is any MutableEntity.Type) {
      throw APIError(
        .invalidRequest, entity.id.modelIdentifier,
        "can't be made on a server: \(E.modelTypeName) is no MutableEntity, so it could not take the "
          + "identifier that the server gives")
    }
    let identifiers = entities.map(\.id)
    let isServerOnly = context.isServerOnly
    if let custom = context.endpoint?.remoteRequest {
      var note = AnswerNote(entities.first?.id.isLocal == true ? .create : .update)
      note.isServerOnly = isServerOnly
      note.names = custom.payload.names
      let ticket = try ticket(
        custom.request, identifiers, note, related: entities.flatMap(\.namedIdentifiers))
      return RemoteWrite(
        clientQueue,
        [.init(ticket: ticket, isCustom: true, sent: isServerOnly == nil ? [] : entities)],
        identifiers, isRemoval: false)
    }
    let parts = try entities.map { entity -> RemoteWrite<E>.Part in
      let sent = isServerOnly == nil ? [] : [entity]
      guard entity.id.isLocal else {
        return .init(
          ticket: try ticket(toUpdate: entity, isServerOnly), entity: entity, sent: sent)
      }
      let path = RemotePath.create(entity)
      var note = AnswerNote(.create, E.payload(for: path))
      note.isServerOnly = isServerOnly
      let ticket = try ticket(
        request(for: path), [entity.id], note, related: entity.namedIdentifiers)
      return .init(
        ticket: ticket, entity: entity,
        change: { [self] in try self.ticket(toUpdate: entity, isServerOnly) }, sent: sent)
    }
    return RemoteWrite(clientQueue, parts, identifiers, isRemoval: false)
  }

  /// Returns the state that a write replaces, to undo the write and to find the nodes inside that it changes.
  ///
  /// - Parameters:
  ///   - entities: The entities to store.
  ///   - transaction: The transaction of the local write, before it.
  /// - Returns: The stored state; `nil` if it is not needed.
  /// - Throws: Errors of the disk.
  package func replaced(
    bySetting entities: [E], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)? {
    guard E.refusalPolicy == .undo || entities.contains(where: \.holdsNodes) else { return nil }
    return try ReplacedState<E>(settingIn: transaction.snapshot, entities)
  }

  /// Returns the state that a removal replaces, to undo the removal.
  ///
  /// - Parameters:
  ///   - identifiers: The entities to remove.
  ///   - transaction: The transaction of the local removal, before it.
  /// - Returns: The stored state; `nil` if the type keeps refused writes.
  /// - Throws: Errors of the disk.
  package func replaced(
    byRemoving identifiers: [EntityIdentifier<E>], in transaction: inout ModelTransaction
  ) throws -> (any Sendable)? {
    guard E.refusalPolicy == .undo else { return nil }
    return try ReplacedState<E>(removingIn: &transaction, identifiers)
  }

  private func ticket(toUpdate entity: E, _ isServerOnly: Bool?) throws -> QueueTicket {
    let path = RemotePath.update(entity)
    var note = AnswerNote(.update, E.payload(for: path))
    note.isServerOnly = isServerOnly
    return try ticket(
      request(for: path), [entity.id], note, related: entity.namedIdentifiers)
  }

  /// Makes the requests for a removal, without any effect so far.
  ///
  /// - Parameters:
  ///   - identifiers: The entities to remove.
  ///   - context: How the caller writes.
  /// - Returns: The requests.
  /// - Throws: ``APIError`` `noRequest`; errors of the entity type.
  package func request(
    toRemove identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) throws -> any QueuedWrite<E> {
    var note = AnswerNote(.remove)
    note.isServerOnly = context.isServerOnly
    if let custom = context.endpoint?.remoteRequest {
      let ticket = try ticket(custom.request, identifiers, note)
      return RemoteWrite(
        clientQueue, [.init(ticket: ticket, isCustom: true)], identifiers, isRemoval: true)
    }
    let parts = try identifiers.map { [note] identifier in
      RemoteWrite<E>.Part(
        ticket: try ticket(request(for: .remove(identifier)), [identifier], note),
        removed: identifier.isLocal ? identifier.modelIdentifier : nil)
    }
    return RemoteWrite(clientQueue, parts, identifiers, isRemoval: true)
  }

  private func ticket(
    _ request: APIRequest, _ identifiers: [EntityIdentifier<E>], _ note: AnswerNote,
    related: [String] = []
  ) throws -> QueueTicket {
    let subjects = identifiers.map(\.modelIdentifier)
    return clientQueue.ticket(
      for: request, subjects: subjects, makes: note.kind == .create ? subjects : [],
      related: related, handler: AnswerReader<E>.name, note: try note.text)
  }
}

extension Query where E: RemoteEntity {
  /// The scope of the read; `current` are the present identifiers of the entities in the query.
  fileprivate func readScope(_ current: [EntityIdentifier<E>]) -> ReadScope {
    guard let identifiers else { return .type(E.identifierNamespace) }
    return .nodes((current.isEmpty ? identifiers : current).map(\.modelIdentifier))
  }
}

extension WriteContext {
  /// True if nothing is stored before the answer; else `nil`, as ``AnswerNote/isServerOnly``.
  fileprivate var isServerOnly: Bool? {
    if case .remote = target { true } else { nil }
  }
}

extension Entity {
  /// The model identifiers of the entities that it names and of the nodes inside it, each once.
  fileprivate var namedIdentifiers: [String] {
    var found = Self.relationships.flatMap { $0.modelIdentifiers(self) }
    func add(_ model: any Model) {
      if let identifier = model.modelIdentifier { found.append(identifier) }
      model.forEach(add)
    }
    self.forEach(add)
    return found.map { ByteString($0) }.unique.map(\.text)
  }
}

extension RemotePath {
  /// The operation, for an error text.
  fileprivate var kind: String {
    switch self {
    case .get(let id): "the entity \(id.text)"
    case .getAll(let ids): "\(ids.count) identifiers"
    case .search: "a search"
    case .create: "making an entity"
    case .update(let entity): "storing the entity \(entity.id.text)"
    case .remove(let id): "removing the entity \(id.text)"
    case .removeAll: "removing by query"
    case .changes: "what has changed"
    }
  }
}

extension APIClientQueue {
  /// Registers an entity type: the queue reads answers to its writes, and replaces local identifiers in its entities.
  ///
  /// A ``RemoteStore`` registers its type. A program registers other types whose entities name entities of a server.
  ///
  /// - Parameter type: The entity type.
  public func register<E: Entity>(_ type: E.Type) {
    state.withLock { state in
      if !state.relatedTypes.contains(where: { $0 == type }) { state.relatedTypes.append(type) }
    }
    if let type = type as? any RemoteEntity.Type { registerReader(type) }
  }

  /// The entity types whose entities may name others.
  fileprivate var relatedEntities: [any Entity.Type] {
    state.withLock(\.relatedTypes).compactMap { $0 as? any Entity.Type }
  }

  /// Records that the entities of a type are in the store of the queue.
  func keepEntities<E: Entity>(of type: E.Type) {
    state.withLock { _ = $0.storedTypes.insert(ObjectIdentifier(type)) }
  }

  /// Returns true if the entities of a type are in the store of the queue.
  ///
  /// A persistent type always counts, because an earlier run may have left requests.
  func keepsEntities<E: Entity>(of type: E.Type) -> Bool {
    guard store != nil else { return false }
    return type is any PersistentEntity.Type
      || state.withLock { $0.storedTypes.contains(ObjectIdentifier(type)) }
  }

  private func registerReader<E: RemoteEntity>(_ type: E.Type) {
    let reader = AnswerReader<E> { [weak self] in
      self?.relatedEntities ?? []
    } isStored: { [weak self] in
      self?.keepsEntities(of: E.self) ?? false
    }
    setAnswerHandler(
      named: AnswerReader<E>.name,
      QueueAnswerHandler(
        store: reader.store, keepLate: reader.keepLate, renew: reader.renew,
        aliases: reader.aliases))
  }

  /// Queues the request of a ticket in a transaction of its own.
  func append(_ ticket: QueueTicket) async throws {
    guard !isClosed else { throw APIError(.closed, ticket.request, "the queue was closed") }
    ticket.appended(try await storage.append(ticket.draft, isIdle: isIdle))
  }
}
