import PandoModels

/// A word of a filter, and where it begins.
struct FilterToken: Hashable {
  enum Kind: Hashable {
    /// A name, as of a field.
    case name(String)
    /// A text in quotation marks.
    case text(String)
    /// Digits and what belongs to them.
    case number(String)
    /// An operator, a bracket or a comma.
    case symbol(String)
    case end
  }

  let kind: Kind
  /// From 1; both are told in errors.
  let line: Int
  let column: Int

  /// How errors call it.
  var description: String {
    switch kind {
    case .name(let text), .number(let text), .symbol(let text): "“\(text)”"
    case .text(let text): "the text “\(text)”"
    case .end: "the end"
    }
  }

  func isSymbol(_ text: String) -> Bool { kind == .symbol(text) }

  /// An error at this place.
  func mistake(_ reason: String) -> CommandError {
    CommandError(
      .usage, at: "FILTER, line \(line), column \(column)", reason,
      remedy: "see: pando query --help")
  }
}

/// Splits a filter into words.
struct FilterTokenizer {
  /// Longest first, so that `<=` is not taken for `<`.
  private static let symbols = [
    "==", "!=", "<=", ">=", "~=", ">>", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",",
  ]

  private var rest: Substring
  private var line = 1
  private var column = 1

  init(_ text: String) { rest = text[...] }

  /// The words, the end last.
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
    if first == "`" { return token(.name(try quotedName(from: token(.end)))) }
    if Self.isDigit(first) || first == "-" || first == "+" {
      return token(.number(take { Self.isDigit($0) || $0.isLetter || "+-.".contains($0) }))
    }
    if first.isLetter || first == "_" || first == "$" {
      return token(.name(take { $0.isLetter || $0.isNumber || "_$.".contains($0) }))
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

  private mutating func quotedName(from start: FilterToken) throws(CommandError) -> String {
    _ = advance()
    let name = take { $0 != "`" }
    guard advance() != nil else { throw start.mistake("this name has no closing `") }
    guard !name.isEmpty else { throw start.mistake("this name is empty") }
    return name
  }

  /// A text with the escapes of JSON.
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
