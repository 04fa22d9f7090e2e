import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// A write to a server, as one queued request or several.
final class RemoteWrite<E: RemoteEntity>: QueuedWrite {
  /// The request for one entity, or the caller's request for all of them.
  struct Part: Sendable {
    /// The request.
    let ticket: QueueTicket
    /// The entity that it sends; `nil` for a removal or a request of the caller.
    var entity: E?
    /// Makes the update to send instead, if the server has the entity or a queued request creates it.
    var change: (@Sendable () throws -> QueueTicket)?
    /// The entity to remove, if it has a local identifier: the server may not have it.
    var removed: String?
    /// Whether the caller has made the request.
    var isCustom = false
    /// The entities of a write to the server alone.
    var sent: [E] = []
  }

  private let queue: APIClientQueue
  private let parts: [Part]
  private let identifiers: [EntityIdentifier<E>]
  private let isRemoval: Bool
  /// The tickets of the queued requests; of several runs of the transaction the last one counts.
  private let chosen = Locked<[QueueTicket]>([])
  /// The requests that other requests of the same transaction have replaced.
  private let leftOut = Locked<Set<String>>([])

  /// Makes a write of the entities with some identifiers, in order.
  init(
    _ queue: APIClientQueue, _ parts: [Part], _ identifiers: [EntityIdentifier<E>], isRemoval: Bool
  ) {
    self.queue = queue
    self.parts = parts
    self.identifiers = identifiers
    self.isRemoval = isRemoval
  }

  func enqueue(_ transaction: inout ModelTransaction) throws {
    try enqueue(&transaction, replacing: nil)
  }

  func enqueue(
    _ transaction: inout ModelTransaction, replacing replaced: (any Sendable)?
  ) throws {
    let replaced = try (replaced as? ReplacedState<E>)?.written(in: transaction.snapshot)
    // With a sequence number of its own, the write is older than later reads from the server.
    _ = transaction.takeSequenceNumber()
    let commitNumber = queue.store == nil ? .zero : try transaction.commitNumber
    var tickets: [QueueTicket] = []
    for (index, part) in parts.enumerated() {
      guard let ticket = try choose(part, in: &transaction) else { continue }
      let index = parts.count == identifiers.count && !part.isCustom ? index : nil
      let undo = replaced?.undo(at: index)
      try ticket.enqueue(
        in: &transaction, commitNumber: commitNumber, undo: undo,
        changing: replaced?.changedInside(at: index) ?? [],
        isNotStored: try part.entity.map { try !isStored($0, in: transaction.snapshot) }
          ?? false,
        sent: queue.keepsEntities(of: E.self) && !part.sent.isEmpty
          ? Data(QueueTable.encode(part.sent)) : nil)
      tickets.append(ticket)
    }
    chosen.withLock { [tickets] in $0 = tickets }
  }

  /// Whether an entity is stored as it is sent; its type may have kept stored values.
  private func isStored(_ entity: E, in snapshot: ModelSnapshot) throws -> Bool {
    func isStored<P: LocalEntity>(_ type: P.Type) throws -> Bool {
      guard let entity = try snapshot.current(entity) as? P,
        let stored = try snapshot.get(entity.id.modelIdentifier, as: P.self)
      else { return true }
      return LazyFields.areEqual(stored, entity)
    }
    guard queue.keepsEntities(of: E.self), let type = E.self as? any LocalEntity.Type else {
      return true
    }
    return try isStored(type)
  }

  /// Returns the request to queue, depending on whether the server has the entity; `nil` if there is none to send.
  private func choose(
    _ part: Part, in transaction: inout ModelTransaction
  ) throws -> QueueTicket? {
    guard let local = part.removed ?? part.ticket.draft.makes.first else { return part.ticket }
    let rows = QueueRows(transaction)
    let (isKnown, refused) = try QueueTable.making(local, in: rows)
    if isKnown { return try part.change?() ?? part.ticket }
    // This write replaces refused requests that create the entity.
    for number in refused { try QueueTable.remove(number, in: rows) }
    return part.removed == nil ? part.ticket : nil
  }

  func enqueue() async throws {
    if queue.store == nil, queue.isClosed {
      throw APIError(.closed, queue.client.identifier, "the queue was closed")
    }
    try await queue.storage.store.write { try self.enqueue(&$0) }
  }

  func committed() {
    for ticket in chosen.withLock({ $0 }) { ticket.committed() }
  }

  func firstOutcome() async throws -> [E]? {
    var answers: [(QueueTicket, APIResponse)] = []
    for ticket in chosen.withLock({ $0 }) {
      guard let response = try await told({ try await ticket.firstOutcome() }) else { return nil }
      answers.append((ticket, response))
    }
    return try stored(answers)
  }

  func answer() async throws -> [E] {
    var answers: [(QueueTicket, APIResponse)] = []
    let leftOut = leftOut.withLock { $0 }
    for ticket in chosen.withLock({ $0 }) where !leftOut.contains(ticket.draft.token) {
      answers.append((ticket, try await told { try await ticket.confirmation() }))
    }
    return try stored(answers)
  }

  /// The entities as they are stored now; those of the answers if the store of the queue does not contain them.
  private func stored(_ answers: [(QueueTicket, APIResponse)]) throws -> [E] {
    guard !isRemoval else { return [] }
    if let store = queue.store, queue.keepsEntities(of: E.self) {
      return try store.read { snapshot in
        try identifiers.compactMap { identifier in
          try snapshot.get(
            snapshot.currentIdentifier(of: identifier).modelIdentifier, as: E.self)
        }
      }
    }
    return try answers.flatMap { ticket, response in
      try RemotePayload<E>(AnswerNote(ticket.draft.note)?.names ?? []).content(
        of: response, to: ticket.request, decoder: E.makeDecoder()
      ).entities
    }
  }

  private func told<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as APIError where error.code == .aborted {
      throw ManagerError(.aborted, E.modelTypeName, "it was not sent", underlying: [error])
    }
  }
}

extension RemoteWrite: ReplaceableWrite {
  var replacedRequests: [String] { chosen.withLock { $0 }.flatMap(\.replaced) }
  func leaveOut(_ requests: Set<String>) { leftOut.withLock { $0 = requests } }
}
