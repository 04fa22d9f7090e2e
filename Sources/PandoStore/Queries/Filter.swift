import PandoModels

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
  /// The fields that are asked for, from left to right.
  package var fields: [Field] {
    var fields: [Field] = []
    forEachLeaf { leaf in
      switch leaf {
      case .compare(let field, _, _), .isIn(let field, _), .pattern(let field, _),
        .prefix(let field, _):
        fields.append(field)
      case .all, .and, .or, .not: break
      }
    }
    return fields
  }

  /// Whether something matches whose fields have certain values.
  package func matches(
    _ value: (Field) throws -> QueryValue
  ) rethrows -> Bool {
    switch self {
    case .all: return true
    case .compare(let field, let comparison, let operand):
      return comparison.holds(try value(field), operand)
    case .isIn(let field, let values): return values.holds(try value(field))
    case .pattern(let field, let pattern):
      return try value(field).isText { pattern.isFound(in: $0) }
    case .prefix(let field, let prefix):
      return try value(field).isText { $0.utf8.starts(with: prefix.utf8) }
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

extension QueryValue {
  /// Whether this is a text for which something holds, or that of an element is.
  fileprivate func isText(_ body: (String) -> Bool) -> Bool {
    switch self {
    case .string(let text): body(text)
    case .elements(let values): values.contains { $0.isText(body) }
    default: false
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

  /// Whether a value is one of these, or that of an element is.
  package func holds(_ value: QueryValue) -> Bool {
    if case .elements(let values) = value { return values.contains(where: contains) }
    return contains(value)
  }

  package func contains(_ value: QueryValue) -> Bool {
    lookup?.contains(value) ?? values.contains(value)
  }

  package static func == (left: QueryValueSet, right: QueryValueSet) -> Bool {
    left.values == right.values
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// A regular expression of a filter, in the syntax of Swift's `Regex`.
///
/// It is compared scalar by scalar: `.` is one Unicode scalar (no line break), a letter matches itself
/// alone and not what Unicode calls equivalent. `\b` lies where a word begins or ends by Unicode's rules
/// (UAX #29): "don't" and "3.14" are one word each. `^` and `$` are the ends of the text; `(?m)` makes them those of lines.
package struct FilterPattern: Sendable {
  /// The expression as it was written.
  package let source: String
  /// `nil` if it can't be read.
  private let expression: Expression?
  /// What every text begins with in which it is found; empty if it says nothing.
  package let prefix: String
  /// Whether it says nothing but its prefix.
  package let isPrefixOnly: Bool

  package init(_ source: String) {
    self.source = source
    expression = Self.endsTheProcess(source) ? nil : (try? Regex(source)).map(Expression.init)
    let literal = expression == nil ? (text: "", isWhole: false) : Self.literalPrefix(of: source)
    prefix = literal.text
    isPrefixOnly = literal.isWhole
  }

  /// Whether the expression can be read.
  package var isValid: Bool { expression != nil }

  /// Whether it is found anywhere in a text; an expression that can't be read never is.
  package func isFound(in text: String) -> Bool {
    guard prefix.isEmpty || text.utf8.starts(with: prefix.utf8) else { return false }
    if isPrefixOnly { return true }
    guard let expression else { return false }
    return expression.isFound(in: text)
  }

  /// Whether running an expression could end the process: one that refers back to a group, where a
  /// group may be repeated no times at all, as in `(a){0}\1` (Swift 6.3.1).
  private static func endsTheProcess(_ source: String) -> Bool {
    source.contains(/\\[1-9gk]|\(\?P[=>]/) && source.contains(/\{\s*0*\s*(,\s*0*\s*)?\}/)
  }

  /// The plain text after a leading `^`, as far as it goes.
  ///
  /// An expression is read character by character: a quantifier belongs to a whole one, with the
  /// combining marks in it.
  private static func literalPrefix(of source: String) -> (text: String, isWhole: Bool) {
    // An alternative anywhere may begin otherwise.
    guard source.first == "^", !source.unicodeScalars.contains("|") else { return ("", false) }
    var literals: [Character] = []
    for character in source.dropFirst() {
      guard !character.unicodeScalars.contains(where: \.isPatternSyntax) else {
        // A quantifier makes what is before it optional or repeated.
        if character.unicodeScalars.contains(where: "?*{+".unicodeScalars.contains) {
          _ = literals.popLast()
        }
        return (String(literals), false)
      }
      literals.append(character)
    }
    return (String(literals), true)
  }
}

/// A compiled expression that several threads use.
private struct Expression: @unchecked Sendable {
  // Sendable because it is made from text alone: it holds no closure, and the one thing that it makes
  // later, its program, it puts in place in one atomic step.
  private let regex: Regex<AnyRegexOutput>

  init(_ regex: Regex<AnyRegexOutput>) {
    // Not with simple word boundaries: those take no digit for a part of a word (Swift 6.3.1).
    self.regex = regex.matchingSemantics(.unicodeScalar)
  }

  /// An expression that fails while it runs is not found.
  func isFound(in text: String) -> Bool { (try? regex.firstMatch(in: text)) != nil }
}

extension FilterPattern: Hashable {
  package static func == (left: FilterPattern, right: FilterPattern) -> Bool {
    left.source.utf8.elementsEqual(right.source.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(Array(source.utf8)) }
}

extension Unicode.Scalar {
  /// Whether the scalar says something else than itself in a regular expression.
  fileprivate var isPatternSyntax: Bool { #"\^$.|?*+()[]{}"#.unicodeScalars.contains(self) }
}
