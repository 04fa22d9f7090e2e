import PandoModels

/// An entity that is kept here: in memory, and on disk if it is a ``PersistentEntity``.
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
public protocol PersistentEntity: LocalEntity {}
