import FoundationEssentials

/// A place in the order of a query, from which the next or the previous page begins.
///
/// ``QueryPage/next`` and ``QueryPage/previous`` are cursors. Send ``text`` to a client, and read it back when the
/// client asks for that page:
///
/// ```swift
/// let cursor = try request.query["cursor"].map { try QueryCursor<Order>($0) }
/// let page = try await store.page(of: newest, at: cursor)
/// respond(page.entities, next: page.next?.text, previous: page.previous?.text)
/// ```
///
/// A cursor has the values that the entity at its place had in the order, and a number of the store. So it is valid
/// after that entity was changed or deleted, after the store was opened again, and in every replica of a log. It does
/// not have the filter, the limit, or any other value of the entity.
///
/// The text is not encrypted: a client can read the values of the order in it. Its checksum detects damage and is no
/// signature. A client that makes a cursor of its own can only choose another place in the result of your query.
///
/// `Codable` codes the text. Do not keep cursors across a change of the order, or across a store made from a dump.
///
/// - Note: A value; any thread.
public struct QueryCursor<E: Queryable>: Hashable, Sendable {
  /// The place.
  let place: CursorPlace

  init(_ place: CursorPlace) { self.place = place }

  /// Reads the text of a cursor.
  ///
  /// - Parameter text: The text.
  /// - Throws: ``QueryError`` `invalidCursor` if it is not the text of a cursor.
  /// - Complexity: O(*n*) for *n* bytes.
  public init(_ text: String) throws(QueryError) {
    guard let place = CursorPlace(text: text) else {
      throw QueryError(
        .invalidCursor, E.modelTypeName,
        "the text is no cursor of this version, or it is damaged; begin with the first page")
    }
    self.place = place
  }

  /// The cursor as text: letters, digits, `-` and `_`, so that an address needs no escapes.
  public var text: String { place.text }
}

extension QueryCursor: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension QueryCursor: Codable {
  /// Reads the text of a cursor.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: `DecodingError` with the ``QueryError`` as its cause if it is not the text of a cursor.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(QueryError) {
      try self.init(text)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: container.codingPath, debugDescription: error.description,
          underlyingError: error))
    }
  }

  /// Writes the text.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// A page of the result of a query.
///
/// ```swift
/// var page = try store.page(of: newest)
/// show(page.entities)
/// while let next = page.next {
///   page = try store.page(of: newest, at: next)
///   show(page.entities)
/// }
/// ```
public struct QueryPage<E: Queryable>: Sendable {
  /// The entities of the page, with their groups and with the records that can't be decoded.
  public let result: QueryResult<E>
  /// The cursor of the next page; `nil` if no entity follows.
  ///
  /// A page that was read at the cursor of a previous page has one in any case.
  public let next: QueryCursor<E>?
  /// The cursor of the previous page; `nil` on the first page.
  ///
  /// A page that was read at the cursor of a next page has one in any case. Its page is empty if all entities before it
  /// have been deleted.
  public let previous: QueryCursor<E>?

  /// The entities, in the order of the query.
  public var entities: [E] { result.entities }
}
