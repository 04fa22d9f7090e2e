import PandoModels

/// A filter over fields of any form: key paths of an entity type, or names.
package indirect enum FilterTree<Field: Hashable & Sendable>: Hashable, Sendable {
  /// Matches everything.
  case all
  case compare(Field, FilterComparison, QueryValue)
  case isIn(Field, QueryValueSet)
  /// A text that contains a match of a regular expression.
  case pattern(Field, FilterPattern)
  /// A text that has a prefix, compared byte by byte.
  case prefix(Field, String)
  /// A text that contains another one, or begins with it, as the options compare them.
  case part(Field, TextPart)
  /// Texts of fields that together have words.
  case search([Field], WordSearch)
  case and([FilterTree])
  case or([FilterTree])
  case not(FilterTree)
}

extension FilterTree {
  /// The fields of the filter, from left to right.
  package var fields: [Field] {
    var fields: [Field] = []
    forEachLeaf { leaf in
      switch leaf {
      case .compare(let field, _, _), .isIn(let field, _), .pattern(let field, _),
        .prefix(let field, _), .part(let field, _):
        fields.append(field)
      case .search(let searched, _): fields += searched
      case .all, .and, .or, .not: break
      }
    }
    return fields
  }

  /// The first search that each match meets; `nil` if there is none.
  var requiredSearch: (fields: [Field], search: WordSearch)? {
    switch self {
    case .search(let fields, let search): return (fields, search)
    case .and(let parts):
      for part in parts {
        if let found = part.requiredSearch { return found }
      }
      return nil
    default: return nil
    }
  }

  /// Whether an object with these field values matches.
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
    case .part(let field, let part):
      return try value(field).isText { part.isFound(in: $0) }
    case .search(let fields, let search):
      var words = WordScanner()
      for field in fields { try value(field).scan(&words) }
      return search.matches(words)
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
  /// Whether this, or an element, is a text that satisfies a condition.
  fileprivate func isText(_ body: (String) -> Bool) -> Bool {
    switch self {
    case .string(let text): body(text)
    case .elements(let values): values.contains { $0.isText(body) }
    default: false
    }
  }
}

extension QueryValue {
  /// Finds the words of the text, or of each one of several.
  func scan(_ words: inout WordScanner) {
    switch self {
    case .string(let text): words.scan(text)
    case .elements(let values): for value in values { value.scan(&words) }
    default: break
    }
  }
}

/// The possible values of a field.
package struct QueryValueSet: Hashable, Sendable {
  /// The values in the given order, without duplicates.
  package let values: [QueryValue]
  /// The number of values up to which they are compared one by one.
  private static let fewCount = 6
  /// The set of more than a few values; else `nil`.
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

  /// Whether the value, or an element, is in the set.
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
/// It matches scalar by scalar: `.` is one Unicode scalar (no line break), and a letter matches
/// only itself, without Unicode equivalence. `\b` is a word boundary of UAX #29: "don't" and "3.14"
/// are one word each. `^` and `$` are the ends of the text; with `(?m)`, of lines.
package struct FilterPattern: Sendable {
  /// The source text of the expression.
  package let source: String
  /// `nil` if the expression is invalid.
  private let expression: Expression?
  /// The common prefix of all matching texts; empty if there is none.
  package let prefix: String
  /// Whether the expression matches every text with the prefix.
  package let isPrefixOnly: Bool

  package init(_ source: String) {
    self.source = source
    expression = Self.endsTheProcess(source) ? nil : (try? Regex(source)).map(Expression.init)
    let literal = expression == nil ? (text: "", isWhole: false) : Self.literalPrefix(of: source)
    prefix = literal.text
    isPrefixOnly = literal.isWhole
  }

  /// Whether the expression is valid.
  package var isValid: Bool { expression != nil }

  /// Whether a text contains a match; an invalid expression never matches.
  package func isFound(in text: String) -> Bool {
    guard prefix.isEmpty || text.utf8.starts(with: prefix.utf8) else { return false }
    if isPrefixOnly { return true }
    guard let expression else { return false }
    return expression.isFound(in: text)
  }

  /// Whether an expression could end the process: one with a backreference to a group that may be
  /// repeated zero times, as in `(a){0}\1` (Swift 6.3.1).
  private static func endsTheProcess(_ source: String) -> Bool {
    source.contains(/\\[1-9gk]|\(\?P[=>]/) && source.contains(/\{\s*0*\s*(,\s*0*\s*)?\}/)
  }

  /// The literal text after a leading `^`, up to the first syntax character.
  ///
  /// An expression is parsed by character: a quantifier applies to a whole one, including combining
  /// marks.
  private static func literalPrefix(of source: String) -> (text: String, isWhole: Bool) {
    // An alternative anywhere may begin with another text.
    guard source.first == "^", !source.unicodeScalars.contains("|") else { return ("", false) }
    var literals: [Character] = []
    for character in source.dropFirst() {
      guard !character.unicodeScalars.contains(where: \.isPatternSyntax) else {
        // A quantifier makes the previous character optional or repeated.
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
  // Sendable because it is made from text alone: it has no closure. Its program, which it compiles
  // later, is published in one atomic step.
  private let regex: Regex<AnyRegexOutput>

  init(_ regex: Regex<AnyRegexOutput>) {
    // Not with simple word boundaries, which exclude digits from words (Swift 6.3.1).
    self.regex = regex.matchingSemantics(.unicodeScalar)
  }

  /// An expression that fails while it runs does not match.
  func isFound(in text: String) -> Bool { (try? regex.firstMatch(in: text)) != nil }
}

extension FilterPattern: Hashable {
  package static func == (left: FilterPattern, right: FilterPattern) -> Bool {
    left.source.utf8.elementsEqual(right.source.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(Array(source.utf8)) }
}

extension Unicode.Scalar {
  /// Whether the scalar is syntax in a regular expression.
  fileprivate var isPatternSyntax: Bool { #"\^$.|?*+()[]{}"#.unicodeScalars.contains(self) }
}
