public import FoundationEssentials
public import PandoManagers
import PandoModels

/// An entity that is stored on a server.
///
/// A conventional API needs an endpoint only:
///
/// ```swift
/// extension Book: RemoteEntity {
///   static let endpoint: APIPath = "/books"
/// }
/// ```
///
/// Pando then sends `GET /books`, `GET /books/7`, `POST /books`, `PUT /books/7` and `DELETE /books/7`.
/// ``request(for:)`` and ``payload(for:)`` describe any other API.
public protocol RemoteEntity: ServedEntity {
  /// The path of the entities of this type; a slash and the name of the type unless declared.
  static var endpoint: APIPath { get }

  /// Makes the request for an operation.
  ///
  /// - Parameter path: The operation.
  /// - Returns: The request; `nil` if the API has none.
  /// - Throws: Why the request can't be made.
  static func request(for path: RemotePath<Self>) throws -> APIRequest?

  /// Describes where an answer contains the entities.
  ///
  /// - Parameter path: The operation.
  /// - Returns: By default the whole content: one entity or a list of them.
  static func payload(for path: RemotePath<Self>) -> RemotePayload<Self>

  /// How Pando treats a write that the server refuses; by default Pando undoes it.
  static var refusalPolicy: RefusalPolicy { get }

  /// The fields whose form in requests and answers differs from their coding; none unless declared.
  static var wireFields: [WireField<Self>] { get }

  /// Makes the decoder of answers; by default dates are ISO 8601.
  ///
  /// - Returns: A new decoder.
  static func makeDecoder() -> JSONDecoder

  /// Makes the encoder of requests; by default dates are ISO 8601.
  ///
  /// - Returns: A new encoder.
  static func makeEncoder() -> JSONEncoder
}

extension RemoteEntity {
  /// Pando undoes the write.
  public static var refusalPolicy: RefusalPolicy { .undo }

  /// Returns `nil`, because only a ``MutableEntity`` can get another identifier.
  ///
  /// - Parameter identifier: The identifier.
  /// - Returns: `nil`.
  public func named(by identifier: EntityIdentifier<Self>) -> Self? { nil }

  /// None: the server's JSON is the coding of the type.
  public static var wireFields: [WireField<Self>] { [] }

  /// Whether ``wireFields`` has fields that the server does not have.
  public static var hasLocalFields: Bool { wireFields.contains(where: \.hasLocal) }

  /// Returns this entity of a server with the stored values of the fields that the server does not have.
  ///
  /// - Parameter stored: The stored version of the entity.
  /// - Returns: The entity to store.
  public func keepingLocalFields(of stored: Self) -> Self {
    var entity = self
    for field in Self.wireFields { field.keep?(&entity, stored) }
    return entity
  }

  /// A slash and the name of the type.
  public static var endpoint: APIPath { "/\(modelTypeName)" }

  /// Makes the request of a conventional API at ``endpoint``.
  ///
  /// There is none for several identifiers, for a removal by query, and for changes. A search reads all entities.
  ///
  /// - Parameter path: The operation.
  /// - Returns: The request; `nil` if a conventional API has none.
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

  /// Describes the whole content, to which Pando applies the query, because a search reads all entities.
  ///
  /// - Parameter path: The operation.
  /// - Returns: The description.
  public static func payload(for path: RemotePath<Self>) -> RemotePayload<Self> {
    var payload = RemotePayload<Self>.content
    payload.isFilteredHere = true
    return payload
  }

  /// Makes a decoder for dates as ISO 8601.
  ///
  /// - Returns: A new decoder.
  public static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }

  /// Makes an encoder for dates as ISO 8601, with sorted names.
  ///
  /// - Returns: A new encoder.
  public static func makeEncoder() -> JSONEncoder { APIBody.makeEncoder() }
}

/// How Pando treats a write to the store and the server that the server refuses.
///
/// ```swift
/// extension Draft: RemoteEntity {
///   static var refusalPolicy: RefusalPolicy { .keep }
/// }
/// ```
public enum RefusalPolicy: Sendable, Hashable {
  /// Pando restores the state without the write, in one commit.
  ///
  /// A value that the write changed, and no other write has changed since, gets its earlier value. This includes
  /// nodes inside the entity, and entities and lists that lost a removed one. Pando makes waiting requests again that
  /// would send the write. A value that the store can't restore stays, marked.
  case undo
  /// The write stays, and the `SynchronizationState` of its entities is `refused`.
  ///
  /// Until the request is sent again or dropped, no answer replaces the write.
  case keep
}

/// An entity of a server that a program can create and change.
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
  /// Returns this entity with another identifier.
  ///
  /// - Parameter id: The identifier that the server has assigned.
  /// - Returns: The same entity with that identifier.
  func withIdentifier(_ id: EntityIdentifier<Self>) -> Self
}

extension MutableEntity {
  /// ``withIdentifier(_:)``.
  ///
  /// - Parameter identifier: The identifier that the server has assigned.
  /// - Returns: The same entity with that identifier.
  public func named(by identifier: EntityIdentifier<Self>) -> Self? { withIdentifier(identifier) }
}
