import Foundation
import Pando

extension Compared {
  /// A literal; decimals are in hundredths.
  var sql: String {
    switch self {
    case .null: "NULL"
    case .bool(let value): value ? "1" : "0"
    case .int(let value): "\(value)"
    case .decimal(let value): "\(value * 100)"
    case .double(let value): value.isInfinite ? "9e999" : "\(value)"
    case .text(let value): "'\(value)'"
    case .date(let value): "\(value.timeIntervalSinceReferenceDate)"
    case .list(let values): "(" + values.map(\.sql).joined(separator: ", ") + ")"
    }
  }
}

extension Condition {
  /// The condition of a row `i` of items with its owner `p`, which is never null.
  var sql: String {
    switch self {
    case .all: "1"
    case .compare(let field, let comparison, let value):
      "coalesce(\(ItemField.all[field].column) \(comparison.sql) \(value.sql), 0)"
    case .isIn(let field, let values):
      values.isEmpty
        ? "0"
        : "("
          + values.map { "\(ItemField.all[field].column) IS \($0.sql)" }.joined(separator: " OR ")
          + ")"
    case .prefix(let field, let text):
      "(" + Self.prefix(ItemField.all[field].column, text) + ")"
    case .part(let field, let text, let isFolded):
      "("
        + Self.part(
          ItemField.all[field].column + (isFolded ? "_folded" : ""),
          isFolded ? Texts.folded(text) : text) + ")"
    case .keys(let ids):
      "i.id IN (" + ids.map { "\($0)" }.joined(separator: ", ") + ")"
    case .holdsOwner(let id): "i.owner IS \(id)"
    case .holdsHelper(let id): "i.id IN (SELECT item FROM helpers WHERE person = \(id))"
    case .holdsAny(let id):
      "(i.owner IS \(id) OR i.id IN (SELECT item FROM helpers WHERE person = \(id)))"
    case .tag(let comparison, let text):
      "i.id IN (SELECT item FROM tags WHERE tag \(comparison.sql) '\(text)')"
    case .partKind(let kind): "i.id IN (SELECT item FROM parts WHERE kind = '\(kind)')"
    case .partNumber(let comparison, let number):
      "i.id IN (SELECT item FROM parts WHERE number \(comparison.sql) \(number))"
    case .helperName(let name):
      "i.id IN (SELECT h.item FROM helpers h JOIN people q ON q.id = h.person"
        + " WHERE q.name = '\(name)')"
    case .search(let text, let matching, let withNotes):
      Self.search(text, matching, withNotes)
    case .remarked(let condition): condition.sql
    case .and(let one, let other): "(\(one.sql) AND \(other.sql))"
    case .or(let one, let other): "(\(one.sql) OR \(other.sql))"
    case .not(let other): "NOT \(other.sql)"
    }
  }

  /// Whether it needs the words of the texts.
  var isSearch: Bool {
    switch self {
    case .search: true
    case .and(let one, let other), .or(let one, let other): one.isSearch || other.isSearch
    case .not(let other): other.isSearch
    default: false
    }
  }

  private static func prefix(_ column: String, _ text: String) -> String {
    if text.isEmpty { return "\(column) IS NOT NULL" }
    let bytes = text.utf8.map { String(format: "%02X", $0) }.joined()
    return "coalesce(substr(CAST(\(column) AS BLOB), 1, \(text.utf8.count)) = x'\(bytes)', 0)"
  }

  private static func part(_ column: String, _ text: String) -> String {
    if text.isEmpty { return "\(column) IS NOT NULL" }
    let bytes = text.utf8.map { String(format: "%02X", $0) }.joined()
    return "coalesce(instr(CAST(\(column) AS BLOB), x'\(bytes)') > 0, 0)"
  }

  private static func search(_ text: String, _ matching: WordMatching, _ withNotes: Bool) -> String
  {
    let words = Texts.words(of: text)
    if words.isEmpty { return matching == .anyWord ? "0" : "1" }
    let quoted = words.map { "\"\($0)\"" }
    let match =
      switch matching {
      case .anyWord: quoted.joined(separator: " OR ")
      case .wholeWords: quoted.joined(separator: " AND ")
      case .phrase: "\"" + words.joined(separator: " ") + "\""
      case .allWords: quoted.joined(separator: " AND ") + (text.hasSuffix(" ") ? "" : "*")
      }
    let columns = withNotes ? "" : "title : "
    return "i.id IN (SELECT rowid FROM words WHERE words MATCH '\(columns)(\(match))')"
  }
}
