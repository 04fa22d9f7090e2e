package import FoundationEssentials

/// A grouped question for tools without Swift types.
package struct RecordGroups: Sendable {
  /// A field of the key.
  package struct Part: Sendable {
    /// The field.
    package let field: RecordField
    /// The unit of a calendar to which a date is shortened, in UTC; `nil` for the value itself.
    package let unit: Calendar.Component?

    /// Makes a field of the key.
    package init(_ field: RecordField, unit: Calendar.Component? = nil) {
      self.field = field
      self.unit = unit
    }
  }

  /// The fields of the key; empty for one group of all records.
  package var parts: [Part]
  /// The added field; `nil` for the number of records alone.
  package var summed: RecordField?

  /// Makes a question.
  package init(_ parts: [Part], summing summed: RecordField? = nil) {
    self.parts = parts
    self.summed = summed
  }

  /// The answer of a group.
  package struct Answer: Sendable {
    /// The values of the key, one for each part.
    package var key: [QueryValue]
    /// The number of records; 0 if only the sum was asked for.
    package var count = 0
    /// The sum of the numbers.
    package var sum = NumberSum()
    /// The lowest and the highest value of the summed field that are no numbers.
    package var otherKinds: [QueryValue.Kind] = []
  }

  /// The question in the form that the store answers.
  fileprivate var question: RecordQuestion {
    let measure: Measure<RecordField> =
      summed.map { .combined([.count, .sum($0, .unknown), .minimum($0), .maximum($0)]) } ?? .count
    if parts.isEmpty { return RecordQuestion(measure) }
    let fields = parts.map { part in
      Grouping<RecordField>.Part(
        field: part.field,
        unit: part.unit.map { CalendarUnit(component: $0, timeZone: .gmt) },
        identity: { _ in .own })
    }
    return RecordQuestion(.groups(Grouping(fields: fields), measure))
  }

  /// The sum alone, which an index with totals can have; `nil` for another question.
  fileprivate var sumAlone: RecordQuestion? {
    parts.isEmpty ? summed.map { RecordQuestion(.sum($0, .unknown)) } : nil
  }

  fileprivate func answers(_ tally: Tally) -> [Answer] {
    if parts.isEmpty { return [answer(tally, [])] }
    return tally.groups.map { (values: $0.key, tally: $0.value) }
      .sorted { $0.values < $1.values }
      .map { group in
        switch group.values {
        case .one(let value): answer(group.tally, [value])
        case .several(let values): answer(group.tally, values)
        }
      }
  }

  private func answer(_ tally: Tally, _ key: [QueryValue]) -> Answer {
    guard summed != nil else { return Answer(key: key, count: tally.count) }
    let parts = tally.parts
    let kinds = parts.compactMap { $0.extreme?.kind }.filter { $0 != .number }
    return Answer(key: key, count: parts[0].count, sum: parts[1].sum, otherKinds: kinds)
  }
}

extension ModelSnapshot {
  /// Answers a grouped question.
  ///
  /// - Returns: The answers of the groups, by ascending keys; one without groups.
  package func answers(_ groups: RecordGroups, to query: RecordQuery) throws -> [RecordGroups
    .Answer]
  {
    if let sum = groups.sumAlone, try plan(for: sum, to: query).reading == .indexRows {
      return [RecordGroups.Answer(key: [], sum: try answer(sum, to: query).sum)]
    }
    return groups.answers(try answer(groups.question, to: query))
  }

  /// Returns the plan of a grouped question.
  package func plan(for groups: RecordGroups, to query: RecordQuery) throws -> QueryPlan {
    if let sum = groups.sumAlone {
      let plan = try plan(for: sum, to: query)
      if plan.reading == .indexRows { return plan }
    }
    return try plan(for: groups.question, to: query)
  }
}

extension NumberedMeasure<RecordField> {
  /// Numbers the fields of a measure.
  init(_ measure: Measure<RecordField>) {
    var fields: [RecordField] = []
    for field in measure.fields where !fields.contains(field) { fields.append(field) }
    func list(_ field: RecordField) -> String? {
      guard let path = field.path, let last = path.parts.lastIndex(where: \.isEach) else {
        return nil
      }
      // The rest of a name after its list does not count.
      return path.name.split(separator: ".", omittingEmptySubsequences: false)
        .prefix(last + 1).joined(separator: ".")
    }
    let names = fields.map(list)
    self.init(
      fields: fields, lists: names.map { name in name.flatMap { names.firstIndex(of: $0) } },
      measure: measure.map { fields.firstIndex(of: $0) ?? 0 })
  }
}
