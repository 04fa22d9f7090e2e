import Foundation
import Pando

/// A condition of a query, as data.
indirect enum Condition: Sendable {
  case all
  case compare(field: Int, FilterComparison, Compared)
  case isIn(field: Int, [Compared])
  case prefix(field: Int, String)
  case part(field: Int, String, isFolded: Bool)
  case keys([Int])
  case holdsOwner(Int)
  case holdsHelper(Int)
  case holdsAny(Int)
  case tag(FilterComparison, String)
  case partKind(String)
  case partNumber(FilterComparison, Int)
  case helperName(String)
  case search(String, WordMatching, withNotes: Bool)
  case remarked(Remarked)
  case and(Condition, Condition)
  case or(Condition, Condition)
  case not(Condition)
}

extension Condition {
  /// The kinds of conditions, for the count of pairs.
  var kind: String {
    switch self {
    case .all: "all"
    case .compare(let field, let comparison, _):
      ItemField.all[field].name.contains("owner.")
        ? "child path" : comparison == .equal ? "==" : comparison == .notEqual ? "!=" : "range"
    case .isIn: "isIn"
    case .prefix: "prefix"
    case .part: "contains"
    case .keys: "keys"
    case .holdsOwner, .holdsHelper, .holdsAny: "holds"
    case .tag, .partKind, .partNumber, .helperName: "element"
    case .search: "search"
    case .remarked: "has"
    case .and: "&&"
    case .or: "||"
    case .not: "!"
    }
  }

  /// Draws a condition.
  init(_ choices: inout Choices, depth: Int = 2) {
    self = .all
    if choices.chance(6) {
      self = .remarked(Remarked(&choices))
      return
    }
    switch choices.below(depth == 0 ? 13 : 19) {
    case 0, 1, 2, 3: self = Self.comparison(&choices)
    case 4:
      let field = choices.below(ItemField.all.count)
      let values = (0..<choices.below(4)).map { _ in choices.pick(ItemField.all[field].values) }
      self = .isIn(field: field, values)
    case 5:
      let field = choices.pick([0, 1, 10])
      let text = choices.pick(field == 10 ? Texts.names : Texts.titles)
      let prefix = String(text.prefix(choices.below(4)))
      self =
        choices.chance(50)
        ? .prefix(field: field, prefix)
        : .part(field: field, prefix, isFolded: choices.chance(50))
    case 6: self = .keys((0..<choices.below(6)).map { _ in choices.below(40) })
    case 7: self = .holdsOwner(choices.below(4))
    case 8: self = choices.chance(50) ? .holdsHelper(choices.below(4)) : .holdsAny(choices.below(4))
    case 9: self = .tag(Self.comparison(of: &choices), choices.pick(Texts.tags))
    case 10:
      self =
        choices.chance(50)
        ? .partKind(choices.pick(Texts.kinds))
        : .partNumber(Self.comparison(of: &choices), choices.below(5) - 1)
    case 11: self = .helperName(choices.pick(Texts.names))
    case 12: self = Self.search(&choices)
    case 13, 14:
      self = .and(
        Condition(&choices, depth: depth - 1), Condition(&choices, depth: depth - 1))
    case 15, 16:
      self = .or(Condition(&choices, depth: depth - 1), Condition(&choices, depth: depth - 1))
    case 17: self = .not(Condition(&choices, depth: depth - 1))
    default: self = .all
    }
  }

  private static func comparison(of choices: inout Choices) -> FilterComparison {
    choices.pick(FilterComparison.allCases)
  }

  private static func comparison(_ choices: inout Choices) -> Condition {
    let field = choices.below(ItemField.all.count)
    let value = choices.pick(ItemField.all[field].values)
    var comparison = comparison(of: &choices)
    // Null has no order; a truth value is compared for equality.
    if value == .null || ItemField.all[field].name == "isOpen" {
      comparison = choices.chance(50) ? .equal : .notEqual
    }
    return .compare(field: field, comparison, value)
  }

  private static func search(_ choices: inout Choices) -> Condition {
    var words = (0...choices.below(2)).map { _ in choices.pick(Texts.words) }
    if choices.chance(30) { words[words.count - 1] = String(words[words.count - 1].prefix(2)) }
    let end = choices.chance(25) ? " " : ""
    return .search(
      words.joined(separator: " ") + end, choices.pick(WordMatching.allCases),
      withNotes: choices.chance(40))
  }

  /// The filter of Pando.
  var filter: Filter<Item> {
    switch self {
    case .all: .all
    case .compare(let field, let comparison, let value):
      ItemField.all[field].compare(comparison, value)
    case .isIn(let field, let values): ItemField.all[field].isIn(values)
    case .prefix(let field, let text): ItemField.all[field].prefix(text)
    case .part(let field, let text, let isFolded): ItemField.all[field].part(text, isFolded)
    case .keys(let ids): .keys(ids.map { Item.key($0) })
    case .holdsOwner(let id): .holds(\.owner, Person.key(id))
    case .holdsHelper(let id): .holds(\.helpers, Person.key(id))
    case .holdsAny(let id): .holds(Person.key(id))
    case .tag(let comparison, let text): .compare(.each(\.tags), comparison, text)
    case .partKind(let kind): .contains(\.parts, \.kind, kind)
    case .partNumber(let comparison, let number):
      .compare(.each(\.parts, \.number), comparison, number)
    case .helperName(let name): .contains(\.helpers, \.name, name)
    case .search(let text, let matching, let withNotes):
      withNotes
        ? .search(text, matching, in: \.title, \.note) : .search(text, matching, in: \.title)
    case .remarked(let condition): condition.filter
    case .and(let one, let other): one.filter && other.filter
    case .or(let one, let other): one.filter || other.filter
    case .not(let other): !other.filter
    }
  }

  /// Whether an item meets the condition, in plain Swift.
  func matches(_ item: Item, _ mistake: Mistake? = nil) -> Bool {
    switch self {
    case .all: return true
    case .compare(let field, let comparison, let value):
      let actual = ItemField.all[field].read(item)
      return comparison.holds(actual, value, mistake)
    case .isIn(let field, let values):
      let actual = ItemField.all[field].read(item)
      return (mistake == .lastOfSeveralValues ? values.dropLast() : values[...]).contains(actual)
    case .prefix(let field, let text):
      guard case .text(let actual) = ItemField.all[field].read(item) else { return false }
      if mistake == .prefixWithoutCase {
        return actual.lowercased().utf8.starts(with: text.lowercased().utf8)
      }
      return actual.utf8.starts(with: text.utf8)
    case .part(let field, let text, let isFolded):
      guard case .text(let actual) = ItemField.all[field].read(item) else { return false }
      return isFolded && mistake != .containsByBytes
        ? Texts.folded(actual).utf8.contains(Texts.folded(text).utf8)
        : actual.utf8.contains(text.utf8)
    case .keys(let ids): return ids.contains(item.id)
    case .holdsOwner(let id): return item.owner?.id == id
    case .holdsHelper(let id):
      if mistake == .lastElement { return item.helpers.first?.id == id }
      return item.helpers.contains { $0.id == id }
    case .holdsAny(let id):
      if mistake == .holdersOfLists { return item.owner?.id == id }
      return item.owner?.id == id || item.helpers.contains { $0.id == id }
    case .tag(let comparison, let text):
      let tags = mistake == .lastElement ? item.tags.prefix(1) : item.tags[...]
      return tags.contains { comparison.holds(.text($0), .text(text)) }
    case .partKind(let kind):
      let parts = mistake == .lastElement ? item.parts.prefix(1) : item.parts[...]
      return parts.contains { $0.kind == kind }
    case .partNumber(let comparison, let number):
      let parts = mistake == .lastElement ? item.parts.prefix(1) : item.parts[...]
      return parts.contains { comparison.holds(.int($0.number), .int(number), mistake) }
    case .helperName(let name): return item.helpers.contains { $0.name == name }
    case .search(let text, let matching, let withNotes):
      return Self.finds(
        text, matching, in: [item.title] + (withNotes ? [item.note ?? ""] : []), mistake)
    case .remarked: preconditionFailure("a selection is resolved before it is compared")
    case .and(let one, let other):
      if mistake == .secondOfBoth { return one.matches(item, mistake) }
      return one.matches(item, mistake) && other.matches(item, mistake)
    case .or(let one, let other):
      if mistake == .secondOfEither { return one.matches(item, mistake) }
      return one.matches(item, mistake) || other.matches(item, mistake)
    case .not(let other):
      if mistake == .notOfNull, other.isOfNull(item) { return false }
      return !other.matches(item, mistake)
    }
  }

  /// Whether it compares null, which is unknown in SQL.
  private func isOfNull(_ item: Item) -> Bool {
    guard case .compare(let field, _, _) = self else { return false }
    return ItemField.all[field].read(item) == .null
  }

  private static func finds(
    _ text: String, _ matching: WordMatching, in texts: [String], _ mistake: Mistake?
  ) -> Bool {
    let wanted = Texts.words(of: text)
    let found = texts.map { Texts.words(of: $0) }
    let all = found.flatMap(\.self)
    if wanted.isEmpty { return matching != .anyWord }
    switch matching {
    case .anyWord: return wanted.contains { all.contains($0) }
    case .wholeWords: return wanted.allSatisfy { all.contains($0) }
    case .phrase:
      if mistake == .phraseInAnyOrder { return wanted.allSatisfy { all.contains($0) } }
      return found.contains { words in
        words.indices.contains { words[$0...].starts(with: wanted) }
      }
    case .allWords:
      let isPrefix = !text.hasSuffix(" ") && mistake != .beginningOfWord
      return wanted.enumerated().allSatisfy { index, word in
        all.contains { isPrefix && index == wanted.count - 1 ? $0.hasPrefix(word) : $0 == word }
      }
    }
  }
}

extension FilterComparison {
  /// Null is equal to null, and has no order.
  func holds(_ value: Compared, _ operand: Compared, _ mistake: Mistake? = nil) -> Bool {
    var value = value
    if mistake == .nullIsZero, value == .null, case .int = operand { value = .int(0) }
    switch self {
    case .equal: return value == operand
    case .notEqual: return value != operand
    default: if value == .null || operand == .null { return false }
    }
    switch self {
    case .less: return mistake == .endOfRange ? value <= operand : value < operand
    case .lessOrEqual: return value <= operand
    case .greater: return value > operand
    default: return value >= operand
    }
  }

  var sql: String {
    switch self {
    case .equal: "IS"
    case .notEqual: "IS NOT"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}
