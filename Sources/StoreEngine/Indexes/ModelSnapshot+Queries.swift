import LMDB
package import ModelCore

extension ModelSnapshot {
  /// Returns the models of a query's result, in its order.
  ///
  /// `computing` finds the value of a computed field in a model.
  package func models<M: SimpleModel & Decodable>(
    of type: M.Type, matching query: RecordQuery, computing: (Int, M) throws -> QueryValue
  ) throws -> [M] {
    var run = try QueryRun(query, reader)
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    func decoded(_ match: QueryMatch) throws -> M {
      do {
        // The snapshot lives, and nobody changes anything meanwhile.
        if let body = unsafe match.body { return try unsafe source.decode(type, from: body) }
        return try source.model(match.node, as: type)
      } catch let error as ModelError {
        throw error.about(
          identifier: try reader.identifier(of: match.node), typeName: query.typeName)
      }
    }
    // Several fields of one record are asked for one after another.
    var last: (node: UInt64, model: M)?
    let matches = try run.find(reader) { number, node in
      if let last, last.node == node { return try computing(number, last.model) }
      let model = try decoded(QueryMatch(node: node))
      last = (node, model)
      return try computing(number, model)
    }
    var models: [M] = []
    models.reserveCapacity(matches.count)
    for match in matches { models.append(try decoded(match)) }
    return models
  }

  /// Returns the model of a node that has a record of the type; `nil` if there is none.
  package func recordedModel<M: SimpleModel & Decodable>(
    _ identifier: String, as type: M.Type
  ) throws -> M? {
    guard let node = try reader.node(identifier),
      let number = try reader.directory.number(of: type, in: reader),
      try reader.hasRecord(RecordKey(type: number, node: node))
    else { return nil }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    do {
      return try source.model(node, as: type)
    } catch let error as ModelError {
      throw error.about(identifier: identifier, typeName: try reader.directory.name(of: type))
    }
  }

  /// Returns the identifiers of the nodes that a query without computed fields finds, in its order.
  package func identifiers(matching query: RecordQuery) throws -> [String] {
    var run = try QueryRun(query, reader)
    let matches = try run.find(reader) { number, _ in
      preconditionFailure("field \(number) is computed, and nobody computes it")
    }
    return try matches.map { try reader.identifier(of: $0.node) }
  }

  /// Says how a query is answered.
  package func plan(for query: RecordQuery) throws -> QueryPlan { try QueryRun(query, reader).plan }
}
