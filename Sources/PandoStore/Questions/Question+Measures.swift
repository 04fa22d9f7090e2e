extension Question where Answer == Int {
  /// The number of entities.
  public static var count: Question<E, Int> {
    Question<E, Int>(.count) { (tally) throws(QueryError) in tally.count }
  }
}

extension Question where Answer == Bool {
  /// Whether there is an entity.
  public static var exists: Question<E, Bool> {
    Question<E, Bool>(.exists) { (tally) throws(QueryError) in tally.count > 0 }
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
  ) -> Question<E, Value.Sum> where Answer == Value.Sum { sum(.field(keyPath)) }

  /// The sum of a field of any form, such as one of each element of a list.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question; its answer throws as that of a key path.
  public static func sum<Value: Summable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value.Sum> where Answer == Value.Sum {
    let field = field.field
    return Question<E, Value.Sum>(.sum(field, .of(Value.self))) { (tally) throws(QueryError) in
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
  ) -> Question<E, Value.Average?> where Answer == Value.Average? { average(.field(keyPath)) }

  /// The average of a field of any form, such as one of each element of a list.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question; its answer throws as that of a key path.
  public static func average<Value: Summable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value.Average?> where Answer == Value.Average? {
    let field = field.field
    return Question<E, Value.Average?>(.sum(field, .of(Value.self))) { (tally) throws(QueryError) in
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

  /// The lowest value of a field of any form; `nil` if there is none.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  public static func min<Value: QueryRepresentable & Sendable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value?> where Answer == Value? { extreme(field.field, isMaximum: false) }

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

  /// The highest value of a field of any form; `nil` if there is none.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  public static func max<Value: QueryRepresentable & Sendable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value?> where Answer == Value? { extreme(field.field, isMaximum: true) }

  /// The values of a field, each once, in their order: null first if the field is optional.
  ///
  /// The values are the keys of a question that is ``grouped(by:)`` the field. Of texts that are equal by Swift's `==`
  /// the array has the first one, though filters and orders compare their bytes. A double `-0.0` becomes `0.0`.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question; its answer throws ``QueryError`` `wrongType` as ``grouped(by:)`` does.
  public static func distinct<Value: QueryRepresentable & Hashable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, [Value]> where Answer == [Value] { distinct(.field(keyPath)) }

  /// The values of a field of any form, such as the elements of lists, each once, in their order.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question; its answer throws as that of a key path.
  public static func distinct<Value: QueryRepresentable & Hashable & Sendable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, [Value]> where Answer == [Value] {
    let groups = Question<E, Int>.count.grouped(by: field)
    let field = field.field
    return Question<E, [Value]>(groups.measure) { (tally) throws(QueryError) in
      var values: [Value] = []
      var found: Set<Value> = []
      for case .one(let value) in tally.groups.keys.sorted() {
        let typed = try field.typed(value, as: Value.self)
        if found.insert(typed).inserted { values.append(typed) }
      }
      return values
    }
  }

  /// The value at a percentile of a field, by nearest rank; `nil` if there is no value.
  ///
  /// Of *n* values in order it is value number *p* · *n* / 100, rounded up and counted from 1. So it is always one of
  /// the values: 0 gives the lowest one, 100 the highest one, and 50 the lower of two in the middle. Null and
  /// not-a-number do not count. Texts are ordered by their bytes.
  ///
  /// ```swift
  /// let slow = try store.answer(.percentile(99, of: \Request.duration), to: .all)
  /// ```
  ///
  /// - Parameters:
  ///   - percentile: 0 to 100. *Precondition:* it is in this range.
  ///   - keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func percentile<Value: QueryRepresentable & Sendable>(
    _ percentile: Double, of keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> where Answer == Value? { ranked(percentile, QueryField(keyPath)) }

  /// The value at a percentile of an optional field.
  ///
  /// - Parameters:
  ///   - percentile: 0 to 100. *Precondition:* it is in this range.
  ///   - keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func percentile<Value: QueryRepresentable & Sendable>(
    _ percentile: Double, of keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> where Answer == Value? { ranked(percentile, QueryField(keyPath)) }

  /// The value at a percentile of a field of any form.
  ///
  /// - Parameters:
  ///   - percentile: 0 to 100. *Precondition:* it is in this range.
  ///   - field: The field.
  /// - Returns: The question.
  public static func percentile<Value: QueryRepresentable & Sendable>(
    _ percentile: Double, of field: QuestionField<E, Value>
  ) -> Question<E, Value?> where Answer == Value? { ranked(percentile, field.field) }

  /// The median of a field, its 50th percentile; `nil` if there is no value.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func median<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> where Answer == Value? { ranked(50, QueryField(keyPath)) }

  /// The median of an optional field.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  public static func median<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> where Answer == Value? { ranked(50, QueryField(keyPath)) }

  private static func ranked<Value: QueryRepresentable>(
    _ percentile: Double, _ field: QueryField<E>
  ) -> Question<E, Value?> {
    precondition(percentile >= 0 && percentile <= 100, "\(percentile) is no percentile")
    return Question<E, Value?>(.percentile(percentile, field)) { (tally) throws(QueryError) in
      guard let value = tally.value(atPercentile: percentile) else { return nil }
      return try field.typed(value, as: Value.self)
    }
  }

  private static func extreme<Value: QueryRepresentable>(
    _ field: QueryField<E>, isMaximum: Bool
  ) -> Question<E, Value?> {
    Question<E, Value?>(isMaximum ? .maximum(field) : .minimum(field)) {
      (tally) throws(QueryError) in
      guard let value = tally.extreme else { return nil }
      return try field.typed(value, as: Value.self)
    }
  }
}

/// Several questions.
extension Question {
  /// The answers to several questions about the same entities, in one pass.
  ///
  /// `store.answer(_:to:)` and `store.follow(_:of:)` take several questions too. Use this form to group questions.
  ///
  /// ```swift
  /// let (count, sum) = try store.answer(.count, .sum(\Order.total), to: .all)
  /// let perDay = try store.answer(
  ///   .combined(.count, .sum(\Order.total)).grouped(by: \.day), to: .all)  // [String: (Int, Decimal)]
  /// ```
  ///
  /// - Parameter questions: The questions.
  /// - Returns: The question; its answer is a tuple, and throws if one of the answers does.
  public static func combined<each Part: Sendable>(
    _ questions: repeat Question<E, each Part>
  ) -> Question<E, (repeat each Part)> where Answer == (repeat each Part) {
    var measures: [Measure<QueryField<E>>] = []
    for question in repeat each questions { measures.append(question.measure) }
    return Question<E, (repeat each Part)>(.combined(measures)) { (tally) throws(QueryError) in
      var rest = tally.parts.makeIterator()
      return (repeat try (each questions).nextAnswer(of: &rest))
    }
  }

  private func nextAnswer(
    of tallies: inout IndexingIterator<[Tally]>
  ) throws(QueryError) -> Answer {
    guard let tally = tallies.next() else { preconditionFailure("each question has a tally") }
    return try make(tally)
  }
}
