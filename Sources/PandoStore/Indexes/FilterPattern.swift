/// A regular expression of a filter, in the syntax of Swift's `Regex`.
///
/// It is compared scalar by scalar: `.` is one Unicode scalar, a letter matches itself alone and not
/// what Unicode calls equivalent, and word boundaries are those between `\w` and `\W`.
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
    expression = (try? Regex(source)).map(Expression.init)
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

  /// The plain text after a leading `^`, as far as it goes.
  private static func literalPrefix(of source: String) -> (text: String, isWhole: Bool) {
    // An alternative anywhere may begin otherwise.
    guard source.unicodeScalars.first == "^", !source.unicodeScalars.contains("|") else {
      return ("", false)
    }
    var text = String.UnicodeScalarView()
    for scalar in source.unicodeScalars.dropFirst() {
      guard !scalar.isPatternSyntax else {
        // A quantifier makes what is before it optional or repeated.
        if "?*{+".unicodeScalars.contains(scalar) { _ = text.popLast() }
        return (String(text), false)
      }
      text.append(scalar)
    }
    return (String(text), true)
  }
}

/// A compiled expression that several threads use.
private struct Expression: @unchecked Sendable {
  // Sendable because it is made from text alone: it holds no closure, and the one thing that it makes
  // later, its program, it puts in place in one atomic step.
  private let regex: Regex<AnyRegexOutput>

  init(_ regex: Regex<AnyRegexOutput>) {
    self.regex = regex.matchingSemantics(.unicodeScalar).wordBoundaryKind(.simple)
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
