import PandoModels
import PandoSystem

/// A question about the entities of a query, such as their number; it has the type of its answer.
///
/// The answer covers exactly the entities of the result: uniqueness, offset and limit of the query apply.
/// The store decodes no entity if its indexes or the stored bytes give the answer.
///
/// ```swift
/// let open = Query(filter: \Issue.status == .open)
/// let count = try store.answer(.count, to: open)  // Int
/// let oldest = try store.answer(.min(\.created), to: open)  // Date?
/// let hours = try store.answer(.sum(\.hours).grouped(by: \.author), to: open)  // [String: Decimal]
/// ```
///
/// - Note: Any thread.
public struct Question<E: Queryable, Answer: Sendable>: Sendable {
  let measure: Measure<QueryField<E>>
  /// Makes the answer from a tally.
  private let make: @Sendable (Tally) throws(QueryError) -> Answer

  init(
    _ measure: Measure<QueryField<E>>,
    _ make: @escaping @Sendable (Tally) throws(QueryError) -> Answer
  ) {
    self.measure = measure
    self.make = make
  }

  /// Makes the answer from a tally.
  package func answer(_ tally: Tally) throws(QueryError) -> Answer { try make(tally) }

  /// Answers from the entities that a query gave.
  ///
  /// - Throws: As ``ModelSnapshot/answer(_:to:)``.
  package func answer(_ entities: [E]) throws(QueryError) -> Answer {
    var tally = measure.tally()
    for entity in entities { measure.add(to: &tally) { $0.value(entity) } }
    return try make(tally)
  }

  /// The same question for each value of a field: a dictionary of the answers.
  ///
  /// A value without entities is no key. The keys are the values of ``distinct(_:)``, so texts that Swift's
  /// `==` takes as equal are one key. A grouped question can be grouped again: the last field gives the keys
  /// of the outer dictionary.
  ///
  /// ```swift
  /// let perDay = try store.answer(.count.grouped(by: \Order.day), to: .all)  // [String: Int]
  /// ```
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question; its answer throws ``QueryError`` `wrongType` if a record has a value that
  ///   is none of `Key`, such as null for a type that is not optional.
  public func grouped<Key: QueryRepresentable & Hashable & Sendable>(
    by keyPath: any KeyPath<E, Key> & Sendable
  ) -> Question<E, [Key: Answer]> {
    let field = QueryField(keyPath)
    let make = make
    return Question<E, [Key: Answer]>(measure.grouped(by: field)) {
      (tally) throws(QueryError) in
      // Different texts may be equal keys; the lowest of them is the key.
      var tallies: [Key: Tally] = [:]
      for (value, tally) in tally.groups {
        let key = try field.typed(value, as: Key.self)
        guard let index = tallies.index(forKey: key) else {
          tallies[key] = tally
          continue
        }
        var (former, sum) = tallies[index]
        sum.add(tally)
        tallies.remove(at: index)
        tallies[value < former.queryValue ? key : former] = sum
      }
      var answers: [Key: Answer] = [:]
      for (key, tally) in tallies { answers[key] = try make(tally) }
      return answers
    }
  }
}

extension Question where Answer == Int {
  /// The number of entities.
  public static var count: Question<E, Int> {
    Question<E, Int>(Measure(.count)) { (tally) throws(QueryError) in tally.count }
  }
}

extension Question where Answer == Bool {
  /// Whether there is an entity.
  public static var exists: Question<E, Bool> {
    Question<E, Bool>(Measure(.exists)) { (tally) throws(QueryError) in tally.count > 0 }
  }
}

extension Question {
  /// The sum of a field, in the type ``Summable/Sum`` of the field.
  ///
  /// Null and not-a-number do not count; the sum of no numbers is 0. Numbers are added exactly, so their order has no
  /// effect; the sum of doubles is rounded once.
  ///
  /// - Parameter keyPath: The place of the number in the entity.
  /// - Returns: The question; its answer throws ``QueryError`` `overflow` if the sum does not fit its
  ///   type.
  public static func sum<Value: Summable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value.Sum> where Answer == Value.Sum {
    let field = QueryField(keyPath)
    return Question<E, Value.Sum>(Measure(.sum(field))) { (tally) throws(QueryError) in
      guard let sum = Value.sum(of: tally.sum) else {
        throw QueryError(.overflow, field.label, "the exact sum does not fit \(Value.Sum.self)")
      }
      return sum
    }
  }

  /// The average of a field, in the type ``Summable/Average`` of the field; `nil` if no number counts.
  ///
  /// Null and not-a-number do not count.
  ///
  /// - Parameter keyPath: The place of the number in the entity.
  /// - Returns: The question; its answer throws ``QueryError`` `overflow` if the sum of decimals or
  ///   durations does not fit their type.
  public static func average<Value: Summable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value.Average?> where Answer == Value.Average? {
    let field = QueryField(keyPath)
    return Question<E, Value.Average?>(Measure(.sum(field))) { (tally) throws(QueryError) in
      if tally.sum.count == 0 { return nil }
      guard let average = Value.average(of: tally.sum) else {
        throw QueryError(.overflow, field.label, "the exact sum does not fit \(Value.Average.self)")
      }
      return average
    }
  }

  /// The lowest value of a field; `nil` if there is none.
  ///
  /// Null and not-a-number do not count. Texts are ordered by their bytes.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func min<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> where Answer == Value? {
    extreme(QueryField(keyPath), isMaximum: false)
  }

  /// The lowest value of an optional field; `nil` if there is none.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func min<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> where Answer == Value? {
    extreme(QueryField(keyPath), isMaximum: false)
  }

  /// The highest value of a field; `nil` if there is none.
  ///
  /// Null and not-a-number do not count. Texts are ordered by their bytes.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func max<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> where Answer == Value? {
    extreme(QueryField(keyPath), isMaximum: true)
  }

  /// The highest value of an optional field; `nil` if there is none.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func max<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> where Answer == Value? {
    extreme(QueryField(keyPath), isMaximum: true)
  }

  /// The values of a field, each once, in their order: null first if the field is optional.
  ///
  /// Of texts that Swift's `==` takes as equal the first one stands for all, though filters and orders
  /// compare their bytes: the values are the keys of a question that is ``grouped(by:)`` the field. Of a
  /// double, `-0.0` is given as `0.0`.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question; its answer throws ``QueryError`` `wrongType` as ``grouped(by:)`` does.
  public static func distinct<Value: QueryRepresentable & Hashable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, [Value]> where Answer == [Value] {
    let field = QueryField(keyPath)
    return Question<E, [Value]>(Measure(.count).grouped(by: field)) {
      (tally) throws(QueryError) in
      var values: [Value] = []
      var found: Set<Value> = []
      for value in tally.groups.keys.ordered() {
        let typed = try field.typed(value, as: Value.self)
        if found.insert(typed).inserted { values.append(typed) }
      }
      return values
    }
  }

  private static func extreme<Value: QueryRepresentable>(
    _ field: QueryField<E>, isMaximum: Bool
  ) -> Question<E, Value?> {
    Question<E, Value?>(Measure(isMaximum ? .maximum(field) : .minimum(field))) {
      (tally) throws(QueryError) in
      guard let value = tally.extreme else { return nil }
      return try field.typed(value, as: Value.self)
    }
  }
}

extension QueryField {
  /// A stored value in the type of the field.
  ///
  /// `-0.0` and `0.0` are one value in indexes and groups, which is given as `0.0`.
  fileprivate func typed<Value: QueryRepresentable>(
    _ value: QueryValue, as type: Value.Type
  ) throws(QueryError) -> Value {
    let isZero = if case .double(let number) = value { number == 0 } else { false }
    guard let typed = Value(queryValue: isZero ? .double(0) : value) else {
      throw QueryError(.wrongType, label, "the stored value \(value) is none of \(Value.self)")
    }
    return typed
  }
}
