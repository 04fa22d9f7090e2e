import FoundationEssentials

/// The quantity that a question counts, by fields of any form.
package indirect enum Measure<Field: Sendable>: Sendable {
  case count
  case exists
  /// The sum and the number of the values that are numbers.
  case sum(Field, NumberForm)
  case minimum(Field)
  case maximum(Field)
  /// The value at a percentile, 0 to 100, by nearest rank.
  case percentile(Double, Field)
  /// The same quantity for each combination of values.
  case groups(Grouping<Field>, Measure)
  /// Several quantities of the same entities.
  case combined([Measure])

  /// The fields that it reads, those of outer groups first.
  var fields: [Field] {
    switch self {
    case .count, .exists: []
    case .sum(let field, _), .minimum(let field), .maximum(let field), .percentile(_, let field):
      [field]
    case .groups(let grouping, let measure): grouping.fields.map(\.field) + measure.fields
    case .combined(let measures): measures.flatMap(\.fields)
    }
  }

  /// The fields that are added.
  var sums: [(field: Field, form: NumberForm)] {
    switch self {
    case .sum(let field, let form): [(field, form)]
    case .groups(_, let measure): measure.sums
    case .combined(let measures): measures.flatMap(\.sums)
    default: []
    }
  }

  /// The fields whose values are counted, without those of groups.
  var measured: [Field] {
    switch self {
    case .groups(_, let measure): measure.measured
    case .combined(let measures): measures.flatMap(\.measured)
    default: fields
    }
  }

  /// The same with fields of another form.
  func map<Other>(_ transform: (Field) -> Other) -> Measure<Other> {
    switch self {
    case .count: .count
    case .exists: .exists
    case .sum(let field, let form): .sum(transform(field), form)
    case .minimum(let field): .minimum(transform(field))
    case .maximum(let field): .maximum(transform(field))
    case .percentile(let percentile, let field): .percentile(percentile, transform(field))
    case .groups(let grouping, let measure):
      .groups(
        Grouping(
          fields: grouping.fields.map {
            .init(field: transform($0.field), unit: $0.unit, identity: $0.identity)
          }, selection: grouping.selection),
        measure.map(transform))
    case .combined(let measures): .combined(measures.map { $0.map(transform) })
    }
  }

  /// Whether a tally of a part of its entities can't be added to that of the others.
  var needsWhole: Bool {
    switch self {
    case .count, .exists, .sum, .minimum, .maximum: false
    case .percentile: true
    case .groups(let grouping, let measure): grouping.selection != nil || measure.needsWhole
    case .combined(let measures): measures.contains(where: \.needsWhole)
    }
  }
}

/// The numbers of a field that is added.
///
/// The rows of an index don't tell doubles from other numbers, but sums of both are rounded in different ways.
package enum NumberForm: Sendable {
  case doubles
  /// Integers, decimals and durations.
  case exact
  case unknown

  /// The form of the values of a type.
  static func of<Value: Summable>(_ type: Value.Type) -> NumberForm {
    if Value.Sum.self == Double.self { return .doubles }
    let isExact =
      Value.Sum.self is any FixedWidthInteger.Type || Value.Sum.self == Decimal.self
      || Value.Sum.self == Duration.self
    return isExact ? .exact : .unknown
  }

  /// The number as a record has it; `nil` if it is not known.
  func restored(_ value: QueryValue) -> QueryValue? {
    guard value.kind == .number else { return value }
    switch (self, value) {
    case (.doubles, .double), (.doubles, .decimal): return value
    case (.doubles, _): return value.decimalNumber.map { .double($0.nearest) }
    case (.exact, .double(let double)):
      return DecimalNumber(exactly: double).map { QueryValue($0) }
    case (.exact, _): return value
    case (.unknown, _): return nil
    }
  }
}

/// The fields whose values form groups, and which groups the answer has.
package struct Grouping<Field: Sendable>: Sendable {
  /// One field of a key.
  package struct Part: Sendable {
    package let field: Field
    /// The unit of a calendar to which a date is shortened; `nil` for the value itself.
    let unit: CalendarUnit?
    /// Says which values are one in the key of the answer.
    let identity: @Sendable (QueryValue) -> GroupIdentity
  }

  package let fields: [Part]
  /// `nil` for all groups.
  var selection: GroupSelection?
}

extension Grouping {
  /// Says which groups are one key of the answer.
  func identity(of values: GroupValues) -> GroupIdentity {
    switch values {
    case .one(let value): fields[0].identity(value)
    case .several(let values): .joined(values) { fields[$0].identity($1) }
    }
  }

  /// Whether some groups are one key of the answer.
  func shareKey(_ groups: some Sequence<GroupValues>) -> Bool {
    var keys: Set<AnyHashable> = []
    for group in groups {
      if case .shared(let key) = identity(of: group), !keys.insert(key).inserted { return true }
    }
    return false
  }
}

/// Which key of the answer the values of a group are.
enum GroupIdentity {
  /// A key that no other values are.
  case own
  /// A key that other values may be, too.
  case shared(AnyHashable)
  /// No key: the answer is an error.
  case none
}

/// The groups of an answer: those that meet a condition, in an order, up to a limit.
struct GroupSelection: Sendable {
  /// The value by which a group is ordered; `nil` leaves the group out.
  let rank: @Sendable (Tally) throws(QueryError) -> QueryValue?
  /// Whether high values come first.
  var isDescending = false
  /// Whether, of equal values, high keys come first.
  var hasDescendingKeys = false
  /// The largest number of groups; `nil` for all.
  var limit: Int?

  /// Whether a group comes before another.
  func areInOrder(
    _ rank: QueryValue, _ values: GroupValues, _ otherRank: QueryValue, _ otherValues: GroupValues
  ) -> Bool {
    if rank != otherRank { return (rank < otherRank) != isDescending }
    return hasDescendingKeys ? otherValues < values : values < otherValues
  }
}

/// The values of a group, one for each field of its key.
package enum GroupValues: Hashable, Comparable, Sendable {
  case one(QueryValue)
  case several([QueryValue])

  package static func < (left: GroupValues, right: GroupValues) -> Bool {
    switch (left, right) {
    case (.one(let left), .one(let right)): return left < right
    case (.several(let left), .several(let right)): return left.lexicographicallyPrecedes(right)
    case (.one, .several): return true
    case (.several, .one): return false
    }
  }
}

/// A measure by positions in a list of fields: in the parts of entities that are counted.
package struct NumberedMeasure<Field: Sendable>: Sendable {
  /// The fields, each once.
  package let fields: [Field]
  /// For each field with a value per element, the number of its list; `nil` for others.
  let lists: [Int?]
  let measure: Measure<Int>

  /// Numbers the fields of a measure.
  init<E>(_ measure: Measure<QueryField<E>>) where Field == QueryField<E> {
    var fields: [Field] = []
    for field in measure.fields where !fields.contains(field) { fields.append(field) }
    self.fields = fields
    lists = fields.map { field in
      field.hasElements
        ? fields.firstIndex { $0.hasElements && $0.keyPath == field.keyPath } : nil
    }
    self.measure = measure.map { fields.firstIndex(of: $0) ?? 0 }
  }

  /// The number of entities.
  package static var count: NumberedMeasure {
    NumberedMeasure(fields: [], lists: [], measure: .count)
  }

  init(fields: [Field], lists: [Int?], measure: Measure<Int>) {
    self.fields = fields
    self.lists = lists
    self.measure = measure
  }

  /// The same with fields of another form.
  func map<Other>(_ transform: (Field) -> Other) -> NumberedMeasure<Other> {
    NumberedMeasure<Other>(fields: fields.map(transform), lists: lists, measure: measure)
  }

  /// Whether it is the number of entities for each value of one field.
  var countsValues: Bool {
    guard case .groups(let grouping, .count) = measure, grouping.fields.count == 1 else {
      return false
    }
    return grouping.fields[0].unit == nil
  }

  /// Whether parts that have each different element of a list once are enough.
  ///
  /// The elements have to be part of the outermost key, because an entity without elements has no part.
  var isAnsweredByRows: Bool {
    let elements = Set(lists.indices.filter { lists[$0] != nil })
    if elements.isEmpty { return true }
    guard elements.count == 1, case .groups(let grouping, let inner) = measure else { return false }
    return grouping.fields.contains { elements.contains($0.field) }
      && !inner.measured.contains(where: elements.contains)
  }

  /// Whether some of the outermost groups of a tally are one key of the answer.
  func sharesKeys(_ tally: Tally) -> Bool {
    guard case .groups(let grouping, _) = measure else { return false }
    return grouping.shareKey(tally.groups.keys)
  }

  /// Counts nothing yet.
  ///
  /// - Parameter isRunning: Whether entities can be removed again.
  /// - Returns: The node.
  func makeNode(isRunning: Bool) -> any TallyNode {
    TallyNodes(lists: lists, isRunning: isRunning).make(measure)
  }
}
