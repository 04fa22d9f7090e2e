import PandoLMDB
package import PandoModels
import PandoRecords

extension ModelSnapshot {
  /// Returns the models of a query's result, in its order.
  ///
  /// `computing` returns the value of a computed field of a model. If `skipped` is given, it
  /// receives the undecodable records, and the result is that of a store without them.
  package func models<M: SimpleModel & Decodable>(
    of type: M.Type, matching query: RecordQuery, skipped: ((UndecodableRecord) -> Void)? = nil,
    computing: (Int, M) throws -> QueryValue
  ) throws -> [M] {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    var bad = SkippedRecords(isOn: skipped != nil)
    guard let skipped else {
      return try source.models(
        of: type, matching: query, reader, skipping: &bad, computing: computing)
    }
    let offset = query.offset
    var query = query
    // The records before the window have to be read, too.
    (query.offset, query.limit) = (0, query.limit.map { _ in query.target })
    var models = try source.models(
      of: type, matching: query, reader, skipping: &bad, computing: computing)
    if !bad.records.isEmpty, query.hasWindow {
      // The records that replace them in the window have to be found, and more may be undecodable.
      var all = query
      (all.limit, all.uniqueBy, all.order) = (nil, [], [])
      _ = try source.models(of: type, matching: all, reader, skipping: &bad, computing: computing)
      models = try source.models(
        of: type, matching: query, reader, skipping: &bad, computing: computing)
    }
    for record in bad.records { skipped(record) }
    return offset > 0 ? Array(models.dropFirst(offset)) : models
  }

  /// Returns a list of the model of a node that has a record of the type; empty if there is none.
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
  ///   - childCount: Set to the number of other nodes that were read for it.
  /// - Returns: The model.
  /// - Throws: As ``get(_:as:)``.
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

  /// Returns the identifiers of the result of a query without computed fields, in its order.
  package func identifiers(matching query: RecordQuery) throws -> [String] {
    var run = try QueryRun(query, reader, .nodes)
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    let matches = try run.find(reader, source, computing: QueryRun.computingNothing())
    return try matches.map { try reader.identifier(of: $0.node) }
  }

  /// Returns the plan of a query.
  package func plan(for query: RecordQuery) throws -> QueryPlan { try QueryRun(query, reader).plan }

  /// Returns the plan of a question about the records of a query.
  package func plan(for question: RecordQuestion, to query: RecordQuery) throws -> QueryPlan {
    if let parts = try AnswerRun.shortParts(of: question, query, reader), let first = parts.first {
      var plan = try AnswerRun.run(first, query, reader).plan
      plan.reading = .indexRows
      return plan
    }
    let run = try AnswerRun.run(question, query, reader)
    var plan = run.plan
    if plan.reading == .models {
      plan.reading = question.fields.isEmpty && run.hasExactNodes ? .indexRows : .recordFields
    }
    return plan
  }

  /// Answers a question about the result of a query without computed fields.
  package func answer(
    _ question: RecordQuestion, to query: RecordQuery
  ) throws -> Tally {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    return try AnswerRun(source, QueryRun.computingNothing()).answer(question, to: query, reader)
  }

  /// Answers a question about the result of a query.
  ///
  /// `computing` returns the value of a computed field of a model.
  package func answer<M: SimpleModel & Decodable>(
    _ question: RecordQuestion, to query: RecordQuery, as type: M.Type,
    computing: (Int, M) throws -> QueryValue
  ) throws -> Tally {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    return try source.withValues(of: type, query, computing: computing) { source, computing in
      try AnswerRun(source, computing).answer(question, to: query, reader)
    }
  }

  /// Passes each entity of a query with what it adds to the answer of a question.
  func forEachPart<M: SimpleModel & Decodable>(
    _ question: RecordQuestion, of query: RecordQuery, as type: M.Type,
    computing: (Int, M) throws -> QueryValue, _ body: (ByteString, [QueryValue]) throws -> Void
  ) throws {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    try source.withValues(of: type, query, computing: computing) { source, computing in
      try AnswerRun(source, computing).forEachPart(question, of: query, reader, body)
    }
  }

  /// Returns what a node adds to the answer of a question; `nil` if it has no matching record.
  func part<M: SimpleModel & Decodable>(
    _ question: RecordQuestion, of query: RecordQuery, _ identifier: String, as type: M.Type,
    computing: (Int, M) throws -> QueryValue
  ) throws -> [QueryValue]? {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    guard let node = try source.node(identifier), let number = try source.number(of: type) else {
      return nil
    }
    return try source.withValues(of: type, query, computing: computing) { source, computing in
      let key = RecordKey(type: number, node: node)
      return try AnswerRun(source, computing).part(question, of: query, key, reader)
    }
  }

  /// Returns the identifiers of the result of a query, in its order.
  ///
  /// `computing` returns the value of a computed field of a model.
  package func identifiers<M: SimpleModel & Decodable>(
    matching query: RecordQuery, as type: M.Type, computing: (Int, M) throws -> QueryValue
  ) throws -> [String] {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    return try source.withValues(of: type, query, computing: computing) { source, computing in
      var run = try QueryRun(query, reader, .nodes)
      let matches = try run.find(reader, source, computing: computing)
      return try matches.map { try reader.identifier(of: $0.node) }
    }
  }

  /// The number of the node with an identifier; `nil` if there is none.
  package func nodeNumber(of identifier: String) throws -> UInt64? {
    try reader.node(identifier)
  }
}

extension SnapshotSource {
  /// The models of a query's result, in its order.
  fileprivate func models<M: SimpleModel & Decodable>(
    of type: M.Type, matching query: RecordQuery, _ reader: borrowing StoreReader,
    skipping bad: inout SkippedRecords, computing: (Int, M) throws -> QueryValue
  ) throws -> [M] {
    var run = try QueryRun(query, reader, without: bad.nodes)
    // Several fields of one record are computed one after the other.
    var last: (node: UInt64, model: M)?
    let matches = try run.find(reader, self) { number, node in
      if let last, last.node == node { return try computing(number, last.model) }
      do {
        let model = try decoded(QueryMatch(node: node), as: type, matching: query)
        last = (node, model)
        return try computing(number, model)
      } catch let error as UndecodableRecord {
        try bad.skip(node, error)
        throw SkippedRecord()
      }
    }
    var models: [M] = []
    models.reserveCapacity(matches.count)
    for match in matches {
      do {
        models.append(try decoded(match, as: type, matching: query))
      } catch let error as UndecodableRecord {
        try bad.skip(match.node, error)
      }
    }
    return models
  }

  /// Runs a closure with a function that computes field values from decoded models.
  fileprivate func withValues<M: SimpleModel & Decodable, Result>(
    of type: M.Type, _ query: RecordQuery, computing: (Int, M) throws -> QueryValue,
    _ body: (SnapshotSource, @escaping QueryRun.Computing) throws -> Result
  ) throws -> Result {
    try withoutActuallyEscaping(computing) { computing in
      // Several fields of one record are computed one after the other.
      var last: (node: UInt64, model: M)?
      return try body(self) { number, node in
        if let last, last.node == node { return try computing(number, last.model) }
        let model = try self.decoded(QueryMatch(node: node), as: type, matching: query)
        last = (node, model)
        return try computing(number, model)
      }
    }
  }

  private func decoded<M: SimpleModel & Decodable>(
    _ match: QueryMatch, as type: M.Type, matching query: RecordQuery
  ) throws -> M {
    do {
      // The snapshot lives, and nothing changes meanwhile.
      if let body = unsafe match.body { return try unsafe decode(type, from: body) }
      return try model(match.node, as: type)
    } catch let error as ModelError {
      let reference = RecordReference(node: match.node, type: 0)
      guard let identifier = identifier(of: reference) else { throw error }
      throw UndecodableRecord(
        identifier, error.about(identifier: identifier, typeName: query.typeName))
    }
  }
}

/// The undecodable records of a query.
private struct SkippedRecords {
  /// Whether they are skipped; else the first of them is thrown.
  let isOn: Bool
  private(set) var nodes: Set<UInt64> = []
  private(set) var records: [UndecodableRecord] = []

  init(isOn: Bool) { self.isOn = isOn }

  mutating func skip(_ node: UInt64, _ record: UndecodableRecord) throws {
    guard isOn else { throw record.error }
    if nodes.insert(node).inserted { records.append(record) }
  }
}

extension RecordQuery {
  /// Whether a skipped record lets another one in.
  fileprivate var hasWindow: Bool { limit != nil || !uniqueBy.isEmpty }
}
