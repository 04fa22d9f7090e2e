import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// One query that somebody follows.
final class LiveQuery<E: Queryable>: LiveResult {
  /// What it was made for.
  let followed: FollowedQuery<E>
  let state = FollowedState<QueryWindow<E>>()
  let number = FollowedNumber.next()
  let endings = Endings()

  private let events: ManagerEventHandler?
  /// What has been reported and could not be decoded since, as far as is known.
  private let reported = Locked<Set<ByteString>>([])

  /// Makes a query that is not followed yet.
  ///
  /// - Parameters:
  ///   - followed: What it was made for.
  ///   - events: Told of records that are left out because they can't be decoded.
  init(_ followed: FollowedQuery<E>, events: ManagerEventHandler? = nil) {
    self.followed = followed
    self.events = events
  }

  /// Reports records that are left out, each once for each thing that is wrong with it.
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

  /// Works out what the commit under way leaves.
  ///
  /// On the thread that changes entities.
  ///
  /// - Parameters:
  ///   - changes: What it has touched; `nil` if that is not known.
  ///   - number: The number of the commit.
  ///   - fill: Reads all that ``FollowedQuery/stored`` finds after the commit.
  /// - Returns: What to show when it is committed; `nil` if it is what is shown already.
  /// - Throws: What `fill` throws.
  func stage(
    _ changes: [EntityChange<E>]?, at number: UInt64,
    fill: () throws -> [RankedEntity<E>]
  ) throws -> QueryWindow<E>? {
    guard var window = state.staged(before: number, isKnown: changes != nil) else { return nil }
    let outcome = changes.map { window.apply($0) } ?? .exhausted
    if outcome == .same { return nil }
    if outcome == .exhausted { window = QueryWindow(followed, filledWith: try fill()) }
    state.stage(window, at: number)
    return window
  }
}
