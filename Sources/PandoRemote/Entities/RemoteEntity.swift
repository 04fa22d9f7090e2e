public import FoundationEssentials
public import PandoManagers
import PandoModels

/// An entity that a server keeps.
///
/// Where the API is an ordinary one, its endpoint is all there is to say:
///
/// ```swift
/// extension Book: RemoteEntity {
///   static let endpoint: APIPath = "/books"
/// }
/// ```
///
/// Then `GET /books`, `GET /books/7`, `POST /books`, `PUT /books/7` and `DELETE /books/7` are sent. Any
/// other API is described by ``request(for:)`` and ``payload(for:)``.
public protocol RemoteEntity: ServedEntity {
  /// Where the server keeps the entities of this type; a slash and the name of the type unless declared.
  static var endpoint: APIPath { get }

  /// The request for what is asked for or is to be done.
  ///
  /// - Parameter path: What is asked for or is to be done.
  /// - Returns: The request; `nil` if the API has none.
  /// - Throws: Why the request can't be made.
  static func request(for path: RemotePath<Self>) throws -> APIRequest?

  /// Where the entities are in the answer.
  ///
  /// - Parameter path: What was asked for or done.
  /// - Returns: By default the whole content: one entity or a list of them.
  static func payload(for path: RemotePath<Self>) -> RemotePayload<Self>

  /// What happens here to a write that the server refuses; by default it is taken back.
  static var refusalPolicy: RefusalPolicy { get }

  /// How fields differ in the JSON of requests and answers from what is on disk; they don't unless
  /// declared. See ``WireField``.
  static var wireFields: [WireField<Self>] { get }

  /// Makes what reads the JSON of answers; by default dates are ISO 8601.
  ///
  /// - Returns: A new decoder.
  static func makeDecoder() -> JSONDecoder

  /// Makes what writes the JSON of requests; by default dates are ISO 8601.
  ///
  /// - Returns: A new encoder.
  static func makeEncoder() -> JSONEncoder
}

extension RemoteEntity {
  /// It is taken back.
  public static var refusalPolicy: RefusalPolicy { .undo }

  /// None: only a ``MutableEntity`` can take another identifier.
  ///
  /// - Parameter identifier: The identifier.
  /// - Returns: `nil`.
  public func named(by identifier: EntityIdentifier<Self>) -> Self? { nil }

  /// None: the server's JSON is the coding of the type.
  public static var wireFields: [WireField<Self>] { [] }

  /// Whether ``wireFields`` has fields that the server does not know.
  public static var hasLocalFields: Bool { wireFields.contains(where: \.hasLocal) }

  /// This entity, as the server has sent it, with the fields that the server does not know as they are
  /// here.
  ///
  /// - Parameter stored: The same entity as it is stored here.
  /// - Returns: The entity to store.
  public func keepingLocalFields(of stored: Self) -> Self {
    var entity = self
    for field in Self.wireFields { field.keep?(&entity, stored) }
    return entity
  }

  /// A slash and the name of the type.
  public static var endpoint: APIPath { "/\(modelTypeName)" }

  /// The request of an ordinary API at ``endpoint``.
  ///
  /// There is none for several identifiers at once, which are asked for one by one, and for removing by
  /// query. A search asks for all.
  ///
  /// - Parameter path: What is asked for or is to be done.
  /// - Returns: The request; `nil` if an ordinary API has none.
  /// - Throws: `EncodingError` if an entity can't be encoded.
  public static func request(for path: RemotePath<Self>) throws -> APIRequest? {
    switch path {
    case .get(let id): APIRequest(.get, endpoint.appending(id))
    case .search: APIRequest(.get, endpoint)
    case .create(let entity):
      APIRequest(.post, endpoint, body: try APIBody(entity: entity))
    case .update(let entity):
      APIRequest(.put, endpoint.appending(entity.id), body: try APIBody(entity: entity))
    case .remove(let id): APIRequest(.delete, endpoint.appending(id))
    case .getAll, .removeAll, .changes: nil
    }
  }

  /// The whole content; for a search it is filtered here, because all were asked for.
  ///
  /// - Parameter path: What was asked for or done.
  /// - Returns: Where the entities are.
  public static func payload(for path: RemotePath<Self>) -> RemotePayload<Self> {
    var payload = RemotePayload<Self>.content
    payload.isFilteredHere = true
    return payload
  }

  /// A decoder for dates as ISO 8601.
  ///
  /// - Returns: A new decoder.
  public static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }

  /// An encoder for dates as ISO 8601, with sorted names.
  ///
  /// - Returns: A new encoder.
  public static func makeEncoder() -> JSONEncoder { APIBody.makeEncoder() }
}

/// What happens here to a write to both, store and server, that the server refuses.
///
/// ```swift
/// extension Draft: RemoteEntity {
///   static var refusalPolicy: RefusalPolicy { .keep }
/// }
/// ```
public enum RefusalPolicy: Sendable, Hashable {
  /// The store goes back to what it would be without the write, in one commit: what it changed and nobody has
  /// changed since is as it was before, and requests that wait are made anew where they would send it. So
  /// are nodes inside the entity, and what a removal has taken out of other entities and lists. What the
  /// store would not take back any more stays, marked.
  case undo
  /// The write stays, and its entities are marked as `SynchronizationState` `refused` until the request is
  /// sent again or dropped. Until then no answer takes it away.
  case keep
}

/// An entity of a server that can be made and changed here.
///
/// ```swift
/// struct Book: PersistentEntity, MutableEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
///   static let endpoint: APIPath = "/books"
///   func withIdentifier(_ id: EntityIdentifier<Book>) -> Book { Book(id: id, title: title) }
/// }
/// ```
public protocol MutableEntity: RemoteEntity {
  /// This entity under another identifier.
  ///
  /// - Parameter id: The identifier that the server has given.
  /// - Returns: The same entity, named so.
  func withIdentifier(_ id: EntityIdentifier<Self>) -> Self
}

extension MutableEntity {
  /// ``withIdentifier(_:)``.
  ///
  /// - Parameter identifier: The identifier that the server has given.
  /// - Returns: The same entity, named so.
  public func named(by identifier: EntityIdentifier<Self>) -> Self? { withIdentifier(identifier) }
}
