import PandoSystem

/// The rules for names of model types.
package enum ModelTypeName {
  /// The longest name, in bytes: a name is a key in the store's `types` table, where keys have up to
  /// 511 bytes, and half of that is plenty for a name.
  package static let byteCountMaximum = 255

  /// The unqualified name of a type; empty if it is generic, local, or inside such a type.
  ///
  /// It is remembered: to make it takes as long as to read a few models.
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
    // A generic name has its arguments in angle brackets. A private type's name has one unknown
    // context before it, which is its file; a local type's has more, one inside the other.
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

  /// The name of a type, checked.
  ///
  /// - Throws: ``ModelError`` `unnamedType`, or `badTypeName` if a type gives itself a name that
  ///   can't be stored.
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
