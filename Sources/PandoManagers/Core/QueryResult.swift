public import PandoStore

/// What a query has found.
///
/// ```swift
/// let result = try await books.search(withQuery: Query(filter: \Book.year < 1900))
/// print(result.count, result.first?.title ?? "none")
/// for book in result.entities { print(book.title) }
/// ```
public struct QueryResult<E: Queryable>: Sendable {
  /// The entities, in the order asked for.
  public let entities: [E]

  /// The records that were left out because they can't be decoded, of a query that skips them.
  public internal(set) var undecodable: [UndecodableRecord] = []

  /// Which part of all it is, of the answer of a server that says so.
  public var page: AnswerPage?

  /// The groups of a query that groups; `nil` for one group of all.
  private let grouped: [QueryGroup<E>]?

  /// The entities by the value of the field that the query groups by, in the order in which the
  /// values first occur; one group with the value null if it does not group.
  public var groups: [QueryGroup<E>] {
    grouped ?? (entities.isEmpty ? [] : [QueryGroup(value: .null, entities: entities)])
  }

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - entities: The entities, in order.
  ///   - field: The field whose values make groups.
  public init(_ entities: [E], groupedBy field: QueryField<E>? = nil) {
    self.entities = entities
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
    grouped = zip(values, members).map { QueryGroup(value: $0, entities: $1) }
  }

  /// Makes a result of one group.
  ///
  /// - Parameter entities: The entities, in order.
  init(ungrouped entities: [E]) {
    self.entities = entities
    grouped = nil
  }

  /// Makes the result of a query that has found one record, which can't be decoded.
  @inline(never)
  init(without record: UndecodableRecord) {
    self.init(ungrouped: [])
    undecodable = [record]
  }

  /// Nothing.
  public static var empty: QueryResult { QueryResult([]) }

  /// The first entity, if there is one.
  public var first: E? { entities.first }

  /// Whether nothing was found.
  public var isEmpty: Bool { entities.isEmpty }

  /// How many were found.
  public var count: Int { entities.count }
}

extension QueryResult: Equatable {
  /// Whether two results have the same entities in the same order and groups.
  ///
  /// - Parameters:
  ///   - left: A result.
  ///   - right: A result.
  /// - Returns: Whether they are equal.
  public static func == (left: QueryResult, right: QueryResult) -> Bool {
    left.entities == right.entities && left.groups == right.groups
  }
}

/// The entities of a result that share a value.
///
/// ```swift
/// let byYear = Query<Book>(order: [.ascending(\.title)], groupedBy: .field(\.year))
/// for group in try await books.search(withQuery: byYear).groups {
///   print(group.value, group.entities.map(\.title))
/// }
/// ```
public struct QueryGroup<E: Queryable>: Sendable, Equatable {
  /// The value that they share.
  public let value: QueryValue
  /// The entities, in the order of the result.
  public let entities: [E]
}

/// Which part of all an answer of a server is.
///
/// ```swift
/// let result = try await books.search(withQuery: Query(limit: 20), in: .remote())
/// if let page = result.page, page.hasNext { print("more at", page.cursor ?? "", page.next ?? "") }
/// ```
public struct AnswerPage: Sendable {
  /// What the next page is asked for by; `nil` for the last one.
  public var cursor: String?
  /// How many there are in all; `nil` if the server does not say it.
  public var total: Int?
  /// The address of the next page; `nil` for the last one.
  public var next: String?

  /// Says which part of all an answer is.
  ///
  /// - Parameters:
  ///   - cursor: What the next page is asked for by.
  ///   - total: How many there are in all.
  ///   - next: The address of the next page.
  public init(cursor: String? = nil, total: Int? = nil, next: String? = nil) {
    (self.cursor, self.total, self.next) = (cursor, total, next)
  }

  /// Whether more follow, as far as the server says.
  public var hasNext: Bool { cursor != nil || next != nil }
}
