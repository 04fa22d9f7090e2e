import PandoModels
import PandoSystem

/// A question about the entities of a query, such as their number; it has the type of its answer.
///
/// The answer covers exactly the entities of the result: uniqueness, offset and limit of the query apply. The store
/// reads rows of an index or fields of records, and decodes a model only if these do not give the answer.
///
/// `store.answer(_:to:)` answers a question once, `store.follow(_:of:)` after each change. For the entities themselves
/// use `store.find(_:)`.
///
/// ```swift
/// let open = Query(filter: \Issue.status == .open)
/// let count = try store.answer(.count, to: open)  // Int
/// let oldest = try store.answer(.min(\.created), to: open)  // Date?
/// let hours = try store.answer(.sum(\.hours).grouped(by: \.author), to: open)  // [String: Decimal]
/// let busiest = try store.answer(.count.grouped(by: \.author).top(10), to: open)
/// ```
///
/// - Note: Any thread.
public struct Question<E: Queryable, Answer: Sendable>: Sendable {
  let measure: Measure<QueryField<E>>
  /// Makes the answer from a tally.
  let make: @Sendable (Tally) throws(QueryError) -> Answer
  /// The ``GroupMaker`` of a dictionary; `nil` for another answer.
  let groupMaker: (any Sendable)?

  init(
    _ measure: Measure<QueryField<E>>, groupMaker: (any Sendable)? = nil,
    _ make: @escaping @Sendable (Tally) throws(QueryError) -> Answer
  ) {
    self.measure = measure
    self.groupMaker = groupMaker
    self.make = make
  }

  /// Whether a change of a node inside an entity may change the answer.
  package var looksIntoNodes: Bool { measure.fields.contains(where: \.mayLeadThroughNodes) }

  /// Makes the answer from a tally.
  package func answer(_ tally: Tally) throws(QueryError) -> Answer { try make(tally) }

  /// Answers from the entities that a query gave.
  ///
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  package func answer(_ entities: [E]) throws(QueryError) -> Answer {
    let measure = NumberedMeasure(measure)
    let node = measure.makeNode(isRunning: false)
    for entity in entities {
      node.change(measure.fields.map { $0.value(entity) }, isAdded: true)
    }
    return try make(node.tally(isWhole: false))
  }
}
