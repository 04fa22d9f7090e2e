/// A local store that gives an entity on the caller's thread, without waiting and without a query.
///
/// Such a read costs little more than one of the memory or the model store beneath.
protocol DirectStoring<E>: Storing {
  /// Returns an entity.
  ///
  /// - Parameter identifier: Its identifier.
  /// - Returns: The entity, or what is known of it.
  /// - Throws: What ``Storing/get(withQuery:in:)`` would throw.
  func directAnswer(_ identifier: EntityIdentifier<E>) throws -> DirectAnswer<E>
}

/// What a store can say of an entity without waiting.
indirect enum DirectAnswer<E: Entity> {
  /// It is there.
  case found(E)
  /// It is not there.
  case absent
  /// The store has to be asked by ``Storing/get(withQuery:in:)``.
  case unknown
}
