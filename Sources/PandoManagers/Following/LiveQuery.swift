import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// A followed query.
final class LiveQuery<E: Queryable>: LiveResult {
  /// The prepared query.
  let followed: FollowedQuery<E>
  let state = FollowedState<QueryWindow<E>>()
  let number = FollowedNumber.next()
  let endings = Endings()

  private let events: ManagerEventHandler?
  /// The texts of the reported records.
  private let reported = Locked<Set<ByteString>>([])

  /// Makes a query that is not followed yet.
  ///
  /// - Parameters:
  ///   - followed: The prepared query.
  ///   - events: Receives the errors of records that are left out because they can't be decoded.
  init(_ followed: FollowedQuery<E>, events: ManagerEventHandler? = nil) {
    self.followed = followed
    self.events = events
  }

  /// Reports left-out records, each once for each error.
  func report(_ records: [UndecodableRecord]) {
    guard let events else { return }
    for record in records {
      let text = ByteString("\(record)")
      guard reported.withLock({ $0.insert(text).inserted }) else { continue }
      events(ManagerEvent(.undecodableEntity, E.modelTypeName, record))
    }
  }

  func show(_ answer: QueryResult<E>) -> Bool {
    var query = followed.query
    query.offset = 0
    query.limit = nil
    let entities = answer.entities.enumerated().map { index, entity in
      RankedEntity(entity, rank: UInt64(index))
    }
    observed.publish(QueryWindow(FollowedQuery(query), filledWith: entities))
    return true
  }

  /// Stages the window after commits, on the thread that changes entities.
  ///
  /// - Parameters:
  ///   - changes: The touched entities; `nil` if they are unknown.
  ///   - number: The commit number.
  ///   - fill: Reads the result of ``FollowedQuery/stored`` after the commit.
  /// - Returns: The window to publish; `nil` if it has not changed.
  /// - Throws: The errors of `fill`.
  func stage(
    _ changes: [EntityChange<E>]?, at number: UInt64,
    fill: () throws -> [RankedEntity<E>]
  ) throws -> QueryWindow<E>? {
    guard var window = state.staged(before: number, isKnown: changes != nil) else { return nil }
    let outcome = changes.map { window.apply($0) } ?? .exhausted
    if outcome == .same { return nil }
    if outcome == .exhausted { window = QueryWindow(followed, filledWith: try fill()) }
    #if InternalChecks
      window.checkInvariants()
    #endif
    state.stage(window, at: number)
    return window
  }
}
