public import PandoModels

/// Nodes by their typed keys.
extension Filter {
  /// Models with one of these keys.
  ///
  /// - Parameter keys: The keys; a key without a model has no effect.
  /// - Returns: The filter.
  public static func keys(_ keys: some Sequence<Key<E>>) -> Filter {
    identifiers(keys.map(\.rawValue))
  }

  /// Models with a given child, in any of their fields: see ``holds(_:)-(String)``.
  ///
  /// - Parameter key: The key of the child.
  /// - Returns: The filter.
  public static func holds<Child>(_ key: Key<Child>) -> Filter { holds(key.rawValue) }

  /// Children of a node, in any of its fields: see ``held(by:)-(String)``.
  ///
  /// - Parameter key: The key of the parent.
  /// - Returns: The filter.
  public static func held<Parent>(by key: Key<Parent>) -> Filter { held(by: key.rawValue) }

  /// Models with a given child in one field.
  ///
  /// ```swift
  /// let orders = Query(filter: .holds(\Order.customer, ada.key))
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: The place of the child in the model.
  ///   - key: The key of the child.
  /// - Returns: The filter.
  public static func holds<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child> & Sendable, _ key: Key<Child>
  ) -> Filter { holds(keyPath, key.rawValue) }

  /// Models with a given child in an optional field.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the child in the model.
  ///   - key: The key of the child.
  /// - Returns: The filter.
  public static func holds<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child?> & Sendable, _ key: Key<Child>
  ) -> Filter { holds(keyPath, key.rawValue) }

  /// Models with a given child in a list.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the list in the model.
  ///   - key: The key of the child.
  /// - Returns: The filter.
  public static func holds<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable, _ key: Key<List.Element>
  ) -> Filter where List.Element: SimpleModel { holds(keyPath, key.rawValue) }
}
