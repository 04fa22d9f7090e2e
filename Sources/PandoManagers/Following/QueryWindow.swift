import PandoModels
import PandoSystem

/// The entities that a followed query shows, kept right change by change.
///
/// A query with a limit keeps a few entities more than it shows, so that one that leaves seldom
/// makes it ask the store again.
///
/// ```
///   0 … offset ┆ offset … offset + limit ┆ … capacity
///   skipped    ┆ shown                   ┆ in reserve        then, unless complete, what is not kept
/// ```
struct QueryWindow<E: Queryable>: Sendable {
  /// What became of a window.
  enum Outcome: Equatable {
    /// It holds what it held.
    case same
    /// It holds something else.
    case changed
    /// What it has to hold can't be known from the changes alone: it has to be filled again.
    case exhausted
  }

  let followed: FollowedQuery<E>
  private var kept: [RankedEntity<E>]
  /// Whether nothing that matches is beyond what is kept.
  private var isComplete: Bool

  /// Makes a window.
  ///
  /// - Parameters:
  ///   - followed: The query.
  ///   - entities: What the store has for ``FollowedQuery/stored``, in its order.
  init(_ followed: FollowedQuery<E>, filledWith entities: [RankedEntity<E>]) {
    self.followed = followed
    kept = entities
    isComplete = followed.capacity.map { entities.count < $0 } ?? true
    if let capacity = followed.capacity, entities.count > capacity {
      kept.removeSubrange(capacity...)
    }
  }

  /// The identifiers of all nodes that are kept.
  var identifiers: some Sequence<ByteString> { kept.lazy.map(\.identifier) }

  /// What the query shows.
  var shown: [E] {
    let query = followed.query
    let end = followed.shownCount.map { min($0, kept.count) } ?? kept.count
    let start = min(query.offset, end)
    return kept[start..<end].map(\.entity)
  }

  /// Whether a node is kept.
  func contains(_ identifier: ByteString) -> Bool {
    kept.contains { $0.identifier == identifier }
  }

  /// Takes in what a commit has left of entities.
  ///
  /// - Parameter changes: Each entity once.
  /// - Returns: What became of the window; `exhausted` leaves it unusable.
  /// - Complexity: O(*n* + *c* log *c*) for *n* kept entities and *c* changes.
  mutating func apply(_ changes: [EntityChange<E>]) -> Outcome {
    if followed.needsStore { return .exhausted }
    let outcome = changes.count <= 4 ? applyEach(changes) : merge(changes)
    if outcome == .changed, let shownCount = followed.shownCount, kept.count < shownCount,
      !isComplete
    {
      return .exhausted
    }
    return outcome
  }

  private mutating func applyEach(_ changes: [EntityChange<E>]) -> Outcome {
    var outcome = Outcome.same
    for change in changes {
      switch apply(change) {
      case .same: break
      case .changed: outcome = .changed
      case .exhausted: return .exhausted
      }
    }
    return outcome
  }

  private mutating func apply(_ change: EntityChange<E>) -> Outcome {
    let index = kept.firstIndex { $0.identifier == change.identifier }
    let new = change.entity.flatMap { followed.accepts($0, isKept: index != nil) ? $0 : nil }
    guard let index else {
      guard let new else { return .same }
      return followed.ordersByChange ? insert(new) : .exhausted
    }
    guard let new else {
      guard followed.ordersByChange else { return .exhausted }
      kept.remove(at: index)
      return .changed
    }
    let old = kept[index]
    if old.entity == new.entity, old.rank == new.rank { return .same }
    guard followed.keepsPlace(old, new) else {
      guard followed.ordersByChange else { return .exhausted }
      kept.remove(at: index)
      return insert(new) == .exhausted ? .exhausted : .changed
    }
    kept[index] = new
    return .changed
  }

  /// One pass over what is kept, for commits that touch many entities.
  private mutating func merge(_ changes: [EntityChange<E>]) -> Outcome {
    var waiting = Dictionary(changes.map { ($0.identifier, $0) }) { _, last in last }
    var stays: [RankedEntity<E>] = []
    var comes: [RankedEntity<E>] = []
    var outcome = Outcome.same
    for old in kept {
      guard let change = waiting.removeValue(forKey: old.identifier) else {
        stays.append(old)
        continue
      }
      let new = change.entity.flatMap { followed.accepts($0, isKept: true) ? $0 : nil }
      if let new, old.entity == new.entity, old.rank == new.rank {
        stays.append(old)
        continue
      }
      outcome = .changed
      if let new, followed.keepsPlace(old, new) {
        stays.append(new)
      } else if !followed.ordersByChange {
        return .exhausted
      } else if let new {
        comes.append(new)
      }
    }
    for change in waiting.values {
      if let new = change.entity, followed.accepts(new, isKept: false) { comes.append(new) }
    }
    if !comes.isEmpty, !followed.ordersByChange { return .exhausted }
    if insert(comes.sorted { followed.precedes($0, $1) }, among: stays) { outcome = .changed }
    return outcome
  }

  /// Joins two sorted lists.
  ///
  /// - Returns: Whether one of the new ones is kept now.
  private mutating func insert(_ new: [RankedEntity<E>], among old: [RankedEntity<E>]) -> Bool {
    var joined: [RankedEntity<E>] = []
    joined.reserveCapacity(old.count + new.count)
    var next = 0
    for entity in old {
      while next < new.count, followed.precedes(new[next], entity) {
        joined.append(new[next])
        next += 1
      }
      joined.append(entity)
    }
    // Beyond the last one that is kept there may be others that come before the rest.
    if isComplete {
      joined.append(contentsOf: new[next...])
      next = new.count
    }
    kept = joined
    if let capacity = followed.capacity, kept.count > capacity {
      kept.removeSubrange(capacity...)
      isComplete = false
    }
    return next > 0
  }

  private mutating func insert(_ new: RankedEntity<E>) -> Outcome {
    let place = kept.partitioningIndex { !followed.precedes($0, new) }
    // Beyond the last one that is kept there may be others that come before it.
    if place == kept.count, !isComplete { return .same }
    kept.insert(new, at: place)
    if let capacity = followed.capacity, kept.count > capacity {
      kept.removeLast()
      isComplete = false
    }
    return .changed
  }
}
