import PandoModels
import PandoStore

/// How changes find a followed query.
enum FollowedKey: Sendable, Hashable {
  /// The query names these nodes and has no other condition.
  case identifiers(Set<ByteString>)
  /// Each match meets all of these conditions. There is at least one; one of them finds the query.
  case values([FieldCondition])
  /// The query has a limit. An entity whose value is behind that of the last kept entity does not enter. The conditions
  /// are as for `values`; there may be none.
  case order(FieldOrder, [FieldCondition])
  /// Any entity of the type may match.
  case type

  /// Whether the query names a node.
  func names(_ identifier: ByteString) -> Bool {
    if case .identifiers(let identifiers) = self { return identifiers.contains(identifier) }
    return false
  }

  /// Whether a view with this key is found by the nodes that it keeps.
  var keepsNodes: Bool {
    switch self {
    case .values, .order: true
    case .identifiers, .type: false
    }
  }

  /// Whether the query can only be found by ranges of values, which may hold for many entities.
  var hasRangesOnly: Bool {
    switch self {
    case .values(let conditions): !conditions.contains(where: \.arePoints)
    case .order: true
    case .identifiers, .type: false
    }
  }
}

/// A value of a field.
struct FieldValue: Sendable, Hashable {
  let field: String
  let value: QueryValue
}

/// The values of a field from `lower` to `upper`, both included; `nil` for no bound.
struct FieldRange: Sendable, Hashable {
  let field: String
  let lower: QueryValue?
  let upper: QueryValue?

  /// The value of a range that has one only.
  var point: QueryValue? { lower == upper ? lower : nil }

  /// The values that both ranges have; both are of one field.
  func intersection(_ other: FieldRange) -> FieldRange {
    FieldRange(
      field: field,
      lower: lower.map { lower in other.lower.map { max(lower, $0) } ?? lower } ?? other.lower,
      upper: upper.map { upper in other.upper.map { min(upper, $0) } ?? upper } ?? other.upper)
  }

  /// The smallest range with the values of both; both are of one field.
  func union(_ other: FieldRange) -> FieldRange {
    FieldRange(
      field: field,
      lower: lower.flatMap { lower in other.lower.map { min(lower, $0) } },
      upper: upper.flatMap { upper in other.upper.map { max(upper, $0) } })
  }
}

/// A condition that a filter implies: a field of each match has a value in one of some ranges.
struct FieldCondition: Sendable, Hashable {
  /// The ranges, at least one.
  var ranges: [FieldRange]
  /// Whether the field is a list; two conditions may then be met by two elements.
  var isOfElements = false

  /// Whether each range has one value.
  var arePoints: Bool { ranges.allSatisfy { $0.point != nil } }
}

/// The first field of an order.
struct FieldOrder: Sendable, Hashable {
  let field: String
  let isDescending: Bool

  /// The values that do not come behind a value.
  func range(upTo value: QueryValue) -> FieldRange {
    isDescending
      ? FieldRange(field: field, lower: value, upper: nil)
      : FieldRange(field: field, lower: nil, upper: value)
  }
}

extension FilterTree {
  /// The conditions on declared fields that each match meets; empty if there are none.
  func conditions<E: Queryable>() -> [FieldCondition] where Field == QueryField<E> {
    switch self {
    case .and(let parts): FilterTree.joined(parts.flatMap { $0.conditions() })
    case .or(let parts): FilterTree.either(parts.map { $0.conditions() })
    case .isIn(let field, let values): FilterTree.condition(field, values.values.map { ($0, $0) })
    case .prefix(let field, let prefix):
      FilterTree.condition(field, [(.string(prefix), prefix.firstBehindPrefix.map { .string($0) })])
    case .compare(let field, .equal, let value): FilterTree.condition(field, [(value, value)])
    case .compare(let field, .less, let value), .compare(let field, .lessOrEqual, let value):
      FilterTree.condition(field, [(nil, value)])
    case .compare(let field, .greater, let value), .compare(let field, .greaterOrEqual, let value):
      FilterTree.condition(field, [(value, nil)])
    case .all, .compare(_, .notEqual, _), .pattern, .part, .search, .not: []
    }
  }

  private static func condition<E: Queryable>(
    _ field: QueryField<E>, _ ranges: [(QueryValue?, QueryValue?)]
  ) -> [FieldCondition] where Field == QueryField<E> {
    guard let name = field.declaredName, !ranges.isEmpty else { return [] }
    return [
      FieldCondition(
        ranges: ranges.map { FieldRange(field: name, lower: $0.0, upper: $0.1) },
        isOfElements: field.namesSeveral)
    ]
  }

  /// The conditions of `&&`: ranges of one field are intersected.
  private static func joined(_ conditions: [FieldCondition]) -> [FieldCondition] {
    var joined: [FieldCondition] = []
    for condition in conditions {
      if condition.isSingleRange,
        let place = joined.firstIndex(where: {
          $0.isSingleRange && $0.ranges[0].field == condition.ranges[0].field
        })
      {
        joined[place].ranges[0] = joined[place].ranges[0].intersection(condition.ranges[0])
      } else {
        joined.append(condition)
      }
    }
    return joined
  }

  /// The conditions of `||`: one that holds for each part, if each part has one.
  private static func either(_ parts: [[FieldCondition]]) -> [FieldCondition] {
    var either = FieldCondition(ranges: [])
    var seen: Set<FieldRange> = []
    for conditions in parts {
      guard let best = conditions.first(where: \.arePoints) ?? conditions.first else { return [] }
      for range in best.ranges where seen.insert(range).inserted { either.ranges.append(range) }
      if best.isOfElements { either.isOfElements = true }
    }
    return either.ranges.isEmpty ? [] : [either]
  }
}

extension FieldCondition {
  /// Whether it is one range of the only value of a field.
  fileprivate var isSingleRange: Bool { ranges.count == 1 && !isOfElements }
}

extension String {
  /// The first text behind all texts with this prefix, in the order of bytes; `nil` if there is none.
  fileprivate var firstBehindPrefix: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // The values between D800 and DFFF are no characters.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      return String(String.UnicodeScalarView(scalars))
    }
    return nil
  }
}

extension QueryField {
  /// The name under which ``TypeViews`` finds its values in changed entities; `nil` if it does not.
  ///
  /// Other forms of a declared field, such as folded texts, have names too.
  var declaredName: String? {
    name.flatMap { name in E.fields.contains { $0.name == name } ? name : nil }
  }
}
