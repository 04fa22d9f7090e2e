import PandoModels
public import PandoProviders
public import PandoStore
import PandoSystem

extension ModelStore {
  /// Follows the result of a query, with related values of each entity.
  ///
  /// ```swift
  /// let open = Query(filter: \Issue.isOpen == true)
  /// for try await rows in store.follow(projects, with: .answer(.count, of: open, by: \.project)) {
  ///   for (project, count) in rows { print(project.name, count) }
  /// }
  /// ```
  /// Each element is what `find(_:with:)` returns at one commit, without models that can't be decoded. Entities and
  /// related values are always of the same commit. A commit changes the values of the entities whose related models it
  /// touched, and no others.
  ///
  /// - Parameters:
  ///   - query: The query for the entities; groups do not matter.
  ///   - related: The related values. An answer that can't be made, such as a sum that overflows, ends iterations with a
  ///     `QueryError`; so does an invalid query.
  /// - Returns: The present result, and the result after each change. `RelatedResult.change` says what has changed since
  ///   the observer's last element.
  /// - Complexity: It keeps the entities, for an answer the key and the asked values of each related model, and for
  ///   related models all of these, also those beyond the limit of an entity. A commit costs O(log *n*) for each model that
  ///   it touches, and as much for each entity with another value.
  @_disfavoredOverload
  public func follow<M: Queryable, each Value>(
    _ query: Query<M>, with related: repeat Related<M, each Value>
  ) -> FollowedSequence<RelatedResult<M, (repeat each Value)>> {
    var query = query
    query.groupedBy = nil
    let followed = query
    let hub = Result { try StoreHub.hub(of: self) }
    let accepted = AcceptedQuery(followed)
    let source = FollowedSource(hub) {
      try followed.validate()
      return LiveQuery(accepted)
    }
    let makers = (repeat (each related).makeReader(hub))
    return FollowedSequence(
      RelatedObservation(source: source, hub: hub) {
        RelatedReaders(repeat (each makers)())
      })
  }
}

extension Related {
  fileprivate func makeReader(
    _ hub: Result<StoreHub, any Error>
  ) -> @Sendable () -> any RelatedReader<Value> {
    guard let source = source as? any FollowedRelatedSource<Value> else {
      preconditionFailure("a related value is an answer or models")
    }
    return source.makeReader(hub)
  }
}

/// An observation of a followed query with related values.
private struct RelatedObservation<E: Queryable, Value: Sendable>: ObservationSource {
  let source: FollowedSource<LiveQuery<E>>
  let hub: Result<StoreHub, any Error>
  let makeReader: @Sendable () -> any RelatedReader<Value>

  func makeObserver() -> any Observer<RelatedResult<E, Value>> {
    RelatedIteration(source, makeReader(), hub)
  }
}

/// An iteration over a followed query with related values.
///
/// ```
/// bell ─► under the publishing lock: newest rows and values ─► rows that differ ─► element
/// ```
/// Queries and answers are published together, so what is read under that lock is of one commit.
private struct RelatedIteration<E: Queryable, Value: Sendable>: Observer {
  private typealias Row = RelatedRow<E, Value>

  private let hub: Result<StoreHub, any Error>
  /// Released at the end, as the reader.
  private var list: JoinedView<LiveQuery<E>>?
  private var reader: (any RelatedReader<Value>)?
  /// Rings after each news of a part.
  private let bell: ObservedState<Void>
  private var cursor: ObserverCursor

  /// The rows of the list.
  private var shown = ChunkedArray<ResultRow>([])
  /// The rows with their values, in the chunks of `shown`.
  private var rows = ChunkedArray<Row>([])
  /// The rows of the list by identifier.
  private var index: [ByteString: ResultRow] = [:]
  private var isLoaded = false
  /// The rows of the last element.
  private var seen: ChunkedArray<Row>?

  init(
    _ source: FollowedSource<LiveQuery<E>>, _ reader: any RelatedReader<Value>,
    _ hub: Result<StoreHub, any Error>
  ) {
    self.hub = hub
    list = JoinedView(source)
    self.reader = reader
    bell = ObservedState(())
    cursor = bell.makeCursor()
  }

  mutating func next(
    isolation: isolated (any Actor)?
  ) async throws -> RelatedResult<E, Value>? {
    let bell = bell
    do {
      try list?.join(bell)
      try reader?.join(bell)
      while list != nil, try await bell.next(&cursor, isolation: isolation) != nil {
        if let element = try element() { return element }
      }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  /// Releases what the iteration holds.
  private mutating func end() { (list, reader) = (nil, nil) }

  /// Takes over the newest state; `nil` if it equals the last element, or if there is none.
  private mutating func element() throws -> RelatedResult<E, Value>? {
    if !isLoaded {
      // The values of many entities are made without the lock; those that change meanwhile follow under it.
      guard let list = try advance() else { return nil }
      isLoaded = true
      _ = try show(list.window, .all)
    }
    let hasChanged = try hub.get().line.readingLive {
      guard let list = try advance() else { return false }
      return try show(list.window, list.news)
    }
    guard list != nil, hasChanged || seen == nil else { return nil }
    defer { seen = rows }
    return RelatedResult(rows, since: seen)
  }

  /// Takes over the newest state of all parts.
  ///
  /// - Returns: The window if the list has changed, and the entities with other values; `nil` if there is no state.
  private mutating func advance() throws -> (window: QueryWindow<E>?, news: RelatedNews)? {
    guard let isNew = try list?.advance(), let news = try reader?.advance() else { return nil }
    if case .ended = news { end() }
    if list?.isEnded == true { end() }
    guard let window = list?.value else { return nil }
    if case .loading = news { return nil }
    return (isNew || !isLoaded ? window : nil, news)
  }

  /// Shows the rows of a window, and other values of entities.
  ///
  /// - Returns: Whether a row has changed.
  private mutating func show(_ window: QueryWindow<E>?, _ news: RelatedNews) throws -> Bool {
    guard let reader else { return false }
    var hasChanged = false
    if let window { hasChanged = try show(window.shownRows, reader) }
    switch news {
    case .loading, .ended: break
    case .all:
      for place in rows.indices where try update(at: place, shown[place].key, reader) {
        hasChanged = true
      }
    case .entities(let keys):
      for key in keys {
        guard let place = place(of: key) else { continue }
        if try update(at: place, key, reader) { hasChanged = true }
      }
    }
    return hasChanged
  }

  /// Shows other rows; the values of those that stay are kept.
  private mutating func show(
    _ newest: ChunkedArray<ResultRow>, _ reader: any RelatedReader<Value>
  ) throws -> Bool {
    var hasChanged = false
    rows = try newest.mapped(since: shown, rows) { old, new in
      var known: [ByteString: (row: ResultRow, related: Row)] = [:]
      for (row, related) in old {
        known[row.identifier] = (row, related)
        if index[row.identifier] === row { index[row.identifier] = nil }
      }
      let made = try new.map { row in
        index[row.identifier] = row
        return try relatedRow(of: row, known[row.identifier], reader)
      }
      hasChanged =
        hasChanged || old.count != made.count || !zip(old, made).allSatisfy { $0.1 === $1 }
      return made
    }
    shown = newest
    return hasChanged
  }

  /// The row with its value; the known one if it has not changed.
  private func relatedRow(
    of row: ResultRow, _ known: (row: ResultRow, related: Row)?, _ reader: any RelatedReader<Value>
  ) throws -> Row {
    if let known, known.row === row { return known.related }
    guard let entity = row.entity(as: E.self) else {
      preconditionFailure("a followed row has its entity")
    }
    let made = Row(entity, try reader.value(of: row.key))
    // A query that is read again has new rows for all its entities.
    if let known, known.row.hasEqualEntity(row, as: E.self),
      reader.areSame(known.related.value, made.value)
    {
      return known.related
    }
    return made
  }

  /// Gives a row the present value.
  ///
  /// - Returns: Whether it had another one.
  private mutating func update(
    at place: ChunkedArrayIndex, _ key: QueryValue, _ reader: any RelatedReader<Value>
  ) throws -> Bool {
    let value = try reader.value(of: key)
    let row = rows[place]
    if reader.areSame(row.value, value) { return false }
    rows[place] = Row(row.entity, value)
    return true
  }

  /// The place of an entity.
  private func place(of key: QueryValue) -> ChunkedArrayIndex? {
    guard case .string(let text) = key, let row = index[ByteString(text)] else { return nil }
    if let followed = list?.value?.followed, followed.ordersByChange {
      let place = followed.place(of: row, in: shown)
      if place != shown.endIndex, shown[place] === row { return place }
    }
    return shown.firstIndex { $0 === row }
  }
}

extension ResultRow {
  /// The value by which related models name the entity.
  fileprivate var key: QueryValue { .string(identifier.text) }
}
