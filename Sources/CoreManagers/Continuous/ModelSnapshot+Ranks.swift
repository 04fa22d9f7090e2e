import ModelCore
import StoreEngine

extension ModelSnapshot {
  /// Reads an entity with its place in the natural order.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The type; a node without a record of its own type is none of its entities.
  /// - Returns: `nil` if there is no such entity.
  /// - Throws: `ModelError` when it can't be decoded; `StoreError`.
  func ranked<E: Entity>(
    _ identifier: ByteString, as type: E.Type
  ) throws -> RankedEntity<E>? {
    guard let rank = try naturalRank(of: identifier.text),
      try typeNames(of: identifier.text).contains(where: {
        $0.hasSameBytes(as: E.modelTypeName)
      }), let entity = try model(identifier.text, as: type)
    else { return nil }
    return RankedEntity(entity, rank: rank)
  }

  /// Reads the entities that a query asks for, each with its place in the natural order.
  func ranked<E: Entity>(matching query: Query<E>) throws -> [RankedEntity<E>] {
    var all: [E] = []
    try forEachModel(of: E.self) { entity in
      all.append(entity)
      return true
    }
    return try query.apply(to: all).entities.map { entity in
      let rank = try naturalRank(of: entity.id.modelIdentifier)
      return RankedEntity(entity, rank: rank ?? .max)
    }
  }
}
