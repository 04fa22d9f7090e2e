import PandoStore

/// A change of a stored entity.
package final class EntityUpdate<E: Entity>: Sendable {
  package let identifier: EntityIdentifier<E>
  /// Two versions of the entity whose difference is the change.
  let replacement: (new: E, old: E)?
  private let body: @Sendable (inout E) throws -> Void
  /// Called in the transaction of the write, with the stored value.
  let then: (@Sendable (E, inout ModelTransaction) throws -> Void)?

  init(
    _ identifier: EntityIdentifier<E>, replacing replacement: (new: E, old: E)? = nil,
    _ body: @escaping @Sendable (inout E) throws -> Void,
    then: (@Sendable (E, inout ModelTransaction) throws -> Void)? = nil
  ) {
    self.identifier = identifier
    self.replacement = replacement
    self.body = body
    self.then = then
  }

  /// Applies the change; throws if it changes the identifier.
  func change(_ entity: inout E) throws {
    let identifier = entity.id
    try body(&entity)
    guard entity.id == identifier else {
      throw ManagerError(
        .conflict, identifier.modelIdentifier,
        "the update gave it the identifier \(entity.id.modelIdentifier); an identifier stays")
    }
  }
}
