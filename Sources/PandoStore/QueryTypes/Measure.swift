/// The quantity that a question counts, by fields of any form.
package struct Measure<Field: Sendable>: Sendable {
  package enum Kind: Sendable {
    case count
    case exists
    /// The sum and the number of the values that are numbers.
    case sum(Field)
    case minimum(Field)
    case maximum(Field)
  }

  package var kind: Kind
  /// The fields whose values form groups, the outermost first.
  package var groups: [Field] = []

  package init(_ kind: Kind) { self.kind = kind }

  package static var count: Measure { Measure(.count) }

  /// The field whose values are counted; `nil` if the entities are.
  var field: Field? {
    switch kind {
    case .count, .exists: nil
    case .sum(let field), .minimum(let field), .maximum(let field): field
    }
  }

  /// The fields that it reads: those of the groups, the outermost first, and the counted one.
  var fields: [Field] { groups + (field.map { [$0] } ?? []) }

  /// The same in groups.
  func grouped(by field: Field) -> Measure {
    var measure = self
    measure.groups.insert(field, at: 0)
    return measure
  }

  /// The same with fields of another form.
  func map<Other>(_ transform: (Field) -> Other) -> Measure<Other> {
    let kind: Measure<Other>.Kind =
      switch kind {
      case .count: .count
      case .exists: .exists
      case .sum(let field): .sum(transform(field))
      case .minimum(let field): .minimum(transform(field))
      case .maximum(let field): .maximum(transform(field))
      }
    var measure = Measure<Other>(kind)
    measure.groups = groups.map(transform)
    return measure
  }

  /// Begins to count, below a number of groups.
  func tally(below depth: Int = 0) -> Tally {
    if depth < groups.count { return .groups([:]) }
    return switch kind {
    case .count, .exists: .count(0)
    case .sum: .sum(NumberSum())
    case .minimum: .extreme(nil, isMaximum: false)
    case .maximum: .extreme(nil, isMaximum: true)
    }
  }

  /// Counts an entity whose values a closure returns.
  func add(
    to tally: inout Tally, below depth: Int = 0, _ value: (Field) throws -> QueryValue
  ) rethrows {
    guard depth < groups.count else { return tally.add(try field.map(value) ?? .null) }
    let key = try value(groups[depth])
    var inner = tally.groups
    // The dictionary has one owner, so that it is changed in place.
    tally = .groups([:])
    try add(to: &inner[key, default: self.tally(below: depth + 1)], below: depth + 1, value)
    tally = .groups(inner)
  }
}

/// The count so far for a question.
package enum Tally: Sendable {
  case count(Int)
  case sum(NumberSum)
  case extreme(QueryValue?, isMaximum: Bool)
  indirect case groups([QueryValue: Tally])

  /// The number of entities; 0 for another tally.
  package var count: Int { if case .count(let count) = self { count } else { 0 } }

  var sum: NumberSum { if case .sum(let sum) = self { sum } else { NumberSum() } }

  var extreme: QueryValue? { if case .extreme(let value, _) = self { value } else { nil } }

  var groups: [QueryValue: Tally] { if case .groups(let groups) = self { groups } else { [:] } }

  /// Counts a value.
  fileprivate mutating func add(_ value: QueryValue) {
    switch self {
    case .count(let count): self = .count(count + 1)
    case .sum(var sum):
      self = .count(0)
      sum.add(value)
      self = .sum(sum)
    case .extreme(let best, let isMaximum):
      guard value.isValue else { return }
      if best.map({ isMaximum ? $0 < value : value < $0 }) ?? true {
        self = .extreme(value, isMaximum: isMaximum)
      }
    case .groups: break
    }
  }

  /// Counts what another tally of the same measure has counted.
  mutating func add(_ other: Tally) {
    switch (self, other) {
    case (.count(let count), .count(let more)): self = .count(count + more)
    case (.sum(var sum), .sum(let more)):
      sum.add(more)
      self = .sum(sum)
    case (.extreme, .extreme(let value?, _)): add(value)
    case (.groups(let groups), .groups(let more)):
      self = .groups(
        groups.merging(more) { tally, more in
          var tally = tally
          tally.add(more)
          return tally
        })
    default: break
    }
  }
}

extension QueryValue {
  /// Whether it counts in a sum, a minimum and a maximum: null, not-a-number and values of several
  /// parts do not.
  package var isValue: Bool { kind != .null && kind != .notANumber && kind != .composite }
}
