import PandoModels
import PandoStore

/// A position in the order of writes: a message of a server is newer than the writes before it, and older
/// than the writes after it.
///
/// ```swift
/// let moment = try await issues.currentMoment()  // before the server is asked to begin
/// for try await message in socket.messages {
///   try await issues.received(message.issues, asOf: moment)
/// }
/// ```
/// - Note: A value; any thread. It belongs to the manager that made it, as long as its stores are open.
public struct ServerMoment: Hashable, Sendable {
  let place: UInt64
  let waitingSince: UInt64?
}

// MARK: - Messages that a server sends without a request: over a web socket, or as a push
extension CoreManager {
  /// Returns the present moment, the age of messages that arrive later.
  ///
  /// A message is at least as new as a moment if the server received a request sent after that moment,
  /// before it sent the message. So take a moment before the connection begins, and another one before
  /// each heartbeat. After the server has answered the heartbeat, its messages are as new as that moment.
  ///
  /// - Returns: The moment.
  /// - Throws: The error of a local store.
  /// - Complexity: O(log *n*); it writes nothing.
  public func currentMoment() async throws -> ServerMoment {
    let place = try await stack.takeReadPlace()
    return ServerMoment(place: place, waitingSince: try stack.waitingSince)
  }

  /// Stores what a server has sent without a request.
  ///
  /// Pando orders a message like the answer to a request made at `moment`. A local entity stays as it is
  /// if it was written or removed after that moment. It also stays if one of its writes waits for the
  /// server: the answer to that write decides. On disk the same holds for each node inside an entity.
  ///
  /// ```swift
  /// try await issues.received([issue], removed: [.remote("7")], asOf: moment)
  /// ```
  /// Use `set(_:in:)` for values that this program makes. It is newer than everything stored, and would
  /// overwrite a waiting edit.
  ///
  /// - Parameters:
  ///   - entities: The entities as the server has them.
  ///   - removed: The identifiers of entities that the server does not have any more.
  ///   - moment: A moment that the message is at least as new as; `nil` for the present one.
  ///   - accessValidator: Says whether the user may still see the entities; `nil` for no check.
  /// - Returns: The stored values of `entities`, without those that were removed later.
  /// - Throws: ``ManagerError`` `noStore`, `userAccessInvalid`; the error of the store that failed.
  /// - Complexity: As `set(_:in:)` in the local stores.
  @discardableResult
  public func received(
    _ entities: [E], removed: [EntityIdentifier<E>] = [], asOf moment: ServerMoment? = nil,
    accessValidator: (any UserAccessValidating)? = nil
  ) async throws -> [E] {
    for entity in entities { try entity.id.validate() }
    for identifier in removed { try identifier.validate() }
    let access = try AccessCheck(accessValidator, E.self)
    _ = try stack.requireLast()
    var known = moment
    if known == nil { known = try await currentMoment() }
    guard let known else { return [] }
    try access.confirm()
    var write = AnswerWrite(
      entities: entities, query: Query<E>(), asOf: known.place, discardsExtra: false,
      isInNaturalOrder: false)
    write.waitingSince = known.waitingSince
    write.isUnasked = true
    write.gone = removed
    guard !stack.runsSteps, !stack.remote.isEmpty else {
      return try await stack.store(write).write.stored
    }
    return try await stack.inStep { try await storeBesidesWaiting(write) }
  }

  /// Stores an answer without the entities whose writes wait in a queue in memory.
  private func storeBesidesWaiting(_ answer: AnswerWrite<E>) async throws -> [E] {
    func waits(_ identifier: EntityIdentifier<E>) async throws -> Bool {
      for case let remote as any RemoteStoring<E> in stack.remote
      where try await remote.hasWaitingWrites(of: identifier) { return true }
      return false
    }
    var write = answer
    (write.entities, write.gone) = ([], [])
    for entity in answer.entities where try await !waits(entity.id) {
      write.entities.append(entity)
    }
    for identifier in answer.gone where try await !waits(identifier) {
      write.gone.append(identifier)
    }
    let isWhole = write.entities.count == answer.entities.count
    let stored = try await stack.store(write).write.stored
    if isWhole { return stored }
    return try await get(byIDs: answer.entities.map(\.id)).entities
  }

  /// Stores one entity that a server has sent without a request.
  ///
  /// - Parameters:
  ///   - entity: The entity as the server has it.
  ///   - moment: A moment that the message is at least as new as; `nil` for the present one.
  /// - Returns: The stored value; `nil` if the entity was removed later.
  /// - Throws: As ``received(_:removed:asOf:accessValidator:)``.
  /// - Complexity: As ``received(_:removed:asOf:accessValidator:)``.
  @discardableResult
  public func received(_ entity: E, asOf moment: ServerMoment? = nil) async throws -> E? {
    try await received([entity], asOf: moment).first
  }
}
