/// Groups.
extension Question {
  /// The same question for each value of a field: a dictionary of the answers.
  ///
  /// The keys are the values of ``distinct(_:)``, so texts that are equal by Swift's `==` are one key. A grouped
  /// question can be grouped again: the last field gives the keys of the outer dictionary.
  ///
  /// ```swift
  /// let perDay = try store.answer(.count.grouped(by: \Order.day), to: .all)  // [String: Int]
  /// ```
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The question; its answer throws ``QueryError`` `wrongType` if a record has a value that `Key` can't
  ///   represent, such as null for a type that is not optional.
  public func grouped<Key: QueryRepresentable & Hashable & Sendable>(
    by keyPath: any KeyPath<E, Key> & Sendable
  ) -> Question<E, [Key: Answer]> { grouped(by: QuestionField(QueryField(keyPath))) }

  /// The same question for each element of a list, each child, or each unit of a calendar.
  ///
  /// An entity belongs once to the group of each different element. If the question measures another field of the same
  /// list, each group measures it in its own elements. An entity with an empty list belongs to no group.
  ///
  /// ```swift
  /// let perTag = try store.answer(.count.grouped(by: .each(\Issue.tags)), to: .all)  // [String: Int]
  /// ```
  ///
  /// - Parameter field: The field.
  /// - Returns: The question; its answer throws as that of a key path.
  public func grouped<Key: QueryRepresentable & Hashable & Sendable>(
    by field: QuestionField<E, Key>
  ) -> Question<E, [Key: Answer]> {
    let name = field.field
    return grouped([field.part]) { (values) throws(QueryError) in
      guard case .one(let value) = values else {
        preconditionFailure("a group of one field has one value")
      }
      return try name.typed(value, as: Key.self)
    }
  }

  /// The same question for each combination of the values of several fields.
  ///
  /// ```swift
  /// let sums = try store.answer(.sum(\Order.total).grouped(by: \.day, \.region), to: .all)
  /// let north = sums[GroupKey("2026-05-01", "north")]
  /// ```
  ///
  /// - Parameter keyPaths: The places of the values in the entity.
  /// - Returns: The question; its answer throws as that of a single field.
  public func grouped<each Key: QueryRepresentable & Hashable & Sendable>(
    by keyPaths: repeat any KeyPath<E, each Key> & Sendable
  ) -> Question<E, [GroupKey<repeat each Key>: Answer]> {
    grouped(by: repeat QuestionField<E, each Key>(QueryField(each keyPaths)))
  }

  /// The same question for each combination of the values of several fields of any form.
  ///
  /// ```swift
  /// let sums = try store.answer(
  ///   .sum(\Order.total).grouped(by: .field(\.region), .date(\.created, .day, in: .gmt)), to: .all)
  /// ```
  ///
  /// - Parameter fields: The fields.
  /// - Returns: The question; its answer throws as that of a single field.
  @_disfavoredOverload
  public func grouped<each Key: QueryRepresentable & Hashable & Sendable>(
    by fields: repeat QuestionField<E, each Key>
  ) -> Question<E, [GroupKey<repeat each Key>: Answer]> {
    var parts: [Grouping<QueryField<E>>.Part] = []
    for field in repeat each fields { parts.append(field.part) }
    return grouped(parts) { (values) throws(QueryError) in
      guard case .several(let values) = values else {
        preconditionFailure("a group of several fields has several values")
      }
      var rest = values.makeIterator()
      return GroupKey(repeat try (each fields).nextTyped(of: &rest))
    }
  }

  private func grouped<Key: Hashable & Sendable>(
    _ parts: [Grouping<QueryField<E>>.Part],
    key: @escaping @Sendable (GroupValues) throws(QueryError) -> Key
  ) -> Question<E, [Key: Answer]> {
    Question<E, [Key: Answer]>(
      Grouping(fields: parts), measure, GroupMaker(key: key, value: make))
  }
}

extension QuestionField where Value: Hashable {
  var part: Grouping<QueryField<E>>.Part {
    .init(field: field, unit: unit, identity: GroupIdentity.ofValues(Value.self))
  }

  fileprivate func nextTyped(
    of values: inout IndexingIterator<[QueryValue]>
  ) throws(QueryError) -> Value {
    guard let value = values.next() else {
      preconditionFailure("a group has a value for each field")
    }
    return try field.typed(value, as: Value.self)
  }
}

/// Which groups an answer has, and their order.
extension Question {
  /// The same question for the groups whose answers meet a condition.
  ///
  /// ```swift
  /// let many = try store.answer(.count.grouped(by: \Issue.author).having { $0 > 100 }, to: .all)
  /// ```
  ///
  /// - Parameter condition: Returns whether the answer keeps a group; called on any thread, often more than once for a
  ///   group.
  /// - Returns: The question.
  public func having<Key, Value>(
    _ condition: @escaping @Sendable (Value) -> Bool
  ) -> Question<E, [Key: Value]> where Answer == [Key: Value] {
    var (grouping, inner, maker) = parts(Key.self, Value.self)
    let former = maker.isKept
    maker.isKept = { value in (former?(value) ?? true) && condition(value) }
    grouping.selection = GroupSelection(rank: maker.rank { _ in .null })
    return Question(grouping, inner, maker)
  }

  /// The groups with the highest answers, the highest first; of equal answers the lowest key first.
  ///
  /// Answers have the order of values in a query: null is the lowest, then not-a-number.
  ///
  /// ```swift
  /// let best = try store.answer(.sum(\Order.total).grouped(by: \.customer).top(10), to: .all)
  /// print(best.first?.key, best.first?.value)
  /// ```
  ///
  /// - Parameter limit: The largest number of groups; `nil` for all. *Precondition:* it is not negative.
  /// - Returns: The question; its answer is a list.
  /// - Complexity: A followed answer costs O(log *g*) for each changed one of *g* groups.
  public func top<Key, Value: QueryRepresentable>(
    _ limit: Int? = nil
  ) -> Question<E, [AnswerGroup<Key, Value>]> where Answer == [Key: Value] {
    ordered(isDescending: true, limit: limit) { $0.queryValue }
  }

  /// The groups with the lowest answers, the lowest first; of equal answers the lowest key first.
  ///
  /// - Parameter limit: The largest number of groups; `nil` for all. *Precondition:* it is not negative.
  /// - Returns: The question; its answer is a list.
  /// - Complexity: As ``top(_:)``.
  public func bottom<Key, Value: QueryRepresentable>(
    _ limit: Int? = nil
  ) -> Question<E, [AnswerGroup<Key, Value>]> where Answer == [Key: Value] {
    ordered(isDescending: false, limit: limit) { $0.queryValue }
  }

  /// The groups in the order of their keys, the lowest first.
  ///
  /// ```swift
  /// let firstDays = try store.answer(.count.grouped(by: \Order.day).ascending(7), to: .all)
  /// ```
  ///
  /// - Parameter limit: The largest number of groups; `nil` for all. *Precondition:* it is not negative.
  /// - Returns: The question; its answer is a list.
  /// - Complexity: As ``top(_:)``.
  public func ascending<Key, Value>(
    _ limit: Int? = nil
  ) -> Question<E, [AnswerGroup<Key, Value>]> where Answer == [Key: Value] {
    ordered(isDescending: false, limit: limit) { _ in .null }
  }

  /// The groups in the order of their keys, the highest first.
  ///
  /// - Parameter limit: The largest number of groups; `nil` for all. *Precondition:* it is not negative.
  /// - Returns: The question; its answer is a list.
  /// - Complexity: As ``top(_:)``.
  public func descending<Key, Value>(
    _ limit: Int? = nil
  ) -> Question<E, [AnswerGroup<Key, Value>]> where Answer == [Key: Value] {
    ordered(isDescending: false, hasDescendingKeys: true, limit: limit) { _ in .null }
  }

  private func ordered<Key, Value>(
    isDescending: Bool, hasDescendingKeys: Bool = false, limit: Int?,
    _ rank: @escaping @Sendable (Value) -> QueryValue
  ) -> Question<E, [AnswerGroup<Key, Value>]> where Answer == [Key: Value] {
    precondition((limit ?? 0) >= 0, "an answer can't have the limit \(limit ?? 0)")
    var (grouping, inner, maker) = parts(Key.self, Value.self)
    let selection = GroupSelection(
      rank: maker.rank(rank), isDescending: isDescending, hasDescendingKeys: hasDescendingKeys,
      limit: limit)
    grouping.selection = selection
    return Question<E, [AnswerGroup<Key, Value>]>(.groups(grouping, inner)) {
      [maker] (tally) throws(QueryError) in
      try maker.list(tally, selection, rank: rank)
    }
  }

  /// The parts of a question whose answer is a dictionary.
  private func parts<Key, Value>(
    _ key: Key.Type, _ value: Value.Type
  ) -> (Grouping<QueryField<E>>, Measure<QueryField<E>>, GroupMaker<Key, Value>)
  where Answer == [Key: Value] {
    guard case .groups(let grouping, let inner) = measure,
      let maker = groupMaker as? GroupMaker<Key, Value>
    else { preconditionFailure("a dictionary is the answer to a grouped question") }
    return (grouping, inner, maker)
  }

  /// Makes a question whose answer is a dictionary.
  private init<Key, Value>(
    _ grouping: Grouping<QueryField<E>>, _ measure: Measure<QueryField<E>>,
    _ maker: GroupMaker<Key, Value>
  ) where Answer == [Key: Value] {
    self.init(.groups(grouping, measure), groupMaker: maker) { (tally) throws(QueryError) in
      try maker.dictionary(tally)
    }
  }
}
