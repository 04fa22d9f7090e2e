/// A node, or a value inside one, that can hold other models: a tree.
///
/// ```swift
/// struct Message: Model, Codable, Equatable {
///   var id: Int
///   var text: String
///   var author: Person  // a model too: stored once, and shown by all messages
///   var modelIdentifier: String? { "Message:\(id)" }
/// }
/// ```
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

/// A type whose values can hold children: models, and optionals, lists and maps of them.
///
/// ```swift
/// struct Team: KeyPathModel, Codable {
///   var id: Int
///   var lead: Person?
///   var members: [String: Person]
///   var modelIdentifier: String? { "Team:\(id)" }
///   static let children = Children(\Team.lead, \.members)  // two slots
/// }
/// ```
///
/// Key paths of a ``KeyPathModel`` lead to such values. There is no need to conform other types.
public protocol ChildSlot: SendableMetatype {
  /// Returns this value with every child in it replaced.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `nil` if what is around this value can't be without what was removed.
  func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self?

  /// Returns this value, an element of a list or map, with every child in it replaced.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `nil` if the element is removed.
  func mapElement(_ transform: (any Model) -> (any Model)?) -> Self?

  /// Does the same as ``mapSlot(_:)`` in place.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `false` if ``mapSlot(_:)`` returns `nil`; the value does not count any more then.
  mutating func replaceInSlot(_ transform: (any Model) -> (any Model)?) -> Bool

  /// Calls a closure with every child in this value.
  ///
  /// - Parameter visit: Called once for each place of a child.
  func forEachInSlot(_ visit: (any Model) -> Void)
}

extension ChildSlot {
  /// The same as ``mapSlot(_:)``.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `nil` if the element is removed.
  public func mapElement(_ transform: (any Model) -> (any Model)?) -> Self? { mapSlot(transform) }

  /// Puts what ``mapSlot(_:)`` returns in the place of this value.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `false` if it returns `nil`.
  public mutating func replaceInSlot(_ transform: (any Model) -> (any Model)?) -> Bool {
    guard let slot = mapSlot(transform) else { return false }
    self = slot
    return true
  }
}

extension Model {
  /// Replaces this model, which is the child.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it. A model of another type
  ///   replaces nothing.
  /// - Returns: `nil` if it was removed.
  public func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self? {
    guard let replacement = transform(self) else { return nil }
    return Self.unboxed(replacement) ?? self
  }

  /// A model if it has this type; a comparison of types is several times faster than a cast.
  private static func unboxed<Other: Model>(_ model: Other) -> Self? {
    if Other.self == Self.self { return unsafe unsafeBitCast(model, to: Self.self) }
    return model as? Self
  }

  /// Replaces this model, which is the child, in place.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it. A model of another type
  ///   replaces nothing.
  /// - Returns: `false` if it was removed.
  @inlinable
  public mutating func replaceInSlot(_ transform: (any Model) -> (any Model)?) -> Bool {
    guard let replacement = transform(self) else { return false }
    take(replacement)
    return true
  }

  /// Becomes a model that has this type.
  @inlinable
  mutating func take<Other: Model>(_ other: Other) {
    if Other.self == Self.self {
      self = unsafe unsafeBitCast(other, to: Self.self)
    } else {
      takeCast(other)
    }
  }

  /// Becomes another model if a cast says that it has this type.
  @usableFromInline @inline(never)
  mutating func takeCast<Other: Model>(_ other: Other) {
    if let other = other as? Self { self = other }
  }

  /// Calls a closure with this model.
  ///
  /// - Parameter visit: Called once.
  public func forEachInSlot(_ visit: (any Model) -> Void) { visit(self) }
}

extension Optional: ChildSlot where Wrapped: ChildSlot {
  /// Replaces the child, if there is one; a removed one becomes `nil`.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: Never the outer `nil`.
  public func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self? {
    .some(flatMap { $0.mapSlot(transform) })
  }

  /// Replaces the child, if there is one.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: The outer `nil` if the child was removed.
  public func mapElement(_ transform: (any Model) -> (any Model)?) -> Self? {
    guard let wrapped = self else { return .some(.none) }
    return wrapped.mapElement(transform).map { .some($0) }
  }

  /// Calls a closure with the child, if there is one.
  ///
  /// - Parameter visit: Called once for each place of a child.
  public func forEachInSlot(_ visit: (any Model) -> Void) {
    if let wrapped = self { wrapped.forEachInSlot(visit) }
  }
}

extension Array: ChildSlot where Element: ChildSlot {
  /// Replaces the children in the elements; an element that can't be without its child is removed.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: Never `nil`.
  public func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self? {
    compactMap { $0.mapElement(transform) }
  }

  /// Calls a closure with the children in the elements, in order.
  ///
  /// - Parameter visit: Called once for each place of a child.
  public func forEachInSlot(_ visit: (any Model) -> Void) {
    for element in self { element.forEachInSlot(visit) }
  }
}

extension Dictionary: ChildSlot where Key: Comparable, Value: ChildSlot {
  /// Replaces the children in the values; an entry that can't be without its child is removed.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: Never `nil`.
  public func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self? {
    compactMapValues { $0.mapElement(transform) }
  }

  /// Calls a closure with the children in the values, in the order of the keys.
  ///
  /// - Parameter visit: Called once for each place of a child.
  public func forEachInSlot(_ visit: (any Model) -> Void) {
    for entry in sorted(by: { $0.key < $1.key }) { entry.value.forEachInSlot(visit) }
  }
}
