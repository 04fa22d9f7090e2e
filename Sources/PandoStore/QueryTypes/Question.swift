import PandoModels
import PandoSystem

/// A question about the entities of a query, in place of the entities.
///
/// The answer is about exactly the entities of the result: uniqueness, offset and limit of the query count.
/// The store decodes no entity if its indexes or the stored bytes give the answer.
///
/// ```swift
/// let open = Query(filter: \Issue.status == .open)
/// let count = try await issues.answer(.count, to: open).count
/// let perAuthor = try await issues.answer(.counts(by: \.author), to: open).counts
/// ```
public struct Question<E: Queryable>: Sendable {
  enum Kind: Sendable {
    case count, exists
    case sum(QueryField<E>)
    case minimum(QueryField<E>)
    case maximum(QueryField<E>)
    case counts(QueryField<E>)
  }

  let kind: Kind

  /// How many there are: `count`.
  public static var count: Question { Question(kind: .count) }

  /// Whether there is any: `count` is 1 if so, else 0.
  public static var exists: Question { Question(kind: .exists) }

  /// The sum of a field that holds numbers: `value`.
  ///
  /// Null and not-a-number do not count; of nothing it is 0. Integers, decimals and durations are added
  /// exactly: the sum is an integer or a decimal number. With a double among the values it is a double;
  /// these are added in the order of the query. A question whose exact sum does not fit a `Decimal`
  /// throws ``QueryError`` `overflow`.
  ///
  /// - Parameter keyPath: Where the number is in the entity.
  /// - Returns: The question.
  public static func sum<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .sum(QueryField(keyPath))) }

  /// The lowest value of a field: `value`; null and not-a-number do not count.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func min<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .minimum(QueryField(keyPath))) }

  /// The highest value of a field: `value`; null and not-a-number do not count.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func max<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .maximum(QueryField(keyPath))) }

  /// Which values a field has, and how many entities have each: `counts`, in the order of
  /// values.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func counts<Value: QueryRepresentable>(
    by keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { Question(kind: .counts(QueryField(keyPath))) }

  /// Which values a field has, each once: `values`, in their order.
  ///
  /// - Parameter keyPath: Where the value is in the entity.
  /// - Returns: The question.
  public static func distinct<Value: QueryRepresentable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question { counts(by: keyPath) }

  /// Answers from the entities that a query gave.
  ///
  /// - Throws: ``QueryError`` `overflow` for a sum that `Decimal` can't represent.
  package func answer(_ entities: [E]) throws(QueryError) -> QueryAnswer {
    switch kind {
    case .count: return QueryAnswer(count: entities.count)
    case .exists: return QueryAnswer(count: entities.isEmpty ? 0 : 1)
    case .sum(let field):
      var sum = ValueSum()
      for entity in entities { sum.add(field.value(entity)) }
      return QueryAnswer(count: entities.count, value: try sum.value(of: field.label))
    case .minimum(let field): return Self.extreme(entities.map(field.value).filter(\.isValue).min())
    case .maximum(let field): return Self.extreme(entities.map(field.value).filter(\.isValue).max())
    case .counts(let field):
      var counts: [QueryValue: Int] = [:]
      for entity in entities { counts[field.value(entity), default: 0] += 1 }
      return QueryAnswer(
        count: entities.count,
        counts: counts.keys.ordered()
          .map { QueryAnswer.ValueCount(value: $0, count: counts[$0] ?? 0) })
    }
  }

  private static func extreme(_ value: QueryValue?) -> QueryAnswer {
    QueryAnswer(count: value == nil ? 0 : 1, value: value ?? .null)
  }

  /// Checks what the compiler could not.
  package func validate() throws(QueryError) {
    guard case .sum(let field) = kind, !field.kinds.contains(.number) else { return }
    throw QueryError(
      .wrongType, field.label,
      "only numbers have a sum, and this field of \(E.modelTypeName) holds none")
  }
}
