import PandoModels
import PandoStore
import PandoSystem

extension ModelSnapshot {
  /// Reads an entity with its place in the natural order.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The type.
  /// - Returns: `nil` if there is no such entity.
  /// - Throws: `ModelError` when it can't be decoded; `StoreError`.
  func ranked<E: Queryable>(
    _ identifier: ByteString, as type: E.Type
  ) throws -> RankedEntity<E>? {
    var childCount = 0
    return try entity(identifier.text, as: type, &childCount).map { try ranked($0) }
  }

  /// Reads the entities that a query asks for, each with its place in the natural order.
  ///
  /// `skipped` takes the records that can't be decoded, of a query that skips them.
  func ranked<E: Queryable>(
    matching query: Query<E>, skipped: ([UndecodableRecord]) -> Void
  ) throws -> [RankedEntity<E>] {
    let result = try entities(matching: query)
    skipped(result.undecodable)
    return try result.entities.map { try ranked($0) }
  }

  /// Some entity of a type, to see what such entities are like; `nil` if there is none that can be read.
  func example<E: Queryable>(of type: E.Type) -> E? {
    try? entities(matching: Query<E>(limit: 1).skippingUndecodable).entities.first
  }

  private func ranked<E: Queryable>(_ entity: E) throws -> RankedEntity<E> {
    RankedEntity(entity, rank: try naturalRank(of: entity.modelIdentifier ?? "") ?? .max)
  }
}
