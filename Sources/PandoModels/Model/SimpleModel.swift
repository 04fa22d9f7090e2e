import PandoSystem

/// A value that providers show and a store keeps as a whole.
///
/// ```swift
/// struct Setting: SimpleModel, Codable, Equatable {
///   var name: String
///   var value: String
///   var modelIdentifier: String? { "Setting:\(name)" }
/// }
/// ```
///
/// A model with an identifier is a node: all models with the same identifier show the same data.
/// Parts of a simple model are never nodes; conform to ``Model`` for trees of nodes. For an
/// `Equatable` or `Encodable` type, ``isEqual(to:)`` has a default.
///
/// - Note: Models are immutable values, used from any thread.
public protocol SimpleModel: Sendable, FieldHistory {
  /// The node's identifier, unique across all types; `nil` if the model belongs to an outer node.
  ///
  /// Identifiers are compared byte by byte; an empty one is an error.
  var modelIdentifier: String? { get }

  /// The name under which a store keeps models of this type.
  ///
  /// By default, the type's own name without module and outer types. For generic and local types
  /// the default is empty, which a store refuses: declare a constant name.
  static var modelTypeName: String { get }

  /// Whether another model has the same data as this one.
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

  /// Compares by `==`; checks the types first, which is several times faster than a cast.
  @inlinable
  func isSame<Other: SimpleModel>(as other: Other) -> Bool {
    if Other.self == Self.self { return self == (unsafe unsafeBitCast(other, to: Self.self)) }
    return isSameCast(as: other)
  }

  /// Compares by `==` with a model if a cast to this type succeeds.
  @usableFromInline @inline(never)
  func isSameCast<Other: SimpleModel>(as other: Other) -> Bool {
    guard let other = other as? Self else { return false }
    return self == other
  }
}

// Decides between the extension above and that of PandoRecords for `Encodable` types.
extension SimpleModel where Self: Encodable & Equatable {
  /// Compares by `==`.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type.
  @inlinable
  public func isEqual(to other: any SimpleModel) -> Bool { isSame(as: other) }
}

/// The rules for names of model types.
package enum ModelTypeName {
  /// The most bytes of a name, a key in the store's `types` table: keys have up to 511 bytes, and
  /// half is sufficient.
  package static let byteCountMaximum = 255

  /// The unqualified name of a type; empty if it is generic, local, or inside such a type.
  ///
  /// Names are cached: making one takes as long as reading several models.
  static func defaultName(of type: any SimpleModel.Type) -> String {
    let identity = ObjectIdentifier(type)
    if let name = defaultNames.withLock({ $0[identity] }) { return name }
    let name = makeDefaultName(of: type)
    defaultNames.withLock { $0[identity] = name }
    return name
  }

  private static let defaultNames = Locked<[ObjectIdentifier: String]>([:])

  private static func makeDefaultName(of type: any SimpleModel.Type) -> String {
    let qualified = _typeName(type, qualified: true)
    // A generic name contains its arguments in angle brackets. A private type's name has one
    // unknown context, its file; a local type's has nested ones.
    if qualified.contains("<") || isLocal(qualified) { return "" }
    return _typeName(type, qualified: false)
  }

  private static func isLocal(_ qualified: String) -> Bool {
    let contexts = qualified.split(separator: ".")
    return zip(contexts, contexts.dropFirst()).contains {
      $0.hasPrefix(unknown) && $1.hasPrefix(unknown)
    }
  }

  private static let unknown = "(unknown context"

  /// The checked name of a type.
  ///
  /// - Throws: ``ModelError`` `unnamedType`, or `badTypeName` if the type's own name can't be
  ///   stored.
  package static func validated(_ type: any SimpleModel.Type) throws -> String {
    let name = type.modelTypeName
    guard !name.isEmpty else {
      throw ModelError(
        .unnamedType, typeName: _typeName(type, qualified: false),
        reason: "is generic or local, so it needs a `static var modelTypeName` of its own")
    }
    try validate(name)
    return name
  }

  /// Checks a name.
  ///
  /// - Throws: ``ModelError`` `badTypeName`.
  package static func validate(_ name: String) throws {
    let count = name.utf8.count
    guard count > 0 else {
      throw ModelError(.badTypeName, typeName: name, reason: "a type name can't be empty")
    }
    guard count <= byteCountMaximum else {
      throw ModelError(
        .badTypeName, typeName: name,
        reason: "a type name has at most \(byteCountMaximum) bytes, this one has \(count)")
    }
    guard name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw ModelError(
        .badTypeName, typeName: name, reason: "a type name can't hold control characters")
    }
  }
}
