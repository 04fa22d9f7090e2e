import FoundationEssentials
public import PandoManagers
import PandoModels

/// Describes where an answer contains entities, and which of them.
///
/// ```swift
/// static func payload(for path: RemotePath<Shelf>) -> RemotePayload<Shelf> {
///   if case .search = path {
///     return .under("shelves").paged(total: ["meta", "total"], cursor: ["meta", "next"])
///   }
///   return .under("shelf")
/// }
/// ```
public struct RemotePayload<E: Entity>: Sendable {
  /// The names that lead to the entities, from the outermost object inward; empty if the content is
  /// an entity or a list of them.
  public var names: [String]
  /// Whether an answer to an unbounded search contains all entities of the server.
  public var isComplete = true
  /// Whether Pando applies filter, order and window of the query, because the server sends all entities.
  public var isFilteredHere = false
  /// Whether Pando skips and reports elements of a list that can't be read; otherwise the answer is an error.
  ///
  /// An answer with skipped elements is not complete.
  public var skipsMalformed = false
  /// The entities of other types in the answer.
  var inclusions: [PayloadInclusion] = []
  /// Where the answer describes its page; `nil` if it does not.
  var pageNames: PageNames?
  /// Where the answer contains removals and the cursor; `nil` if it is no answer to `.changes(since:)`.
  var changeNames: ChangeNames?
  /// Whether an error means that the cursor of `.changes(since:)` has expired; the status 410 unless set.
  public var isExpiredCursor: @Sendable (APIError) -> Bool = { $0.status == 410 }
  /// Reads the entities if names are not enough; `nil` to read JSON.
  public var read: (@Sendable (APIResponse) throws -> [E])?

  /// Makes a description of an answer.
  ///
  /// - Parameter names: The names that lead to the entities.
  public init(_ names: [String] = []) { self.names = names }

  /// The whole content: one entity or a list of them.
  public static var content: RemotePayload { RemotePayload() }

  /// Entities inside an object, as in `{"data": {"books": […]}}`.
  ///
  /// - Parameter names: The names that lead to the entities, from the outermost object inward.
  /// - Returns: The description.
  public static func under(_ names: String...) -> RemotePayload { RemotePayload(names) }

  /// The same description, with ``skipsMalformed``.
  ///
  /// The event `ManagerEvent` `malformedElement` and `malformed` of the answer report skipped elements.
  ///
  /// ```swift
  /// static func payload(for path: RemotePath<Book>) -> RemotePayload<Book> {
  ///   .under("books").skippingMalformed
  /// }
  /// ```
  public var skippingMalformed: RemotePayload {
    var payload = self
    payload.skipsMalformed = true
    return payload
  }

  /// Returns the same description of an answer that also contains entities of another type.
  ///
  /// Pando stores them in the commit of the answer, as old as the request, if the requested entities are on disk. They
  /// may be absent.
  ///
  /// ```swift
  /// .under("books").including(Author.self, under: "included", "authors")
  /// ```
  /// - Parameters:
  ///   - type: Their type.
  ///   - names: The names that lead to them, from the outermost object inward.
  /// - Returns: The description.
  public func including<Other: PersistentEntity & RemoteEntity>(
    _ type: Other.Type, under names: String...
  ) -> RemotePayload {
    var payload = self
    payload.inclusions.append(PayloadInclusion(type, names))
    return payload
  }

  /// Returns the same description of an answer that is one page of several: `page` of the result.
  ///
  /// The header field `Link` may contain the next page, too. An answer that is not the last page is not complete.
  ///
  /// - Parameters:
  ///   - total: The names that lead to the number of all entities; empty if there is none.
  ///   - cursor: The names that lead to the cursor of the next page.
  ///   - next: The names that lead to the address of the next page.
  /// - Returns: The description.
  public func paged(
    total: [String] = [], cursor: [String] = [], next: [String] = []
  ) -> RemotePayload {
    var payload = self
    payload.pageNames = PageNames(total: total, cursor: cursor, next: next)
    return payload
  }

  /// Returns the same description of an answer to ``RemotePath/changes(since:)``, which contains created and changed
  /// entities.
  ///
  /// ```swift
  /// static func request(for path: RemotePath<Book>) throws -> APIRequest? {
  ///   guard case .changes(let cursor) = path else { … }
  ///   return APIRequest(.get, "/books/changes", query: cursor.map { [.init("since", $0)] } ?? [])
  /// }
  /// static func payload(for path: RemotePath<Book>) -> RemotePayload<Book> {
  ///   guard case .changes = path else { return .content }
  ///   // {"books": […], "deleted": [7, 9], "sync": {"next": "c81", "more": true}}
  ///   return .under("books").changes(removed: ["deleted"], cursor: ["sync", "next"], more: ["sync", "more"])
  /// }
  /// ```
  /// A removed entity is its identifier, or an object with the identifier under `id`. An entity that is both removed
  /// and changed exists. While `more` is true, Pando reads the next page with the cursor. With
  /// ``paged(total:cursor:next:)`` it uses the page's own cursor, or the request for `nil` with the query of the next
  /// page's address.
  ///
  /// - Parameters:
  ///   - removed: The names that lead to the removed entities; empty if there are none.
  ///   - cursor: The names that lead to the cursor of the next changes.
  ///   - more: The names that lead to whether there are more changes now; empty if there is no such value.
  ///   - expired: The names that lead to whether the cursor has expired; empty if only ``isExpiredCursor`` says so.
  /// - Returns: The description.
  public func changes(
    removed: [String] = [], cursor: [String], more: [String] = [], expired: [String] = []
  ) -> RemotePayload {
    var payload = self
    payload.changeNames = ChangeNames(
      removed: removed, cursor: cursor, more: more, expired: expired)
    return payload
  }

  /// Describes an answer that a closure reads.
  ///
  /// - Parameter read: Reads the entities; not called for an empty content, which is an empty list.
  /// - Returns: The description.
  public static func reading(
    _ read: @escaping @Sendable (APIResponse) throws -> [E]
  ) -> RemotePayload {
    var payload = RemotePayload()
    payload.read = read
    return payload
  }
}
