import PandoModels

/// How a filter compares a field with a value.
public enum FilterComparison: String, Hashable, Sendable, CaseIterable {
  /// The same place in the total order.
  case equal = "=="
  /// Another place in the total order.
  case notEqual = "!="
  /// Before, among values of the same kind.
  case less = "<"
  /// Before or equal, among values of the same kind.
  case lessOrEqual = "<="
  /// After, among values of the same kind.
  case greater = ">"
  /// After or equal, among values of the same kind.
  case greaterOrEqual = ">="

  /// Whether a value stands in this relation to another.
  ///
  /// - Parameters:
  ///   - value: The value of a field.
  ///   - operand: What it is compared with.
  /// - Returns: Whether it does; by order only values of one kind do.
  public func holds(_ value: QueryValue, _ operand: QueryValue) -> Bool {
    switch self {
    case .equal: value == operand
    case .notEqual: value != operand
    case .less: value.kind == operand.kind && value < operand
    case .lessOrEqual: value.kind == operand.kind && value <= operand
    case .greater: value.kind == operand.kind && value > operand
    case .greaterOrEqual: value.kind == operand.kind && value >= operand
    }
  }
}

/// A filter over fields of any form: key paths of an entity type, or names.
package indirect enum FilterTree<Field: Hashable & Sendable>: Hashable, Sendable {
  /// Everything.
  case all
  case compare(Field, FilterComparison, QueryValue)
  case isIn(Field, QueryValueSet)
  /// A text in which a regular expression is found.
  case pattern(Field, FilterPattern)
  /// A text that begins with another, byte by byte.
  case prefix(Field, String)
  case and([FilterTree])
  case or([FilterTree])
  case not(FilterTree)
}

extension FilterTree {
  /// Whether something matches whose fields have certain values.
  package func matches(
    _ value: (Field) throws -> QueryValue
  ) rethrows -> Bool {
    switch self {
    case .all: return true
    case .compare(let field, let comparison, let operand):
      return comparison.holds(try value(field), operand)
    case .isIn(let field, let values): return values.contains(try value(field))
    case .pattern(let field, let pattern):
      guard case .string(let text) = try value(field) else { return false }
      return pattern.isFound(in: text)
    case .prefix(let field, let prefix):
      guard case .string(let text) = try value(field) else { return false }
      return text.utf8.starts(with: prefix.utf8)
    case .and(let parts):
      for part in parts where try !part.matches(value) { return false }
      return true
    case .or(let parts):
      for part in parts where try part.matches(value) { return true }
      return false
    case .not(let part): return try !part.matches(value)
    }
  }

  /// Calls a closure with every comparison, from left to right.
  package func forEachLeaf<Failure>(
    _ body: (FilterTree) throws(Failure) -> Void
  ) throws(Failure) {
    switch self {
    case .all: break
    case .and(let parts), .or(let parts): for part in parts { try part.forEachLeaf(body) }
    case .not(let part): try part.forEachLeaf(body)
    default: try body(self)
    }
  }
}

/// Values that a field can be one of.
package struct QueryValueSet: Hashable, Sendable {
  /// The values in the order given, each once.
  package let values: [QueryValue]
  /// How many values are compared one by one.
  private static let fewCount = 6
  /// For looking up; `nil` for a few values.
  private let lookup: Set<QueryValue>?

  package init(_ values: some Sequence<QueryValue>) {
    let given = Array(values)
    guard given.count > Self.fewCount else {
      var distinct: [QueryValue] = []
      for value in given where !distinct.contains(value) { distinct.append(value) }
      self.values = distinct
      lookup = nil
      return
    }
    var seen: Set<QueryValue> = []
    self.values = given.filter { seen.insert($0).inserted }
    lookup = seen
  }

  package func contains(_ value: QueryValue) -> Bool {
    lookup?.contains(value) ?? values.contains(value)
  }

  package static func == (left: QueryValueSet, right: QueryValueSet) -> Bool {
    left.values == right.values
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
