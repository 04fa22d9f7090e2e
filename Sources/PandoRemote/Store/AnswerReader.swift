import PandoManagers
import PandoModels
import PandoRecords
import PandoStore

/// Reads the answers to queued writes of one entity type, and stores their entities.
///
/// It keeps no state of a write, so after a restart it reads the answers to requests of the earlier run.
struct AnswerReader<E: RemoteEntity>: Sendable {
  let relatedTypes: @Sendable () -> [any Entity.Type]
  /// Returns true if the entities are in the store of the queue.
  let isStored: @Sendable () -> Bool

  /// The type, if its entities are in the store of the queue.
  private var storedType: (any LocalEntity.Type)? {
    isStored() ? E.self as? any LocalEntity.Type : nil
  }

  static var name: String { "entity:" + E.modelTypeName }

  /// Returns the identifier that an answer assigns to an entity with a local one.
  func aliases(_ response: APIResponse, _ entry: QueuedRequest) throws -> [IdentifierAlias] {
    guard
      let (old, new) = try identifiers(
        entry, try content(response, entry, local: nil).entities, response)
    else { return [] }
    return [try IdentifierAlias(old, becomes: new)]
  }

  /// Stores the entities of an answer, as old as its request.
  func store(
    _ response: APIResponse, _ entry: QueuedRequest, _ transaction: inout ModelTransaction
  ) throws {
    guard let type = storedType else {
      for alias in try aliases(response, entry) {
        try QueueTable.rename(alias, in: QueueRows(transaction))
      }
      return
    }
    try store(as: type, response, entry, &transaction)
  }

  private func store<P: LocalEntity>(
    as type: P.Type, _ response: APIResponse, _ entry: QueuedRequest,
    _ transaction: inout ModelTransaction
  ) throws {
    if AnswerNote(entry.note)?.kind == .remove {
      let gone = entry.subjects.compactMap { EntityIdentifier<P>(modelIdentifier: $0) }
      try transaction.removeEntities(gone, asOf: entry.answerPlace, isConfirmation: true)
      return
    }
    let local = try entry.subjects.first.flatMap {
      try transaction.snapshot.get($0, as: P.self)
    }
    let content = try content(response, entry, local: local as? E)
    var answered = content.entities
    if let (old, new) = try identifiers(entry, answered, response) {
      guard let old = old as? EntityIdentifier<P>, let new = new as? EntityIdentifier<P> else {
        preconditionFailure("a type is another one than itself")
      }
      let merge = IdentifierMerge(old: old, new: new, relatedTypes: relatedTypes())
      try merge.carryOut(in: &transaction) { entity in
        guard let mutable = entity as? any MutableEntity,
          let renamed = mutable.renamed(new) as? P
        else {
          throw APIError(
            .malformedAnswer, entry.request,
            "the server gave \(E.modelTypeName) an identifier, and the type is no MutableEntity")
        }
        return renamed
      }
    }
    // Without entities in the answer, the server has the sent values.
    if answered.isEmpty { answered = try sent(entry) }
    if answered.isEmpty, AnswerNote(entry.note)?.isNotStored != true {
      for subject in entry.subjects {
        let name = try transaction.snapshot.currentIdentifier(of: subject)
        guard let stored = try transaction.snapshot.get(name, as: P.self) as? E else { continue }
        answered.append(stored)
      }
    }
    let stored = answered.compactMap { $0 as? P }
    let asOf = entry.answerPlace
    _ = try transaction.apply(stored, asOf: asOf, isConfirmation: true)
    let place = AnswerPlace(asOf: asOf)
    for included in content.included { try included(&transaction, place) }
  }

  /// Keeps the entities of an answer that a later request has changed, in case the server refuses that request.
  func keepLate(
    _ response: APIResponse, _ answer: LateAnswer, _ transaction: inout ModelTransaction
  ) throws {
    guard let type = storedType,
      try !answer.later.all(in: QueueRows(transaction)).isEmpty
    else { return }
    try keepLate(as: type, response, answer, &transaction)
  }

  private func keepLate<P: LocalEntity>(
    as type: P.Type, _ response: APIResponse, _ answer: LateAnswer,
    _ transaction: inout ModelTransaction
  ) throws {
    let asOf = answer.entry.answerPlace
    // The server may just have assigned the identifier.
    let local = try answer.entry.subjects.first.flatMap {
      let snapshot = transaction.alias()
      return try snapshot.snapshot.get(snapshot.snapshot.currentIdentifier(of: $0), as: P.self)
    }
    var answered = try content(response, answer.entry, local: local as? E).entities
    if answered.isEmpty { answered = try sent(answer.entry) }
    if answered.isEmpty, AnswerNote(answer.entry.note)?.kind != .remove {
      try answer.keepSent(in: QueueRows(transaction))
    }
    for entity in answered {
      let entity = try transaction.snapshot.current(entity)
      let identifier = entity.id.modelIdentifier
      guard let entity = entity as? P,
        try transaction.snapshot.sequenceState(of: identifier).sequenceNumber > asOf
      else { continue }
      let whole = try LocalFields.restored(entity, in: transaction.snapshot)
      for (node, records) in try AnswerTrial.records(of: whole, in: &transaction) {
        try answer.keep(records, of: node, in: QueueRows(transaction))
      }
    }
  }

  /// The entities of a write to the server alone.
  private func sent(_ entry: QueuedRequest) throws -> [E] {
    try entry.sent.map { try QueueTable.decode(Array($0), as: [E].self) } ?? []
  }

  /// Makes the content of a request again, without the writes that were undone before it.
  func renew(_ entry: inout QueuedRequest, in rows: QueueRows) throws {
    guard let subject = entry.subjects.first else { return }
    var records: [ByteString: NodeRecords] = [:]
    for node in try entry.undo.map({ try QueuedUndo($0, in: rows) })?.nodes ?? [] {
      records[ByteString(node.identifier)] = node.after
    }
    let trees = TreeRecords { [number = entry.id] name in
      // A node that an undo restores in a field is sent as it is stored, without the changes of later requests.
      if let found = try records[ByteString(name)] ?? later(name, than: number, in: rows) {
        return found
      }
      return try rows.reading { try $0.records(of: name) }
    }
    let entity = try trees.model(subject, as: E.self)
    let path: RemotePath<E> =
      AnswerNote(entry.note)?.kind == .create ? .create(entity) : .update(entity)
    guard let body = try E.request(for: path)?.body else { return }
    entry.request.body = body
    if var note = AnswerNote(entry.note), note.isNotStored == true {
      note.isNotStored = nil
      entry.note = try note.text
    }
    try IdentifierAlias.apply(to: &entry, in: rows)
  }

  /// The records of a node before the next request that changes it; `nil` if there is no such request.
  private func later(
    _ name: String, than number: UInt64, in rows: QueueRows
  ) throws -> NodeRecords? {
    guard try rows.value(QueueNames.mark(name)) != nil else { return nil }
    var found: NodeRecords?
    try rows.reading { snapshot in
      try snapshot.forEachProperty(
        withPrefix: QueueNames.waiting, from: QueueNames.waiting(number + 1)
      ) { _, bytes in
        guard let undo = try QueueTable.decode(bytes).undo else { return true }
        let node = try QueuedUndo(undo, in: rows).nodes.first {
          $0.isChanged && $0.identifier.hasSameBytes(as: name)
        }
        found = node?.before
        return node == nil
      }
    }
    return found.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads the content of an answer.
  private func content(
    _ response: APIResponse, _ entry: QueuedRequest, local: E?
  ) throws -> PayloadContent<E> {
    let note = AnswerNote(entry.note)
    guard note?.kind != .remove else { return PayloadContent() }
    var payload = RemotePayload<E>(note?.names ?? [])
    if note?.isReadByType == true, let local {
      payload = E.payload(for: note?.kind == .create ? .create(local) : .update(local))
    }
    return try payload.content(of: response, to: entry.request, decoder: E.makeDecoder())
  }

  /// The local identifier of the created entity, and the one that the server has assigned.
  private func identifiers(
    _ entry: QueuedRequest, _ entities: [E], _ response: APIResponse
  ) throws -> (EntityIdentifier<E>, EntityIdentifier<E>)? {
    guard AnswerNote(entry.note)?.kind == .create,
      let old = entry.subjects.first.flatMap({ EntityIdentifier<E>(modelIdentifier: $0) }),
      old.isLocal
    else { return nil }
    if let new = entities.first?.id, !new.isLocal { return (old, new) }
    // Some servers only send the path of the created entity.
    if let place = response.headers["Location"]?.split(separator: "/").last,
      let text = APIPath.unescaping(place),
      let new = EntityIdentifier<E>(text: text), !new.isLocal
    {
      return (old, new)
    }
    throw APIError(
      .malformedAnswer, entry.request,
      "the server made \(E.modelTypeName) and did not say under which identifier",
      status: response.status)
  }
}

/// The records that nodes would have after a write.
private struct AnswerTrial: Error {
  typealias Records = [(identifier: String, records: NodeRecords)]

  private let records: Records

  /// Writes an entity, reads the records of it and of the nodes inside, and rolls the write back.
  static func records<E: LocalEntity>(
    of entity: E, in transaction: inout ModelTransaction
  ) throws -> Records {
    do {
      return try transaction.nested { inner in
        try inner.set(entity)
        let snapshot = inner.alias()
        throw AnswerTrial(
          records: try entity.nodes(as: entity.id).map {
            ($0, try snapshot.snapshot.records(of: $0))
          })
      }
    } catch let trial as AnswerTrial {
      return trial.records
    }
  }
}
