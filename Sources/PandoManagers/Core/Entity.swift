import PandoModels
import PandoStore

/// A model with a typed identifier that managers keep, find and follow.
///
/// A plain `Codable` struct and one line:
///
/// ```swift
/// struct Book: PersistentEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
///   var year: Int
///   static let fields: [EntityField<Book>] = [.indexed(\.title), .field(\.year)]
/// }
/// ```
/// An entity is a model: it can be a child in a tree, and a provider can show it.
public protocol Entity: Queryable, FormerEntityStores {
  /// What the server names entities of this type by; `String` unless declared.
  associatedtype RemoteID: EntityKey = String

  /// What names this entity among those of its type.
  var id: EntityIdentifier<Self> { get }

  /// The identifiers of other entities that this type holds; none unless declared.
  static var relationships: [EntityRelationship<Self>] { get }

  /// What the identifiers of nodes begin with: the name of the type unless declared.
  ///
  /// Two entity types that declare the same one show the same nodes:
  ///
  /// ```swift
  /// struct IssueCard: PersistentEntity {
  ///   static let identifierNamespace = "Issue"
  ///   var id: EntityIdentifier<IssueCard>
  ///   var title: String
  /// }
  /// ```
  /// A node that was set as another type of the namespace is found and followed as this one too, read from
  /// its newest record; one that lacks what this type requires is not. All such nodes are decoded by each
  /// query, whatever it asks for; what was set as this type has a record of its own, and indexes. A node
  /// that is removed as one type is gone as each. Other types are known once this process has used
  /// them; the one that bears the name of the namespace always is.
  static var identifierNamespace: String { get }

  /// Makes the stores of this type in a container.
  ///
  /// By default a local entity is kept in memory, a persistent one in memory and on disk, and a remote
  /// one asked for at the server besides.
  ///
  /// - Parameter configuration: What the container has been made with.
  /// - Returns: The stores, in any order.
  static func stores(with configuration: StackConfiguration) -> [any Storing<Self>]
}

extension Entity {
  /// The namespace, a colon and the text of ``id``.
  public var modelIdentifier: String? { id.modelIdentifier }

  /// None.
  public static var relationships: [EntityRelationship<Self>] { [] }

  /// The name of the type.
  public static var identifierNamespace: String { modelTypeName }
}

/// An entity that is kept here: in memory, and on disk if it is a ``PersistentEntity``.
///
/// ```swift
/// struct Draft: LocalEntity {  // in memory only
///   var id: EntityIdentifier<Draft>
///   var text: String
///   var version: Int
///   func shouldOverwrite(with new: Draft) -> Bool { new.version > version }
/// }
/// ```
/// An entity in memory only has no other place, so the `cacheLimit` of a container does not limit its type.
/// A type of which old entities may be lost says so itself:
///
/// ```swift
/// static func stores(with configuration: StackConfiguration) -> [any Storing<Draft>] {
///   [LRUStore(store: InMemoryStore(), limit: configuration.cacheLimit)]
/// }
/// ```
public protocol LocalEntity: Entity {
  /// Whether a new value of this entity is worth a write; by default whether it is different.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: Whether ``merging(_:)`` gives something to store.
  func shouldOverwrite(with new: Self) -> Bool

  /// What is stored when a new value comes.
  ///
  /// By default the new value, with the ``Lazy`` fields that it did not request taken from this one.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: The value to store.
  func merging(_ new: Self) -> Self
}

extension LocalEntity {
  /// Whether the new value, merged, is different from this one.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: Whether there is something to store.
  public func shouldOverwrite(with new: Self) -> Bool { self != new && self != merging(new) }

  /// The new value, with the ``Lazy`` fields that it did not request taken from this one.
  ///
  /// - Parameter new: A value with the same identifier.
  /// - Returns: The value to store.
  public func merging(_ new: Self) -> Self {
    guard LazyFields.areMissing(in: new) else { return new }
    // A field that was not requested is absent from the bytes, and so keeps what is there.
    return ModelChildren.complete(new, from: self)
  }
}

/// An entity that is kept on disk, and in memory while it is in use.
///
/// ```swift
/// struct Book: PersistentEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
///   static let fields: [EntityField<Book>] = [.indexed(\.title)]
/// }
/// ```
public protocol PersistentEntity: LocalEntity {}

/// An entity that a server keeps, too: `RemoteEntity` in `PandoRemote` is one.
///
/// What is stored here then has to be known by its age, because answers may come late.
///
/// ```swift
/// struct Book: PersistentEntity, RemoteEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
/// }
/// ```
public protocol ServedEntity: Entity {
  /// This entity under the identifier that the server has given.
  ///
  /// - Parameter identifier: The identifier.
  /// - Returns: The same entity, named so; `nil` if the type is no `MutableEntity`.
  func named(by identifier: EntityIdentifier<Self>) -> Self?

  /// Whether the server does not know all of its fields, or of those of entities that it holds.
  static var hasLocalFields: Bool { get }

  /// This entity, as a server has sent it, with what the server does not know as it is here.
  ///
  /// - Parameter stored: The same entity as it is stored here.
  /// - Returns: The entity to store.
  func keepingLocalFields(of stored: Self) -> Self
}
