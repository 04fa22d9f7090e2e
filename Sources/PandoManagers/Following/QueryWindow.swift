import PandoModels
import PandoSystem

/// The entities of a followed query, updated change by change.
///
/// A query with a limit keeps a reserve, so that it seldom reads the store again when a shown entity leaves.
///
/// ```
///   0 … offset ┆ offset … offset + limit ┆ … capacity
///   skipped    ┆ shown                   ┆ in reserve        unless complete, more matches follow
/// ```
struct QueryWindow<E: Queryable>: Sendable {
  /// The outcome of a change.
  enum Outcome: Equatable {
    /// The window has not changed.
    case same
    /// The window has changed.
    case changed
    /// The changes are not enough to update the window; it has to be filled again.
    case exhausted
  }

  private typealias Place = ChunkedArray<ResultRow>.Index

  let followed: AcceptedQuery<E>
  private var kept: ChunkedArray<ResultRow>
  /// Whether the rows have their models, not only identifiers and order.
  private let keepsModels: Bool
  /// Whether all matches are kept.
  private var isComplete: Bool
  /// The conditions on other models, at the commit of the window; `nil` if it keeps none.
  var conditions: FollowedConditions<E>?
  /// The last commit that has changed it; that of the read at first, `nil` in memory.
  var commit: CommitOrigin?
  private var index = WindowIndex()
  /// Identifies the window among those that share the index.
  private var version: UInt64 = 0
  /// The nodes that the last changes have added or removed; also those moved out of the capacity.
  private(set) var moved: [ByteString] = []

  /// Makes a window.
  ///
  /// - Parameters:
  ///   - followed: The query.
  ///   - entities: The result of ``AcceptedQuery/stored``, in its order.
  ///   - keepsModels: Whether to keep the models.
  init(
    _ followed: AcceptedQuery<E>, filledWith entities: [RankedEntity<E>], keepsModels: Bool = true
  ) {
    self.followed = followed
    // Uniqueness compares models.
    self.keepsModels = keepsModels || !followed.query.uniqueBy.isEmpty
    let rows = entities.prefix(followed.capacity ?? .max).map { [keepsModels = self.keepsModels] in
      followed.row(of: $0, keepsModels: keepsModels)
    }
    kept = ChunkedArray(rows)
    isComplete = followed.capacity.map { entities.count < $0 } ?? true
  }

  /// The identifiers of all kept nodes.
  var identifiers: some Sequence<ByteString> { kept.lazy.map(\.identifier) }

  /// All kept entities.
  var entities: [E] { kept.entities(in: 0..<kept.count, as: E.self) }

  private var shownRange: Range<Int> {
    let end = min(followed.shownCount ?? .max, kept.count)
    return min(followed.query.offset, end)..<end
  }

  /// The shown entities.
  var shown: [E] { kept.entities(in: shownRange, as: E.self) }

  /// The shown rows, shared with the window if it shows all that it keeps.
  var shownRows: ChunkedArray<ResultRow> {
    shownRange == 0..<kept.count ? kept : ChunkedArray(kept.elements(in: shownRange) { $0 })
  }

  /// The shown entities, shared with the window; `nil` unless it shows all that it keeps, without groups.
  var sharedResult: QueryResult<E>? {
    let query = followed.query
    guard query.limit == nil, query.offset == 0, query.groupedBy == nil else { return nil }
    return QueryResult(sharing: kept)
  }

  /// Makes the index of a long window now instead of at the first change.
  func prepare() { if let first = kept.first { _ = place(of: first.identifier) } }

  /// The number of kept rows.
  var count: Int { kept.count }

  /// The number of kept models.
  var modelCount: Int { keepsModels ? kept.count : 0 }

  /// The value of the last kept entity in the first field of the order, beyond which no entity enters; `nil` if any match
  /// enters.
  var last: QueryValue? {
    isComplete ? nil : kept.last?.values.first
  }

  /// Whether a node is kept.
  func contains(_ identifier: ByteString) -> Bool { place(of: identifier) != nil }

  /// The rank of a kept node.
  func rank(of identifier: ByteString) -> UInt64? { place(of: identifier).map { kept[$0].rank } }

  /// Whether ``apply(_:)`` may return `exhausted`.
  func mayBeExhausted(by changes: [EntityChange<E>]) -> Bool {
    if followed.needsStore, conditions == nil { return true }
    if !followed.ordersByChange {
      var next = self
      return next.apply(changes) == .exhausted
    }
    guard let capacity = followed.capacity, let shownCount = followed.shownCount else {
      return false
    }
    return (isComplete ? capacity : kept.count) - changes.count < shownCount
  }

  /// Applies changes.
  ///
  /// - Parameter changes: Each entity once.
  /// - Returns: The outcome; `exhausted` leaves the window unusable.
  /// - Complexity: O(*c* log *n*) for few changes *c* of *n* kept entities; each copies a few hundred entities.
  ///   O(*n* log *n*) for many changes. O(*n* + *c*) for a window whose entities keep their positions.
  mutating func apply(_ changes: [EntityChange<E>]) -> Outcome {
    moved = []
    if followed.needsStore, conditions == nil { return .exhausted }
    if followed.ordersByChange, followed.capacity == nil,
      changes.count > max(Self.placedMaximum, kept.count / Self.keptPerPlaced)
    {
      return sortAll(changes)
    }
    var outcome = Outcome.same
    let places = followed.ordersByChange ? nil : places(of: changes)
    for change in changes {
      let identifier = change.identifier
      switch apply(change, at: places.map { $0[identifier] } ?? place(of: identifier)) {
      case .same: break
      case .changed: outcome = .changed
      case .exhausted: return .exhausted
      }
    }
    if outcome == .changed, let shownCount = followed.shownCount, kept.count < shownCount,
      !isComplete
    {
      return .exhausted
    }
    return outcome
  }

  private mutating func apply(_ change: EntityChange<E>, at place: Place?) -> Outcome {
    let new = row(change.entity, isKept: place != nil)
    guard let place else {
      guard let new else { return .same }
      return followed.ordersByChange ? insert(new) : .exhausted
    }
    guard let new else {
      guard followed.ordersByChange else { return .exhausted }
      remove(at: place)
      return .changed
    }
    let old = kept[place]
    if isSame(old, new) { return .same }
    guard followed.keepsPlace(old, new) else {
      guard followed.ordersByChange else { return .exhausted }
      remove(at: place)
      return insert(new) == .exhausted ? .exhausted : .changed
    }
    kept[place] = new
    version = index.replace(old, by: new, in: version)
    return .changed
  }

  /// The row of a changed entity; `nil` if it does not belong to the result.
  private func row(_ entity: RankedEntity<E>?, isKept: Bool) -> ResultRow? {
    guard let entity, followed.accepts(entity, isKept: isKept) else { return nil }
    return followed.row(of: entity, keepsModels: keepsModels)
  }

  /// Whether a changed entity leaves its row as it is.
  private func isSame(_ old: ResultRow, _ new: ResultRow) -> Bool {
    guard old.rank == new.rank else { return false }
    return keepsModels ? old.hasEqualEntity(new, as: E.self) : old.values == new.values
  }

  /// Applies so many changes that sorting all entities costs less than placing each.
  private mutating func sortAll(_ changes: [EntityChange<E>]) -> Outcome {
    moved = changes.map(\.identifier)
    var waiting = Dictionary(changes.map { ($0.identifier, $0.entity) }) { _, last in last }
    var outcome = Outcome.same
    var all: [ResultRow] = []
    for old in kept {
      guard let change = waiting.removeValue(forKey: old.identifier) else {
        all.append(old)
        continue
      }
      let new = row(change, isKept: true)
      if new.map({ !isSame(old, $0) }) ?? true { outcome = .changed }
      if let new { all.append(new) }
    }
    for entity in waiting.values {
      guard let new = row(entity, isKept: false) else { continue }
      all.append(new)
      outcome = .changed
    }
    if outcome == .changed {
      kept = ChunkedArray(followed.sorted(all))
      (index, version) = (WindowIndex(), 0)
    }
    return outcome
  }

  /// The largest number of changes that are placed one by one, and how many kept entities allow one more.
  private static var placedMaximum: Int { 64 }
  private static var keptPerPlaced: Int { 16 }

  /// The position of a node.
  private func place(of identifier: ByteString) -> Place? {
    if followed.ordersByChange, kept.count > WindowIndex.countMinimum {
      guard let row = index.row(identifier, in: version, of: kept) else { return nil }
      let place = followed.place(of: row, in: kept)
      if place != kept.endIndex, kept[place].identifier == identifier { return place }
    }
    return kept.firstIndex { $0.identifier == identifier }
  }

  /// The positions of changed nodes, found in one pass, for a window whose entities keep their positions.
  private func places(of changes: [EntityChange<E>]) -> [ByteString: Place] {
    let changed = Set(changes.map(\.identifier))
    var places: [ByteString: Place] = [:]
    for place in kept.indices where changed.contains(kept[place].identifier) {
      places[kept[place].identifier] = place
    }
    return places
  }

  private mutating func remove(at place: Place) {
    moved.append(kept[place].identifier)
    version = index.replace(kept.remove(at: place), by: nil, in: version)
  }

  private mutating func insert(_ new: ResultRow) -> Outcome {
    let place = followed.place(of: new, in: kept)
    // Matches that are not kept may come before it.
    if place == kept.endIndex, !isComplete { return .same }
    moved.append(new.identifier)
    kept.insert(new, at: place)
    version = index.replace(nil, by: new, in: version)
    if let capacity = followed.capacity, kept.count > capacity {
      let last = kept.index(before: kept.endIndex)
      remove(at: last)
      isComplete = false
    }
    return .changed
  }
}

extension QueryWindow {
  /// Stops the process if the window does not fit its query.
  ///
  /// - Complexity: O(*n* log *n*) for *n* kept entities.
  func checkInvariants() {
    let all = Array(kept)
    precondition(
      Set(all.map(\.identifier)).count == all.count, "a window has an entity twice")
    if let capacity = followed.capacity {
      precondition(all.count <= capacity, "a window of \(capacity) has \(all.count) entities")
    }
    if followed.needsStore, conditions == nil { return }
    for row in all {
      guard let entity = row.entity(as: E.self) else { continue }
      let ranked = RankedEntity(entity, rank: row.rank)
      let meetsConditions = conditions?.accept(entity, row.identifier) ?? true
      precondition(
        followed.accepts(ranked, isKept: true) && meetsConditions,
        "a window has \(row.identifier.text)")
    }
    guard followed.ordersByChange else { return }
    precondition(
      followed.sorted(all).map(\.identifier) == all.map(\.identifier),
      "the entities of a window are not in order")
    index.checkInvariants(in: version, of: all)
  }
}

extension WindowIndex {
  fileprivate func checkInvariants(in version: UInt64, of kept: [ResultRow]) {
    state.withLock { state in
      guard state.version == version, !state.rows.isEmpty else { return }
      precondition(
        state.rows.count == kept.count
          && kept.allSatisfy { state.rows[$0.identifier] === $0 },
        "the index of a window has other rows")
    }
  }
}

/// Finds a row of a long window by its identifier.
///
/// A window shares its index with its later versions. The index fits the newest version; an older one makes
/// it again.
private final class WindowIndex: Sendable {
  private struct State {
    /// The version of the window that the index fits.
    var version: UInt64 = 0
    var lastVersion: UInt64 = 0
    /// Empty until the first search.
    var rows: [ByteString: ResultRow] = [:]
  }

  /// A window of at most so many rows is searched without an index.
  static var countMinimum: Int { 256 }

  private let state = Locked(State())

  /// The row of a kept node; `nil` if it is not kept.
  func row(
    _ identifier: ByteString, in version: UInt64, of kept: ChunkedArray<ResultRow>
  ) -> ResultRow? {
    state.withLock { state in
      if state.version != version || state.rows.isEmpty {
        state.rows = Dictionary(minimumCapacity: kept.count)
        for row in kept { state.rows[row.identifier] = row }
        state.version = version
      }
      return state.rows[identifier]
    }
  }

  /// Records a change of a window.
  ///
  /// - Parameters:
  ///   - old: The removed row; `nil` for none.
  ///   - new: The inserted row; `nil` for none.
  ///   - version: The version of the window before the change.
  /// - Returns: The version of the window after it.
  func replace(_ old: ResultRow?, by new: ResultRow?, in version: UInt64) -> UInt64 {
    state.withLock { state in
      state.lastVersion += 1
      guard state.version == version else { return state.lastVersion }
      state.version = state.lastVersion
      if state.rows.isEmpty { return state.lastVersion }
      if let old { state.rows[old.identifier] = nil }
      if let new { state.rows[new.identifier] = new }
      return state.lastVersion
    }
  }
}
