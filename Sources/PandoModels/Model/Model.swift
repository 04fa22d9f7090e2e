/// A node, or a value inside one, that can contain other models: a tree.
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
/// A child is a model directly inside this one: in a property, an optional, a list, a map, or a
/// plain value. A type declares its children in one of three ways:
///
/// - no declaration: a `Codable` model's children are found through its coding;
/// - one line of key paths: conform to ``KeyPathModel``;
/// - ``map(_:)`` and ``forEach(_:)`` by hand.
///
/// All three result in the same trees.
public protocol Model: SimpleModel, ChildSlot {
  /// Returns a copy with every child replaced, but not grandchildren.
  ///
  /// A model that requires a removed child is removed, too. A removed optional child becomes `nil`;
  /// elements of lists and entries of maps are removed.
  ///
  /// - Parameter transform: Returns the replacement of a child, of the same type; `nil` removes it.
  /// - Returns: `nil` if a required child was removed.
  func map(_ transform: (any Model) -> (any Model)?) -> Self?

  /// Same as ``map(_:)`` for callers without the static type.
  ///
  /// No implementation is needed: as a requirement it is compiled for each type, which is several
  /// times faster than generic code.
  ///
  /// - Parameter transform: Returns the replacement of a child, of the same type; `nil` removes it.
  /// - Returns: The result of ``map(_:)``.
  func mapAny(_ transform: (any Model) -> (any Model)?) -> (any Model)?

  /// Calls a closure with every child, in order, but not with grandchildren.
  ///
  /// - Parameter visit: Called once for each place of a child.
  func forEach(_ visit: (any Model) -> Void)

  /// Returns this model with the data of a newer one that has the same identifier.
  ///
  /// The default returns `other` if it has this type. From another type, it copies the values of
  /// fields with the same name; fields that this type can't decode keep their values.
  ///
  /// - Parameter other: The newer model, of any type.
  /// - Returns: A model of this type.
  func merge(_ other: any Model) -> any Model
}

extension Model {
  /// Calls ``map(_:)``.
  ///
  /// - Parameter transform: Returns the replacement of a child, of the same type; `nil` removes it.
  /// - Returns: The result of ``map(_:)``.
  @inlinable
  public func mapAny(_ transform: (any Model) -> (any Model)?) -> (any Model)? { map(transform) }
}

/// A type whose values can contain children: models, and optionals, lists and maps of them.
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
/// Key paths of a ``KeyPathModel`` lead to such values. Other types need not conform.
public protocol ChildSlot: SendableMetatype {
  /// Returns this value with every child in it replaced.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `nil` if the surrounding value requires a removed child.
  func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self?

  /// Returns this value, an element of a list or map, with every child in it replaced.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `nil` if the element is removed.
  func mapElement(_ transform: (any Model) -> (any Model)?) -> Self?

  /// Same as ``mapSlot(_:)``, but in place.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `false` if ``mapSlot(_:)`` returns `nil`; the value is then undefined.
  mutating func replaceInSlot(_ transform: (any Model) -> (any Model)?) -> Bool

  /// Calls a closure with every child in this value.
  ///
  /// - Parameter visit: Called once for each place of a child.
  func forEachInSlot(_ visit: (any Model) -> Void)
}

extension ChildSlot {
  /// Same as ``mapSlot(_:)``.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `nil` if the element is removed.
  public func mapElement(_ transform: (any Model) -> (any Model)?) -> Self? { mapSlot(transform) }

  /// Replaces this value with the result of ``mapSlot(_:)``.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `false` if the result is `nil`.
  public mutating func replaceInSlot(_ transform: (any Model) -> (any Model)?) -> Bool {
    guard let slot = mapSlot(transform) else { return false }
    self = slot
    return true
  }
}

extension Model {
  /// Replaces this model, which is the child.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it. A model of
  ///   another type is ignored.
  /// - Returns: `nil` if it was removed.
  public func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self? {
    guard let replacement = transform(self) else { return nil }
    return Self.unboxed(replacement) ?? self
  }

  /// A model, if it has this type; comparing types is several times faster than a cast.
  private static func unboxed<Other: Model>(_ model: Other) -> Self? {
    if Other.self == Self.self { return unsafe unsafeBitCast(model, to: Self.self) }
    return model as? Self
  }

  /// Replaces this model, which is the child, in place.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it. A model of
  ///   another type is ignored.
  /// - Returns: `false` if it was removed.
  @inlinable
  public mutating func replaceInSlot(_ transform: (any Model) -> (any Model)?) -> Bool {
    guard let replacement = transform(self) else { return false }
    take(replacement)
    return true
  }

  /// Assigns a model of this type.
  @inlinable
  mutating func take<Other: Model>(_ other: Other) {
    if Other.self == Self.self {
      self = unsafe unsafeBitCast(other, to: Self.self)
    } else {
      takeCast(other)
    }
  }

  /// Assigns another model if a cast to this type succeeds.
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
  /// Replaces the child, if any; a removed one becomes `nil`.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: Never the outer `nil`.
  public func mapSlot(_ transform: (any Model) -> (any Model)?) -> Self? {
    .some(flatMap { $0.mapSlot(transform) })
  }

  /// Replaces the child, if any.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: The outer `nil` if the child was removed.
  public func mapElement(_ transform: (any Model) -> (any Model)?) -> Self? {
    guard let wrapped = self else { return .some(.none) }
    return wrapped.mapElement(transform).map { .some($0) }
  }

  /// Calls a closure with the child, if any.
  ///
  /// - Parameter visit: Called once for each place of a child.
  public func forEachInSlot(_ visit: (any Model) -> Void) {
    if let wrapped = self { wrapped.forEachInSlot(visit) }
  }
}

extension Array: ChildSlot where Element: ChildSlot {
  /// Replaces the children in the elements; elements that require a removed child are removed.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
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
  /// Replaces the children in the values; entries that require a removed child are removed.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it.
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
