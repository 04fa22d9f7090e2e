import PandoModels
import PandoStore

/// A moment in the order of writes: what a server says of it is newer than the writes before it and older than
/// those after it.
///
/// ```swift
/// let moment = try await issues.currentMoment()  // before the server is asked to begin
/// for try await message in socket.messages {
///   try await issues.received(message.issues, asOf: moment)
/// }
/// ```
/// - Note: A value; any thread. It belongs to the manager that gave it and is valid as long as its stores are
///   open.
public struct ServerMoment: Hashable, Sendable {
  let place: UInt64
  let waitingSince: UInt64?
}

/// What a server sends by itself: over a web socket, or as a push.
extension CoreManager {
  /// Returns the present moment, to say later how old a message is.
  ///
  /// A message is at least as new as the last moment of which it is certain that the server had it before it
  /// sent the message. Take one before the connection begins, and a newer one before each heartbeat: once the server has
  /// answered the heartbeat, its messages are as new as that moment.
  ///
  /// - Returns: The moment.
  /// - Throws: What the local stores throw.
  /// - Complexity: O(log *n*); it writes nothing.
  public func currentMoment() async throws -> ServerMoment {
    let place = try await stack.takeReadPlace()
    return ServerMoment(place: place, waitingSince: try stack.waitingSince)
  }

  /// Stores what a server has sent by itself, as old as it is.
  ///
  /// A message is ordered like the answer to a question that was asked at `moment`. An entity stays as it is here if it
  /// was written or removed after that, or if one of its writes still waits for the server: the answer to that
  /// write decides. On disk the same holds for each node inside an entity. Entities whose message is older stay away if they
  /// were removed here meanwhile.
  ///
  /// ```swift
  /// try await issues.received([issue], removed: [.remote("7")], asOf: moment)
  /// ```
  /// `set(_:in:)` is for values that are made here: it is newer than all that is stored, and would take back
  /// an edit that waits.
  ///
  /// - Parameters:
  ///   - entities: The entities as the server has them.
  ///   - removed: The identifiers of entities that the server has no more.
  ///   - moment: How old the message is, at the most; `nil` for this moment.
  ///   - accessValidator: Says whether the user may still see what comes; `nil` if that does not matter.
  /// - Returns: What is stored now of `entities`; one that was removed later is left out.
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

  /// Stores all of an answer but that of which a write waits in a queue in memory.
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

  /// Stores one entity that a server has sent by itself, as old as it is.
  ///
  /// - Parameters:
  ///   - entity: The entity as the server has it.
  ///   - moment: How old the message is, at the most; `nil` for this moment.
  /// - Returns: What is stored now; `nil` if it was removed later.
  /// - Throws: As ``received(_:removed:asOf:accessValidator:)``.
  /// - Complexity: As ``received(_:removed:asOf:accessValidator:)``.
  @discardableResult
  public func received(_ entity: E, asOf moment: ServerMoment? = nil) async throws -> E? {
    try await received([entity], asOf: moment).first
  }
}
