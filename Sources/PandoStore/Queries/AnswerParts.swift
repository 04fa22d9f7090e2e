package import PandoModels

/// The parts of the entities of a query in an answer: the values of the groups and of the field of the question.
package final class AnswerParts<E: Queryable>: Sendable {
  /// The query and the question by stored fields.
  private struct Prepared: Sendable {
    let query: StoredQuery<E>
    let question: RecordQuestion
  }

  private let query: Query<E>
  /// The measure by positions in a part.
  package let measure: NumberedMeasure<QueryField<E>>
  /// `nil` if entities have to be decoded, because records of other types tell of them too.
  private var prepared: Prepared? {
    // Another type of the namespace may be written later.
    NamespaceTypes.others(of: E.self).isEmpty ? ownRecords : nil
  }
  private let ownRecords: Prepared?

  /// Prepares the parts.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - query: A valid query without a window.
  ///   - snapshot: Any version of the store; it tells about unproven fields.
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  package init(
    _ question: Question<E, some Sendable>, of query: Query<E>, _ snapshot: ModelSnapshot
  ) throws {
    self.query = query
    measure = NumberedMeasure(question.measure)
    guard try snapshot.isDeterminedByRecords(query, isInOrder: false) else {
      ownRecords = nil
      return
    }
    let (stored, asked) = try snapshot.proven(query) { $0.question(question.measure) }
    ownRecords = Prepared(query: stored, question: asked)
  }

  /// Passes the part of each entity.
  ///
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  package func forEach(
    in snapshot: ModelSnapshot, _ body: (ByteString, [QueryValue]) throws -> Void
  ) throws {
    if let prepared {
      return try snapshot.forEachPart(
        prepared.question, of: prepared.query.query, as: E.self,
        computing: { prepared.query.value($0, of: $1) }, body)
    }
    for entity in try snapshot.find(query).entities {
      try body(ByteString(entity.modelIdentifier ?? ""), values(of: entity))
    }
  }

  /// Returns the part of a node; `nil` if it does not belong to the query.
  ///
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  package func part(
    of identifier: ByteString, in snapshot: ModelSnapshot
  ) throws -> [QueryValue]? {
    if let prepared {
      return try snapshot.part(
        prepared.question, of: prepared.query.query, identifier.text, as: E.self
      ) { prepared.query.value($0, of: $1) }
    }
    var one = query
    one.filter = .identifiers([identifier.text]) && query.filter
    return try snapshot.first(one).map { values(of: $0) }
  }

  /// Returns the part of an entity that belongs to the query.
  package func values(of entity: E) -> [QueryValue] { measure.fields.map { $0.value(entity) } }
}
