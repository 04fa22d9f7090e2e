import FoundationEssentials
public import PandoManagers
import PandoModels

/// Where the entities are in an answer, and what is known of them.
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
  /// The names that lead to the entities from the outermost object inward; empty if the content is
  /// an entity or a list of them.
  public var names: [String]
  /// Whether an answer to an unbounded search has all that the server has.
  public var isComplete = true
  /// Whether filter, order and window of the query are applied to the answer here, because the server
  /// was asked for all.
  public var isFilteredHere = false
  /// Whether an element of a list that can't be read is left out, and told; else the answer is an error.
  ///
  /// An answer without some of its elements is not complete.
  public var skipsMalformed = false
  /// Entities of other types that stand in the answer, too.
  var inclusions: [PayloadInclusion] = []
  /// Where the answer says which part of all it is; `nil` if it does not.
  var pageNames: PageNames?
  /// Where the answer says what has changed beside its entities; `nil` if it does not.
  var changeNames: ChangeNames?
  /// Whether an error means that the server does not know the cursor of `.changes(since:)` any more; the
  /// status 410 unless given.
  public var isExpiredCursor: @Sendable (APIError) -> Bool = { $0.status == 410 }
  /// Reads the entities where names are not enough; `nil` to read JSON.
  public var read: (@Sendable (APIResponse) throws -> [E])?

  /// Makes a description of an answer.
  ///
  /// - Parameter names: The names that lead to the entities.
  public init(_ names: [String] = []) { self.names = names }

  /// The whole content: one entity or a list of them.
  public static var content: RemotePayload { RemotePayload() }

  /// Inside an object, as in `{"data": {"books": […]}}`.
  ///
  /// - Parameter names: The names that lead to the entities from the outermost object inward.
  /// - Returns: The description.
  public static func under(_ names: String...) -> RemotePayload { RemotePayload(names) }

  /// The same description, by which elements of a list that can't be read are left out, and told: as
  /// `ManagerEvent` `malformedElement`, and in `malformed`.
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

  /// The same description of an answer that has entities of another type, too.
  ///
  /// Where the answer is stored, they are stored in the same commit, each as old as the request. They are
  /// kept if the entities that were asked for are on disk; an answer that lacks them is whole.
  ///
  /// ```swift
  /// .under("books").including(Author.self, under: "included", "authors")
  /// ```
  /// - Parameters:
  ///   - type: Their type.
  ///   - names: The names that lead to them from the outermost object inward.
  /// - Returns: The description.
  public func including<Other: PersistentEntity & RemoteEntity>(
    _ type: Other.Type, under names: String...
  ) -> RemotePayload {
    var payload = self
    payload.inclusions.append(PayloadInclusion(type, names))
    return payload
  }

  /// The same description of an answer that says which part of all it is: `page`.
  ///
  /// A link to the next page is found in the header field `Link`, too. An answer that is not the last page
  /// is not complete.
  ///
  /// - Parameters:
  ///   - total: The names that lead to how many there are in all; empty if it is not said.
  ///   - cursor: The names that lead to what the next page is asked for by.
  ///   - next: The names that lead to the address of the next page.
  /// - Returns: The description.
  public func paged(
    total: [String] = [], cursor: [String] = [], next: [String] = []
  ) -> RemotePayload {
    var payload = self
    payload.pageNames = PageNames(total: total, cursor: cursor, next: next)
    return payload
  }

  /// The same description of an answer to ``RemotePath/changes(since:)``: the entities are those that have
  /// been made or changed.
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
  /// A removed entity is its identifier, or an object that has it under `id`. An entity that is among the
  /// changed ones, too, is there. Pages are asked for by the cursor while `more` is true; or, with
  /// ``paged(total:cursor:next:)``, by the page's own cursor in its place, or under the address of the next
  /// page: the request for all with the query of that address.
  ///
  /// - Parameters:
  ///   - removed: The names that lead to what the server has no longer; empty if it never says that.
  ///   - cursor: The names that lead to what the next changes are asked for by.
  ///   - more: The names that lead to whether there are more by now; empty if it is not said.
  ///   - expired: The names that lead to whether the server does not know the cursor any more; empty if it
  ///     is said by ``isExpiredCursor``.
  /// - Returns: The description.
  public func changes(
    removed: [String] = [], cursor: [String], more: [String] = [], expired: [String] = []
  ) -> RemotePayload {
    var payload = self
    payload.changeNames = ChangeNames(
      removed: removed, cursor: cursor, more: more, expired: expired)
    return payload
  }

  /// Reads an answer in a way of its own.
  ///
  /// - Parameter read: Reads the entities; an empty content is an empty list before it is called.
  /// - Returns: The description.
  public static func reading(
    _ read: @escaping @Sendable (APIResponse) throws -> [E]
  ) -> RemotePayload {
    var payload = RemotePayload()
    payload.read = read
    return payload
  }
}
