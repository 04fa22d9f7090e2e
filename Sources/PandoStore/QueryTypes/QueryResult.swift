package import PandoModels
package import PandoSystem

/// The entities that a query has found.
///
/// ```swift
/// let result = try await books.search(withQuery: Query(filter: \Book.year < 1900))
/// print(result.count, result.first?.title ?? "none")
/// for book in result.entities { print(book.title) }
/// ```
public struct QueryResult<E: Queryable>: Sendable {
  private enum Rows: Sendable {
    case own([E])
    /// Without groups.
    case shared(ResultRows<E>)
  }

  private let rows: Rows

  /// The entities, in the order of the query.
  ///
  /// - Complexity: O(1). A result of a followed query without a limit makes the array when it is first asked for, in O(*n*);
  ///   ``count``, ``isEmpty`` and ``first`` do without.
  public var entities: [E] {
    switch rows {
    case .own(let entities): entities
    case .shared(let shared): shared.entities
    }
  }

  /// The left-out records that can't be decoded, if the query skips them.
  public internal(set) var undecodable: [UndecodableRecord] = []

  /// The page of a server's answer, if the answer says it.
  public var page: AnswerPage?

  /// The groups of a grouped query; `nil` for one group.
  private let grouped: [(value: QueryValue, entities: [E])]?

  /// The entities by the value of the grouping field, in the order of first occurrence; without grouping one
  /// group with the value null.
  ///
  /// ```swift
  /// let byYear = Query<Book>(order: [.ascending(\.title)], groupedBy: .field(\.year))
  /// for group in try await books.search(withQuery: byYear).groups {
  ///   print(group.value, group.entities.map(\.title))
  /// }
  /// ```
  public var groups: [(value: QueryValue, entities: [E])] {
    grouped ?? (entities.isEmpty ? [] : [(.null, entities)])
  }

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - entities: The entities, in order.
  ///   - field: The field whose values form the groups.
  public init(_ entities: [E], groupedBy field: QueryField<E>? = nil) {
    rows = .own(entities)
    guard let field else {
      grouped = nil
      return
    }
    var places: [QueryValue: Int] = [:]
    var values: [QueryValue] = []
    var members: [[E]] = []
    for entity in entities {
      let value = field.value(entity)
      if let place = places[value] {
        members[place].append(entity)
      } else {
        places[value] = members.count
        values.append(value)
        members.append([entity])
      }
    }
    grouped = zip(values, members).map { ($0, $1) }
  }

  /// Makes a result without groups.
  ///
  /// - Parameter entities: The entities, in order.
  package init(ungrouped entities: [E]) {
    rows = .own(entities)
    grouped = nil
  }

  /// Makes a result without groups that shares its rows, which have entities, with other results.
  package init(sharing rows: ChunkedArray<ResultRow>) {
    self.rows = .shared(ResultRows(rows))
    grouped = nil
  }

  /// Makes a result whose only record can't be decoded.
  @inline(never)
  init(without record: UndecodableRecord) {
    self.init(ungrouped: [])
    undecodable = [record]
  }

  /// Takes over the page and the left-out records of a result of the same read.
  package mutating func takeNotes(of other: QueryResult) {
    page = other.page
    undecodable = other.undecodable
  }

  /// A result without entities.
  public static var empty: QueryResult { QueryResult([]) }

  /// The first entity, if there is one.
  public var first: E? {
    switch rows {
    case .own(let entities): entities.first
    case .shared(let shared): shared.rows.first?.entity(as: E.self)
    }
  }

  /// Whether there is no entity.
  public var isEmpty: Bool { count == 0 }

  /// The number of entities.
  public var count: Int {
    switch rows {
    case .own(let entities): entities.count
    case .shared(let shared): shared.rows.count
    }
  }

  /// The change from an earlier result to this one, as `CollectionChange.difference(from:to:)`.
  ///
  /// - Complexity: As that. For results that share their entities, O(*c* + *m* log *m*) for *m* entities in the parts that
  ///   differ, of *c* parts of a few hundred entities.
  package func change(since former: QueryResult) -> CollectionChange {
    if case (.shared(let new), .shared(let old)) = (rows, former.rows) {
      return .difference(in: new.parts(since: old))
    }
    return .difference(from: former.entities, to: entities)
  }

  /// The entity at a position and the same one in an earlier result; `nil` if it is not there.
  ///
  /// - Complexity: As ``change(since:)``.
  package func update(at index: Int, since former: QueryResult) -> (old: E, new: E)? {
    guard (0..<count).contains(index) else { return nil }
    guard case (.shared(let shared), .shared(let old)) = (rows, former.rows) else {
      return former.entities.first { $0.hasIdentifier(of: entities[index]) }
        .map { ($0, entities[index]) }
    }
    let new = shared.rows.elements(in: index..<(index + 1)) { $0 }[0]
    for part in shared.rows.changedParts(since: old.rows) {
      let found = old.rows.elements(in: part.old) { $0 }.first { $0.identifier == new.identifier }
      if let old = found?.entity(as: E.self), let new = new.entity(as: E.self) { return (old, new) }
    }
    // It is new, or in a part that both share.
    return nil
  }
}

extension Queryable {
  fileprivate func hasIdentifier(of other: Self) -> Bool {
    guard let own = modelIdentifier, let other = other.modelIdentifier else { return false }
    return own.hasSameBytes(as: other)
  }
}

extension QueryResult: Equatable {
  /// Whether two results have the same entities in the same order and groups.
  ///
  /// - Parameters:
  ///   - left: A result.
  ///   - right: A result.
  /// - Returns: Whether they are equal.
  public static func == (left: QueryResult, right: QueryResult) -> Bool {
    if case (.shared(let left), .shared(let right)) = (left.rows, right.rows) {
      return right.parts(since: left).allSatisfy { $0.isSame(==) }
    }
    return left.entities == right.entities
      && left.groups.elementsEqual(right.groups, by: { $0 == $1 })
  }
}

/// The position of a server's answer in a result of several pages.
///
/// ```swift
/// let result = try await books.search(withQuery: Query(limit: 20), in: .remote())
/// if let page = result.page, page.hasNext { print("more at", page.cursor ?? "", page.next ?? "") }
/// ```
public struct AnswerPage: Sendable {
  /// The cursor of the next page; `nil` on the last one.
  public var cursor: String?
  /// The number of all entities; `nil` if the server does not say it.
  public var total: Int?
  /// The address of the next page; `nil` on the last one.
  public var next: String?

  /// Makes a page.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the next page.
  ///   - total: The number of all entities.
  ///   - next: The address of the next page.
  public init(cursor: String? = nil, total: Int? = nil, next: String? = nil) {
    (self.cursor, self.total, self.next) = (cursor, total, next)
  }

  /// Whether the answer names a next page.
  public var hasNext: Bool { cursor != nil || next != nil }
}
