/// A node, or a value inside one, that can hold other models: a tree.
///
/// A child is a model directly inside this one: in a property, an optional, a list or a map, or in a
/// plain value that is no model. There are three ways to say what the children are:
///
/// - nothing at all: a `Codable` model's children are found through its coding;
/// - one line of key paths: conform to ``KeyPathModel``;
/// - ``map(_:)`` and ``forEach(_:)`` by hand.
///
/// All three give the same trees.
public protocol Model: SimpleModel, ChildSlot {
  /// Returns a copy with every child replaced; grandchildren are left alone.
  ///
  /// A child without which this model can't be takes it along. An optional child becomes `nil`, an
  /// element of a list and an entry of a map are removed.
  ///
  /// - Parameter transform: Returns what replaces a child, of the same type; `nil` to remove it.
  /// - Returns: `nil` if a required child was removed.
  func map(_ transform: (any Model) -> (any Model)?) -> Self?

  /// Does the same as ``map(_:)`` for callers that don't know the type.
  ///
  /// There is no need to implement it: it is there so that the compiler makes it for each type, which
  /// is several times faster than what is made for all.
  ///
  /// - Parameter transform: Returns what replaces a child, of the same type; `nil` to remove it.
  /// - Returns: What ``map(_:)`` returns.
  func mapAny(_ transform: (any Model) -> (any Model)?) -> (any Model)?

  /// Calls a closure with every child, in order; not with grandchildren.
  ///
  /// - Parameter visit: Called once for each place of a child.
  func forEach(_ visit: (any Model) -> Void)

  /// Takes the data of a newer model with the same identifier.
  ///
  /// The default returns `other` if it has this type. From another type, fields of the same name flow
  /// into this model and all others stay; a field that this type can't take keeps its value.
  ///
  /// - Parameter other: The newer model, of any type.
  /// - Returns: A model of this type.
  func merge(_ other: any Model) -> any Model
}

extension Model {
  /// Calls ``map(_:)``.
  ///
  /// - Parameter transform: Returns what replaces a child, of the same type; `nil` to remove it.
  /// - Returns: What ``map(_:)`` returns.
  @inlinable
  public func mapAny(_ transform: (any Model) -> (any Model)?) -> (any Model)? { map(transform) }
}
