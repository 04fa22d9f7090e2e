import PandoLMDB
package import PandoModels

extension ModelSnapshot {
  /// Returns the models of a query's result, in its order.
  ///
  /// `computing` finds the value of a computed field in a model.
  package func models<M: SimpleModel & Decodable>(
    of type: M.Type, matching query: RecordQuery, computing: (Int, M) throws -> QueryValue
  ) throws -> [M] {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    return try source.models(of: type, matching: query, reader, computing: computing)
  }

  /// Returns the model of a node that has a record of the type, alone in a list; an empty list if there is
  /// none.
  package func recordedModels<M: SimpleModel & Decodable>(
    _ identifier: String, as type: M.Type
  ) throws -> [M] {
    var childCount = 0
    guard let model = try recordedModel(identifier, as: type, &childCount) else { return [] }
    return [model]
  }

  /// Returns the model of a node that has a record of the type; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - type: The type.
  ///   - childCount: Set to how many nodes were read for it beside its own.
  /// - Returns: The model.
  /// - Throws: As ``model(_:as:)``.
  package func recordedModel<M: SimpleModel & Decodable>(
    _ identifier: String, as type: M.Type, _ childCount: inout Int
  ) throws -> M? {
    var source = SnapshotSource.begin(reader)
    defer {
      childCount = unsafe source.childCount
      SnapshotSource.end(&source)
    }
    guard let node = try source.node(identifier), let number = try source.number(of: type),
      let body = try unsafe source.body(of: RecordKey(type: number, node: node))
    else { return nil }
    do {
      return try unsafe source.decode(type, from: body)
    } catch let error as ModelError {
      throw error.about(identifier: identifier, typeName: try reader.directory.name(of: type))
    }
  }

  /// Returns the identifiers of the nodes that a query without computed fields finds, in its order.
  package func identifiers(matching query: RecordQuery) throws -> [String] {
    var run = try QueryRun(query, reader)
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    let matches = try run.find(reader, source, computing: QueryRun.computingNothing())
    return try matches.map { try reader.identifier(of: $0.node) }
  }

  /// Says how a query is answered.
  package func plan(for query: RecordQuery) throws -> QueryPlan { try QueryRun(query, reader).plan }
}

extension SnapshotSource {
  /// The models of a query's result, in its order.
  fileprivate func models<M: SimpleModel & Decodable>(
    of type: M.Type, matching query: RecordQuery, _ reader: borrowing StoreReader,
    computing: (Int, M) throws -> QueryValue
  ) throws -> [M] {
    var run = try QueryRun(query, reader)
    // Several fields of one record are asked for one after another.
    var last: (node: UInt64, model: M)?
    let matches = try run.find(reader, self) { number, node in
      if let last, last.node == node { return try computing(number, last.model) }
      let model = try decoded(QueryMatch(node: node), as: type, matching: query)
      last = (node, model)
      return try computing(number, model)
    }
    var models: [M] = []
    models.reserveCapacity(matches.count)
    for match in matches { models.append(try decoded(match, as: type, matching: query)) }
    return models
  }

  private func decoded<M: SimpleModel & Decodable>(
    _ match: QueryMatch, as type: M.Type, matching query: RecordQuery
  ) throws -> M {
    do {
      // The snapshot lives, and nobody changes anything meanwhile.
      if let body = unsafe match.body { return try unsafe decode(type, from: body) }
      return try model(match.node, as: type)
    } catch let error as ModelError {
      let reference = RecordReference(node: match.node, type: 0)
      guard let identifier = identifier(of: reference) else { throw error }
      throw error.about(identifier: identifier, typeName: query.typeName)
    }
  }
}
