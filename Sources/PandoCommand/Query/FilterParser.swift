import FoundationEssentials
import PandoStore

/// Reads a filter as `pando query` takes it.
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
  /// How deep brackets and `!` may be nested; a person never needs as many.
  private static let depthMaximum = 100

  private var tokens: ArraySlice<FilterToken>
  private var depth = 0
  /// The names of the fields, in the order in which they first occur.
  private(set) var fields: [String] = []

  private init(_ tokens: [FilterToken]) { self.tokens = tokens[...] }

  /// Reads a filter.
  ///
  /// - Returns: The filter and the names of its fields.
  /// - Throws: A usage error with line and column.
  static func parse(
    _ text: String
  ) throws(CommandError) -> (filter: FilterTree<RecordField>, fields: [String]) {
    var parser = FilterParser(try FilterTokenizer.tokens(of: text))
    let filter = try parser.either()
    guard parser.next.kind == .end else {
      throw parser.next.mistake("expected &&, || or the end, found \(parser.next.description)")
    }
    return (filter, parser.fields)
  }

  /// The field of a name: `$id` is the identifier of the node.
  static func field(_ name: String) -> RecordField {
    name == "$id" ? .identifier : .named(FieldPath(name))
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
    case .name(let name): return try comparison(name)
    default: throw token.mistake("expected a field, ! or (, found \(token.description)")
    }
  }

  private func isOperator(_ token: FilterToken) -> Bool {
    if FilterComparison.allCases.contains(where: { token.isSymbol($0.rawValue) }) { return true }
    return token.isSymbol("~=") || token.isSymbol(">>")
  }

  private mutating func comparison(
    _ name: String
  ) throws(CommandError) -> FilterTree<RecordField> {
    if !fields.contains(name) { fields.append(name) }
    let field = Self.field(name)
    let operation = take()
    guard isOperator(operation), case .symbol(let symbol) = operation.kind else {
      throw operation.mistake(
        "expected ==, !=, <, <=, >, >=, ~= or >> after “\(name)”, found \(operation.description)")
    }
    if let comparison = FilterComparison(rawValue: symbol) {
      return .compare(field, comparison, try value())
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
    var values = [try value()]
    while take(symbol: ",") { values.append(try value()) }
    try require(symbol: "]", "after the values")
    return values
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
      guard let date = try? Date(text, strategy: .iso8601) else {
        throw place.mistake("“\(text)” is no date such as 2026-11-21T18:00:00Z")
      }
      return .date(date)
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
    if let integer = Int64(text) { return .integer(integer) }
    if let integer = UInt64(text) { return .unsigned(integer) }
    if let double = Double(text), double.isFinite, text.last != ".", !text.contains("x") {
      return .double(double)
    }
    throw token.mistake("“\(text)” is no number")
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
