import FoundationEssentials
import PandoModels
import PandoStore

/// Parses the filters of `pando query`.
///
/// ```
/// either      = both { "||" both }
/// both        = one { "&&" one }
/// one         = "!" one | "(" either ")" | "all" | comparison
/// comparison  = FIELD ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
///             | FIELD "~=" TEXT | FIELD ">>" "[" [ value { "," value } ] "]"
/// value       = TEXT | NUMBER | "true" | "false" | "null" | "date" "(" TEXT ")" | "uuid" "(" TEXT ")"
/// ```
struct FilterParser {
  /// The maximum depth of brackets and `!`, more than a written filter needs.
  private static let depthMaximum = 100
  /// The maximum number of digits of an integer, as in JSON.
  private static let digitCountMaximum = 38

  private var tokens: ArraySlice<FilterToken>
  private var depth = 0
  /// The fields, in the order of their first use.
  private(set) var fields: [FilterField] = []

  private init(_ tokens: [FilterToken]) { self.tokens = tokens[...] }

  /// Parses a filter.
  ///
  /// - Returns: The filter and its fields.
  /// - Throws: A usage error with line and column.
  static func parse(
    _ text: String
  ) throws(CommandError) -> (filter: FilterTree<RecordField>, fields: [FilterField]) {
    var parser = FilterParser(try FilterTokenizer.tokens(of: text))
    let filter = try parser.either()
    guard parser.next.kind == .end else {
      throw parser.next.mistake("expected &&, || or the end, found \(parser.next.description)")
    }
    return (filter, parser.fields)
  }

  /// Parses a field from an argument such as that of `--order`: any name, or one in backticks.
  static func field(argument text: String) throws(CommandError) -> FilterField {
    guard text.first == "`" else { return FilterField(text) }
    guard let name = try FilterTokenizer.quotedName(text) else {
      throw CommandError(.usage, "“\(text)” does not end with its closing `")
    }
    return FilterField(name, isQuoted: true)
  }

  private var next: FilterToken {
    guard let token = tokens.first else { preconditionFailure("the end is the last token") }
    return token
  }

  private mutating func take() -> FilterToken {
    let token = next
    if token.kind != .end { tokens.removeFirst() }
    return token
  }

  private mutating func take(symbol: String) -> Bool {
    guard next.isSymbol(symbol) else { return false }
    _ = take()
    return true
  }

  private mutating func require(symbol: String, _ place: String) throws(CommandError) {
    guard take(symbol: symbol) else {
      throw next.mistake("expected \(symbol) \(place), found \(next.description)")
    }
  }

  private mutating func either() throws(CommandError) -> FilterTree<RecordField> {
    var parts = [try both()]
    while take(symbol: "||") { parts.append(try both()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func both() throws(CommandError) -> FilterTree<RecordField> {
    var parts = [try one()]
    while take(symbol: "&&") { parts.append(try one()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func one() throws(CommandError) -> FilterTree<RecordField> {
    let token = take()
    switch token.kind {
    case .symbol("!"), .symbol("("):
      depth += 1
      defer { depth -= 1 }
      guard depth <= Self.depthMaximum else {
        throw token.mistake("more than \(Self.depthMaximum) brackets and “!” inside each other")
      }
      if token.isSymbol("!") { return .not(try one()) }
      let inner = try either()
      try require(symbol: ")", "after what is in brackets")
      return inner
    case .name("all") where !isOperator(next): return .all
    case .name(let name): return try comparison(FilterField(name))
    case .quotedName(let name): return try comparison(FilterField(name, isQuoted: true))
    default: throw token.mistake("expected a field, ! or (, found \(token.description)")
    }
  }

  private func isOperator(_ token: FilterToken) -> Bool {
    if FilterComparison.allCases.contains(where: { token.isSymbol($0.rawValue) }) { return true }
    return token.isSymbol("~=") || token.isSymbol(">>")
  }

  private mutating func comparison(
    _ named: FilterField
  ) throws(CommandError) -> FilterTree<RecordField> {
    if !fields.contains(named) { fields.append(named) }
    let field = named.field
    let operation = take()
    guard isOperator(operation), case .symbol(let symbol) = operation.kind else {
      throw operation.mistake(
        "expected ==, !=, <, <=, >, >=, ~= or >> after “\(named.name)”, found \(operation.description)"
      )
    }
    if let comparison = FilterComparison(rawValue: symbol) {
      return Self.filter(field, comparison, try values())
    }
    if symbol == ">>" { return .isIn(field, QueryValueSet(try list())) }
    let token = take()
    guard case .text(let source) = token.kind else {
      throw token.mistake(
        "expected a regular expression in quotation marks, found \(token.description)")
    }
    let pattern = FilterPattern(source)
    guard pattern.isValid else { throw token.mistake("“\(source)” is no regular expression") }
    return .pattern(field, pattern)
  }

  private mutating func list() throws(CommandError) -> [QueryValue] {
    try require(symbol: "[", "after >>")
    if take(symbol: "]") { return [] }
    var values = try values()
    while take(symbol: ",") { values += try self.values() }
    try require(symbol: "]", "after the values")
    return values
  }

  /// A comparison with a value and maybe its nearest double, which counts as equal to it.
  private static func filter(
    _ field: RecordField, _ comparison: FilterComparison, _ forms: [QueryValue]
  ) -> FilterTree<RecordField> {
    let compared = FilterTree.compare(field, comparison, forms[0])
    guard forms.count > 1 else { return compared }
    let double = forms[1]
    if comparison == .equal { return .isIn(field, QueryValueSet(forms)) }
    let takesEqual = comparison == .lessOrEqual || comparison == .greaterOrEqual
    if comparison.holds(double, forms[0]) == takesEqual { return compared }
    return takesEqual
      ? .or([compared, .compare(field, .equal, double)])
      : .and([compared, .compare(field, .notEqual, double)])
  }

  /// A value; for a number with a fraction the decimal number of its digits, and the nearest double.
  private mutating func values() throws(CommandError) -> [QueryValue] {
    let token = next
    let value = try value()
    guard case .double = value, case .number(let text) = token.kind,
      let decimal = QueryValue.decimal(text), case .decimal = decimal, decimal != value
    else { return [value] }
    return [decimal, value]
  }

  private mutating func value() throws(CommandError) -> QueryValue {
    let token = take()
    switch token.kind {
    case .text(let text): return .string(text)
    case .number(let text): return try number(text, token)
    case .name("true"): return .bool(true)
    case .name("false"): return .bool(false)
    case .name("null"): return .null
    case .name("date"):
      let (text, place) = try argument("date")
      do {
        return .date(try FilterDate(text).date)
      } catch {
        throw place.mistake(error.reason)
      }
    case .name("uuid"):
      let (text, place) = try argument("uuid")
      guard let uuid = UUID(uuidString: text) else {
        throw place.mistake("“\(text)” is no UUID")
      }
      return .uuid(uuid)
    case .name(let name):
      throw token.mistake("“\(name)” is no value; texts stand in quotation marks")
    default: throw token.mistake("expected a value, found \(token.description)")
    }
  }

  private func number(_ text: String, _ token: FilterToken) throws(CommandError) -> QueryValue {
    if let integer = Int128(text) { return QueryValue(integer) }
    if let integer = UInt128(text) { return QueryValue(integer) }
    let digits = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
    if digits.allSatisfy({ "0"..."9" ~= $0 }), digits.count > Self.digitCountMaximum {
      throw token.mistake(
        "“\(text)” has \(digits.count) digits; an integer has \(Self.digitCountMaximum) at most")
    }
    guard let double = Double(text), double.isFinite, text.last != ".", !text.contains("x") else {
      throw token.mistake("“\(text)” is no number")
    }
    if double == 0,
      digits.prefix(while: { $0 != "e" && $0 != "E" }).contains(where: { "1"..."9" ~= $0 })
    {
      throw token.mistake("“\(text)” is nearer to 0 than a double can hold")
    }
    return .double(double)
  }

  private mutating func argument(
    _ name: String
  ) throws(CommandError) -> (String, FilterToken) {
    try require(symbol: "(", "after \(name)")
    let token = take()
    guard case .text(let text) = token.kind else {
      throw token.mistake("expected a text in quotation marks, found \(token.description)")
    }
    try require(symbol: ")", "after the text")
    return (text, token)
  }
}

/// The name of a field in a filter or an order.
struct FilterField: Hashable {
  let name: String
  /// Whether the name stood in backticks: then it is a stored field, even if it is a reserved name.
  let isQuoted: Bool

  init(_ name: String, isQuoted: Bool = false) {
    self.name = name
    self.isQuoted = isQuoted
  }

  /// The field: `$id` is the node's identifier, `$children` are the identifiers of its children.
  var field: RecordField {
    switch name {
    case "$id" where !isQuoted: .identifier
    case "$children" where !isQuoted: .children
    default: .named(FieldPath(name))
    }
  }
}

/// A word of a filter, with its position.
struct FilterToken: Hashable {
  enum Kind: Hashable {
    /// A name, such as that of a field.
    case name(String)
    /// A name in backticks, without the backticks.
    case quotedName(String)
    /// A text in quotation marks.
    case text(String)
    /// A number.
    case number(String)
    /// An operator, a bracket or a comma.
    case symbol(String)
    case end
  }

  let kind: Kind
  /// The line, from 1; errors name line and column.
  let line: Int
  let column: Int

  /// The name of the token in errors.
  var description: String {
    switch kind {
    case .name(let text), .quotedName(let text), .number(let text), .symbol(let text): "“\(text)”"
    case .text(let text): "the text “\(text)”"
    case .end: "the end"
    }
  }

  func isSymbol(_ text: String) -> Bool { kind == .symbol(text) }

  /// Returns an error at this position.
  func mistake(_ reason: String) -> CommandError {
    CommandError(
      .usage, at: "FILTER, line \(line), column \(column)", reason,
      remedy: "see: pando query --help")
  }
}

/// Splits a filter into words.
struct FilterTokenizer {
  /// Longest first, so that `<=` does not match `<`.
  private static let symbols = [
    "==", "!=", "<=", ">=", "~=", ">>", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",",
  ]

  private var rest: Substring
  private var line = 1
  private var column = 1

  init(_ text: String) { rest = text[...] }

  /// Returns the words; the last one is the end.
  ///
  /// - Throws: A usage error with line and column.
  static func tokens(of text: String) throws(CommandError) -> [FilterToken] {
    var tokenizer = FilterTokenizer(text)
    var tokens: [FilterToken] = []
    repeat { tokens.append(try tokenizer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func advance() -> Character? {
    guard let character = rest.popFirst() else { return nil }
    if character.isNewline {
      line += 1
      column = 1
    } else {
      column += 1
    }
    return character
  }

  private mutating func next() throws(CommandError) -> FilterToken {
    while rest.first?.isWhitespace == true { _ = advance() }
    let (line, column) = (line, column)
    func token(_ kind: FilterToken.Kind) -> FilterToken {
      FilterToken(kind: kind, line: line, column: column)
    }
    guard let first = rest.first else { return token(.end) }
    if first == "\"" { return token(.text(try text(from: token(.end)))) }
    if first == "`" { return token(.quotedName(try quotedName(from: token(.end)))) }
    if Self.isDigit(first) || first == "-" || first == "+" {
      return token(.number(take { Self.isDigit($0) || $0.isLetter || "+-.".contains($0) }))
    }
    if first.isLetter || first == "_" || first == "$" {
      var name = ""
      repeat {
        name += take { $0.isLetter || $0.isNumber || "_$.".contains($0) }
        // A step into each element of a list.
        guard rest.hasPrefix("[]") else { break }
        for _ in 0..<2 { _ = advance() }
        name += "[]"
      } while rest.first == "."
      return token(.name(name))
    }
    if let symbol = Self.symbols.first(where: { rest.hasPrefix($0) }) {
      for _ in symbol { _ = advance() }
      return token(.symbol(symbol))
    }
    let advice =
      switch first {
      case "=": "; equality is =="
      case "&": "; “and” is &&"
      case "|": "; “or” is ||"
      case "'": "; texts stand in double quotation marks"
      default: ""
      }
    throw token(.symbol(String(first))).mistake("“\(first)” is no part of a filter\(advice)")
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

  private mutating func take(while isPart: (Character) -> Bool) -> String {
    var text = ""
    while let next = rest.first, isPart(next) {
      text.append(next)
      _ = advance()
    }
    return text
  }

  /// Returns the name, if the whole text is a name in backticks; otherwise `nil`.
  static func quotedName(_ text: String) throws(CommandError) -> String? {
    var tokenizer = FilterTokenizer(text)
    guard case .quotedName(let name) = try tokenizer.next().kind, tokenizer.rest.isEmpty else {
      return nil
    }
    return name
  }

  /// Reads a name in backticks; two backticks inside stand for one.
  private mutating func quotedName(from start: FilterToken) throws(CommandError) -> String {
    var name = ""
    _ = advance()
    while true {
      name += take { $0 != "`" }
      guard advance() != nil else { throw start.mistake("this name has no closing `") }
      guard !name.isEmpty, rest.first == "`" else { break }
      _ = advance()
      name += "`"
    }
    guard !name.isEmpty else { throw start.mistake("this name is empty") }
    return name
  }

  /// Reads a text with the escapes of JSON.
  private mutating func text(from start: FilterToken) throws(CommandError) -> String {
    var source = "\""
    _ = advance()
    while let character = advance() {
      source.append(character)
      if character == "\"" {
        guard let text = (try? TreeValue(json: source))?.stringValue else {
          throw start.mistake("this text is not as JSON writes texts")
        }
        return text
      }
      if character == "\\", let escaped = advance() { source.append(escaped) }
    }
    throw start.mistake("this text has no closing quotation mark")
  }
}

extension QueryValue {
  /// How many digits each `Decimal` can hold.
  private static let digitCountMaximum = 38

  /// The decimal number of a text that is a number; `nil` if `Decimal` can't represent all its digits.
  fileprivate static func decimal(_ text: String) -> QueryValue? {
    let digits = text.prefix { $0 != "e" && $0 != "E" }.filter { "0"..."9" ~= $0 }
    let significantCount = digits.drop { $0 == "0" }.count
    // Further digits would be rounded.
    guard significantCount <= digitCountMaximum, let decimal = Decimal(string: text),
      !decimal.isNaN
    else { return nil }
    return .decimal(decimal)
  }
}
