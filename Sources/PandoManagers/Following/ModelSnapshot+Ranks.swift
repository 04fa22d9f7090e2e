import PandoModels
import PandoStore
import PandoSystem

extension ModelSnapshot {
  /// Reads an entity with its rank in natural order.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The type.
  /// - Returns: `nil` if there is no such entity.
  /// - Throws: `ModelError` if it can't be decoded; `StoreError`.
  func ranked<E: Queryable>(
    _ identifier: ByteString, as type: E.Type
  ) throws -> RankedEntity<E>? {
    var childCount = 0
    return try entity(identifier.text, as: type, &childCount).map { try ranked($0) }
  }

  /// Reads the matches of a query, each with its rank in natural order.
  ///
  /// If the query skips records that can't be decoded, `skipped` receives them.
  func ranked<E: Queryable>(
    matching query: Query<E>, skipped: ([UndecodableRecord]) -> Void
  ) throws -> [RankedEntity<E>] {
    let result = try find(query)
    skipped(result.undecodable)
    return try result.entities.map { try ranked($0) }
  }

  /// A readable entity of a type as an example; `nil` if there is none.
  func example<E: Queryable>(of type: E.Type) -> E? {
    try? find(Query<E>(limit: 1).skippingUndecodable).entities.first
  }

  private func ranked<E: Queryable>(_ entity: E) throws -> RankedEntity<E> {
    RankedEntity(entity, rank: try naturalRank(of: entity.modelIdentifier ?? "") ?? .max)
  }
}
