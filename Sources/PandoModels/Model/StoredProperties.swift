@_spi(Reflection) import Swift

/// The types of the stored properties of structures, from Swift's reflection data.
package enum StoredProperties {
  /// The type of a stored property, without optionals.
  ///
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - type: A structure, or an optional of one.
  /// - Returns: The type; `nil` if there is no such property, or the type is no structure.
  package static func type(of name: String, in type: Any.Type) -> Any.Type? {
    var found: Any.Type?
    let type = unwrapped(type)
    guard isStructure(type) else { return nil }
    _ = unsafe _forEachField(of: type) { key, _, type, _ in
      guard unsafe String(cString: key) == name else { return true }
      found = unwrapped(type)
      return false
    }
    return found
  }

  /// The type of the elements of a list, or of the values of a dictionary; `nil` for another type.
  package static func element(of type: Any.Type) -> Any.Type? {
    (unwrapped(type) as? any ElementContainer.Type).map { unwrapped($0.element) }
  }

  /// Whether a type is a structure: for enums and existentials the fields depend on the value.
  private static func isStructure(_ type: Any.Type) -> Bool {
    // In Swift's stable ABI, metadata begins with the kind of the type.
    unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 0x200
  }

  /// The type inside optionals.
  package static func unwrapped(_ type: Any.Type) -> Any.Type {
    var type = type
    while let optional = type as? any WrappingType.Type { type = optional.wrapped }
    return type
  }
}

/// An optional.
private protocol WrappingType {
  static var wrapped: Any.Type { get }
}

extension Optional: WrappingType {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}

/// A list, a set or a dictionary.
private protocol ElementContainer {
  static var element: Any.Type { get }
}

extension Array: ElementContainer {
  fileprivate static var element: Any.Type { Element.self }
}

extension Set: ElementContainer {
  fileprivate static var element: Any.Type { Element.self }
}

extension Dictionary: ElementContainer {
  fileprivate static var element: Any.Type { Value.self }
}
