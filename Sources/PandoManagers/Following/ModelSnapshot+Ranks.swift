import PandoModels
import PandoSystem
import PandoStore

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
    guard query.nodeIdentifiers == nil, try isArranged(E.modelTypeName) else {
      let result = try entities(matching: query)
      skipped(result.undecodable)
      return try result.entities.map { try ranked($0) }
    }
    // A server has said in which order they stand.
    let query = try resolved(query)
    let result = try entities(matching: query.unordered)
    skipped(result.undecodable)
    let all = try result.entities.map { try ranked($0) }.ordered { $0.rank < $1.rank }
    let ranks = Dictionary(all.map { ($0.identifier, $0.rank) }) { first, _ in first }
    return try query.apply(to: all.map(\.entity)).entities.map { entity in
      RankedEntity(entity, rank: ranks[ByteString(entity.modelIdentifier ?? "")] ?? .max)
    }
  }

  /// Some entity of a type, to see what such entities are like; `nil` if there is none that can be read.
  func example<E: Queryable>(of type: E.Type) -> E? {
    try? entities(matching: Query<E>(limit: 1).skippingUndecodable).entities.first
  }

  private func ranked<E: Queryable>(_ entity: E) throws -> RankedEntity<E> {
    RankedEntity(entity, rank: try naturalRank(of: entity.modelIdentifier ?? "") ?? .max)
  }
}
