import PandoModels

/// A value that names a model: a `Key` or an optional `Key`.
///
/// ``Related`` finds the models that name an entity by such a field.
///
/// ```swift
/// @Model struct Comment {
///   @Key var id: Int
///   @Indexed var post: Key<Post>
/// }
/// let counted = try store.find(Query<Post>.all, with: .answer(.count, by: \Comment.post))
/// ```
public protocol ModelReference<Node>: QueryRepresentable, Hashable, Sendable {
  /// The type of the named model.
  associatedtype Node
}

extension Key: ModelReference {}

extension Optional: ModelReference where Wrapped: ModelReference {
  /// The type of the model that the value names.
  public typealias Node = Wrapped.Node
}
