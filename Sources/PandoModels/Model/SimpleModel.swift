/// A value that providers show and a store keeps, as a whole.
///
/// A model with an identifier is a node: whatever has the same identifier shows the same data. A
/// simple model's own parts are never nodes; conform to ``Model`` for trees of nodes. `Equatable` or
/// `Encodable` gives ``isEqual(to:)`` for nothing.
///
/// - Note: Models are immutable values, used from any thread.
public protocol SimpleModel: Sendable {
  /// What names this model among all others, of all types; `nil` if it belongs to the node around it.
  ///
  /// Identifiers are compared byte by byte, and an empty one is refused.
  var modelIdentifier: String? { get }

  /// The name under which a store keeps models of this type.
  ///
  /// By default the type's own name without module and outer types. Generic and local types have no
  /// such name (the default is empty, which a store refuses): declare one that never changes.
  static var modelTypeName: String { get }

  /// Whether another model shows the same as this one.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type.
  func isEqual(to other: any SimpleModel) -> Bool
}

extension SimpleModel {
  /// The type's own name without module and outer types; empty for generic and local types.
  public static var modelTypeName: String { ModelTypeName.defaultName(of: Self.self) }
}

extension SimpleModel where Self: Equatable {
  /// Compares by `==`.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type.
  @inlinable
  public func isEqual(to other: any SimpleModel) -> Bool { isSame(as: other) }

  /// Compares by `==`; looks at types first, which is several times faster than a cast.
  @inlinable
  func isSame<Other: SimpleModel>(as other: Other) -> Bool {
    if Other.self == Self.self { return self == (unsafe unsafeBitCast(other, to: Self.self)) }
    return isSameCast(as: other)
  }

  /// Compares by `==` with a model if a cast says that it has this type.
  @usableFromInline @inline(never)
  func isSameCast<Other: SimpleModel>(as other: Other) -> Bool {
    guard let other = other as? Self else { return false }
    return self == other
  }
}
