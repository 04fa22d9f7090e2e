import PandoModels
import PandoRecords
public import PandoStore

/// A model with a typed identifier that a core manager reads, writes and follows.
///
/// A `Codable` struct conforms with one line:
///
/// ```swift
/// struct Book: PersistentEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
///   var year: Int
///   static let fields: [Field<Book>] = [.indexed(\.title), .field(\.year)]
/// }
/// ```
/// An entity is a model: it can be a child in a tree, and a provider can show it. A model without a typed
/// identifier can conform to `Queryable` instead.
public protocol Entity: Queryable, FormerEntityStores {
  /// The type of the server's keys; `String` by default.
  associatedtype RemoteID: EntityKey = String

  /// The identifier, unique in its type.
  var id: EntityIdentifier<Self> { get }

  /// The fields with identifiers of other entities; none by default.
  static var relationships: [EntityRelationship<Self>] { get }

  /// The first part of the nodes' identifiers; the name of the type by default.
  ///
  /// Entity types with one namespace show the same nodes:
  ///
  /// ```swift
  /// struct IssueCard: PersistentEntity {
  ///   static let identifierNamespace = "Issue"
  ///   var id: EntityIdentifier<IssueCard>
  ///   var title: String
  /// }
  /// ```
  /// A node that was set as another type of the namespace is also found and followed as this type, read from
  /// its newest record. If it lacks a required field of this type, it is not. Each query decodes all such
  /// nodes. A node that was set as this type has its own record, and indexes. Removing a node as one type
  /// removes it for all. A process must have used the other types, except the one named like the namespace.
  static var identifierNamespace: String { get }

  /// Makes the stores of this type in a container.
  ///
  /// By default a local entity is in memory, a persistent one in memory and on disk, a remote one on a
  /// server.
  ///
  /// - Parameter configuration: The options of the container.
  /// - Returns: The stores, in any order.
  static func stores(with configuration: StackConfiguration) -> [any Storing<Self>]
}

extension Entity {
  /// The namespace, a colon and the text of ``id``.
  public var modelIdentifier: String? { id.modelIdentifier }

  /// No relationships.
  public static var relationships: [EntityRelationship<Self>] { [] }

  /// The name of the type.
  public static var identifierNamespace: String { modelTypeName }

  /// The type of ``id``.
  public static var identifierType: (any QueryRepresentable.Type)? { EntityIdentifier<Self>.self }
}

/// An entity in local stores: in memory, and on disk if it is a ``PersistentEntity``.
///
/// ```swift
/// struct Draft: LocalEntity {  // in memory only
///   var id: EntityIdentifier<Draft>
///   var text: String
///   var version: Int
///   func shouldOverwrite(with new: Draft) -> Bool { new.version > version }
/// }
/// ```
/// The `cacheLimit` of a container does not limit a type without a disk, because its entities are nowhere
/// else. If old entities may be lost, the type sets a limit:
///
/// ```swift
/// static func stores(with configuration: StackConfiguration) -> [any Storing<Draft>] {
///   [LRUStore(store: InMemoryStore(), limit: configuration.cacheLimit)]
/// }
/// ```
public protocol LocalEntity: Entity {
  /// Whether to write a new value of this entity; by default whether it differs.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: Whether ``merging(_:)`` changes this value.
  func shouldOverwrite(with new: Self) -> Bool

  /// The value to store if a new value arrives.
  ///
  /// By default the new value, with its unrequested ``Lazy`` fields taken from this one.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: The value to store.
  func merging(_ new: Self) -> Self
}

extension LocalEntity {
  /// Whether the new value, merged, differs from this one.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: Whether there is something to store.
  public func shouldOverwrite(with new: Self) -> Bool { self != new && self != merging(new) }

  /// The new value, with its unrequested ``Lazy`` fields taken from this one.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: The value to store.
  public func merging(_ new: Self) -> Self {
    guard LazyFields.areMissing(in: new) else { return new }
    // An unrequested field is absent from the bytes, so the merge keeps the stored one.
    return ModelChildren.complete(new, from: self)
  }
}

/// An entity that is stored on disk and cached in memory.
///
/// ```swift
/// struct Book: PersistentEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
///   static let fields: [Field<Book>] = [.indexed(\.title)]
/// }
/// ```
public protocol PersistentEntity: LocalEntity {}

/// An entity that a server has too: see `RemoteEntity` in `PandoRemote`.
///
/// Its stores keep sequence numbers, because answers may arrive late.
///
/// ```swift
/// struct Book: PersistentEntity, RemoteEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
/// }
/// ```
public protocol ServedEntity: Entity {
  /// The entity with the identifier that the server has assigned.
  ///
  /// - Parameter identifier: The identifier.
  /// - Returns: The renamed entity; `nil` if the type is no `MutableEntity`.
  func named(by identifier: EntityIdentifier<Self>) -> Self?

  /// Whether the entity, or one that it contains, has fields that the server does not have.
  static var hasLocalFields: Bool { get }

  /// The entity of a server, with the stored values of fields that the server does not have.
  ///
  /// - Parameter stored: The stored value of the entity.
  /// - Returns: The value to store.
  func keepingLocalFields(of stored: Self) -> Self
}
