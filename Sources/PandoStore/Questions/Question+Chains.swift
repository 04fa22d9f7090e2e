/// The same questions at the beginning of a chain, as in `.count.grouped(by: \.author)`.
///
/// In a chain the compiler gives the first member the type of the whole chain, so the members above, whose type is that
/// of their answer, do not fit. Without a chain the compiler prefers the members above: if the caller expects an answer
/// of another type, its error names both types.
extension Question {
  /// The number of entities.
  @_disfavoredOverload
  public static var count: Question<E, Int> { Question<E, Int>.count }

  /// Whether there is an entity.
  @_disfavoredOverload
  public static var exists: Question<E, Bool> { Question<E, Bool>.exists }

  /// The sum of a field.
  ///
  /// - Parameter keyPath: The place of the number in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func sum<Value: Summable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value.Sum> { Question<E, Value.Sum>.sum(keyPath) }

  /// The average of a field; `nil` if there is no value.
  ///
  /// - Parameter keyPath: The place of the number in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func average<Value: Summable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value.Average?> { Question<E, Value.Average?>.average(keyPath) }

  /// The lowest value of a field; `nil` if there is none.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func min<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.min(keyPath) }

  /// The lowest value of an optional field; `nil` if there is none.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func min<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.min(keyPath) }

  /// The highest value of a field; `nil` if there is none.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func max<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.max(keyPath) }

  /// The highest value of an optional field; `nil` if there is none.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func max<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.max(keyPath) }

  /// The values of a field, each once, in their order.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func distinct<Value: QueryRepresentable & Hashable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, [Value]> { Question<E, [Value]>.distinct(keyPath) }

  /// The value at a percentile of a field; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - percentile: 0 to 100. *Precondition:* it is in this range.
  ///   - keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func percentile<Value: QueryRepresentable & Sendable>(
    _ percentile: Double, of keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.percentile(percentile, of: keyPath) }

  /// The value at a percentile of an optional field; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - percentile: 0 to 100. *Precondition:* it is in this range.
  ///   - keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func percentile<Value: QueryRepresentable & Sendable>(
    _ percentile: Double, of keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.percentile(percentile, of: keyPath) }

  /// The median of a field; `nil` if there is no value.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func median<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.median(keyPath) }

  /// The median of an optional field; `nil` if there is no value.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func median<Value: QueryRepresentable & Sendable>(
    _ keyPath: any KeyPath<E, Value?> & Sendable
  ) -> Question<E, Value?> { Question<E, Value?>.median(keyPath) }

  /// The answers to several questions about the same entities, in one pass.
  ///
  /// - Parameter questions: The questions.
  /// - Returns: The question; its answer is a tuple.
  @_disfavoredOverload
  public static func combined<each Part: Sendable>(
    _ questions: repeat Question<E, each Part>
  ) -> Question<E, (repeat each Part)> {
    Question<E, (repeat each Part)>.combined(repeat each questions)
  }
}

/// Chains over fields of any form.
extension Question {
  /// The sum of a field of any form.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func sum<Value: Summable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value.Sum> { Question<E, Value.Sum>.sum(field) }

  /// The average of a field of any form; `nil` if there is no value.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func average<Value: Summable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value.Average?> { Question<E, Value.Average?>.average(field) }

  /// The lowest value of a field of any form; `nil` if there is none.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func min<Value: QueryRepresentable & Sendable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value?> { Question<E, Value?>.min(field) }

  /// The highest value of a field of any form; `nil` if there is none.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func max<Value: QueryRepresentable & Sendable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, Value?> { Question<E, Value?>.max(field) }

  /// The values of a field of any form, each once, in their order.
  ///
  /// - Parameter field: The field.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func distinct<Value: QueryRepresentable & Hashable & Sendable>(
    _ field: QuestionField<E, Value>
  ) -> Question<E, [Value]> { Question<E, [Value]>.distinct(field) }

  /// The value at a percentile of a field of any form; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - percentile: 0 to 100. *Precondition:* it is in this range.
  ///   - field: The field.
  /// - Returns: The question.
  @_disfavoredOverload
  public static func percentile<Value: QueryRepresentable & Sendable>(
    _ percentile: Double, of field: QuestionField<E, Value>
  ) -> Question<E, Value?> { Question<E, Value?>.percentile(percentile, of: field) }
}
