import Foundation

/// A question as a statement of SQLite.
struct SQLiteQuestion {
  private let asking: Asking
  private let statement: SQLiteStatement
  private let keys: [ColumnKind]
  private let kind: ColumnKind

  /// Makes the statement.
  ///
  /// - Returns: `nil` for a question whose rules SQLite does not have.
  init?(_ asking: Asking, _ selection: Selection, isRough: Bool, _ database: SQLiteDatabase) throws
  {
    // In rounded sums the order of groups and a limit depend on the rounding.
    let isGrouped = asking.grouping != .none
    if asking.isOfDoubles, isRough, isGrouped { return nil }
    // Texts that Swift takes as equal are one value.
    if case .distinct(.title) = asking.measure, isGrouped { return nil }
    if case .distinct(.note) = asking.measure { return nil }
    self.asking = asking
    let sql = Builder(asking: asking, selection: selection)
    keys = sql.keyKinds
    kind = sql.kind
    statement = try database.prepare(sql.text)
  }

  /// The answer, and by how much doubles may differ.
  func answer() throws -> (Compared, distance: Double) {
    var rows: [(key: [Compared], value: Compared)] = []
    var distance = 0.0
    try statement.run { row in
      let key = keys.enumerated().map { row.value($0, $1) }
      let first = keys.count
      let value: Compared
      switch asking.measure {
      case .count, .exists, .min, .max, .percentile, .distinct: value = row.value(first, kind)
      case .sum:
        value = row.isNull(first) ? zero : row.value(first, kind)
        if kind == .double { distance += row.double(first + 2) * Double(row.int(first + 1)) }
      case .average:
        value = average(row.value(first, kind), row.int(first + 1))
        if kind == .double { distance += row.double(first + 2) * Double(row.int(first + 1)) }
      case .several:
        value = .list([
          .int(row.int(first)), .int(row.int(first + 1)), row.value(first + 2, .decimal),
        ])
      }
      rows.append((key, value))
    }
    return (shaped(rows), distance * 0x1p-52)
  }

  private var zero: Compared {
    switch kind {
    case .decimal: .decimal(0)
    case .double: .double(0)
    default: .int(0)
    }
  }

  private func average(_ sum: Compared, _ count: Int) -> Compared {
    switch sum {
    case .int(let sum): .double(Double(sum) / Double(count))
    case .decimal(let sum): .decimal(sum / Decimal(count))
    case .double(let sum): .double(sum / Double(count))
    default: .null
    }
  }

  private func shaped(_ rows: [(key: [Compared], value: Compared)]) -> Compared {
    if case .distinct = asking.measure {
      if keys.isEmpty { return .list(rows.map(\.value)) }
      return .list(lists(of: rows))
    }
    if keys.isEmpty { return rows.first?.value ?? .null }
    return .list(rows.map { .list([name($0.key), $0.value]) })
  }

  private func name(_ key: [Compared]) -> Compared { key.count == 1 ? key[0] : .list(key) }

  /// Joins the rows of each key, which follow one another, and takes the first keys or the last.
  private func lists(of rows: [(key: [Compared], value: Compared)]) -> [Compared] {
    var groups: [(key: [Compared], values: [Compared])] = []
    for row in rows {
      if groups.last?.key != row.key { groups.append((row.key, [])) }
      // An item without elements is in the group, and has no value.
      if !(isOfParts && row.value == .null) { groups[groups.count - 1].values.append(row.value) }
    }
    let lists = groups.map { Compared.list([name($0.key), .list($0.values)]) }
    switch asking.form {
    case .ascending(let limit?), .descending(let limit?): return Array(lists.prefix(limit))
    default: return lists
    }
  }

  private var isOfParts: Bool {
    if case .distinct(.partNumber) = asking.measure { true } else { false }
  }
}

/// Builds the text of a statement: the rows of the query, joined with the elements of lists, and grouped.
private struct Builder {
  let asking: Asking
  let selection: Selection

  var text: String {
    let base = "WITH m AS (" + selection.sql(columns) + ")"
    switch asking.measure {
    case .distinct(.title):
      return "\(base) SELECT MIN(title) FROM m GROUP BY title_composed ORDER BY 1"
    case .distinct:
      // Of a title, the group has the first of its equal forms.
      let keys =
        asking.grouping == .title
        ? ["MIN(m.title) OVER (PARTITION BY m.title_composed)"] : keyColumns
      let names = keys.enumerated().map { "\($1) AS k\($0), " }.joined()
      let order = keys.indices.map { "k\($0)\(isDescending ? " DESC" : ""), " }.joined()
      let isPresent = keys.isEmpty && isOfParts ? "number IS NOT NULL" : "1"
      return "\(base) SELECT DISTINCT \(names)\(value) AS x FROM m \(joins) WHERE \(isPresent)"
        + " ORDER BY \(order)x"
    case .percentile(let percentile, _):
      let by = partition
      let over = by.isEmpty ? "" : "PARTITION BY \(by.joined(separator: ", "))"
      let inner =
        "SELECT m.*, \(value) AS x, \(elementColumns)ROW_NUMBER() OVER (\(over) ORDER BY \(value) IS NULL, \(value)) AS r,"
        + " COUNT(\(value)) OVER (\(over)) AS n FROM m \(joins)"
      let pick =
        "MAX(CASE WHEN x IS NOT NULL AND r = MAX(1, (\(percentile) * n + 99) / 100) THEN x END)"
      return base + ", ranked AS (\(inner)) "
        + grouped("ranked m", pick, outerKeys: true)
    default:
      return base + " " + grouped("m \(joins)", aggregate, outerKeys: false)
    }
  }

  private var isDescending: Bool {
    if case .descending = asking.form { true } else { false }
  }

  private var isOfParts: Bool {
    switch asking.measure {
    case .sum(.partNumber), .sum(.partPrice), .average(.partNumber), .average(.partPrice),
      .min(.partNumber), .max(.partNumber), .percentile(_, .partNumber), .distinct(.partNumber):
      true
    default: false
    }
  }

  private let columns =
    "i.id, i.place, i.title, i.title_composed, i.note, i.rank, i.level, i.price, i.rate,"
    + " i.weight, i.due, i.made, i.mark, i.owner, p.name AS owner_name, p.score AS score"

  /// The elements that groups or measures need.
  ///
  /// Groups of parts measure their own parts.
  private var joins: String {
    var joins = ""
    switch asking.grouping {
    case .tags, .tagAndMark:
      joins += " JOIN (SELECT DISTINCT item, tag FROM tags) t ON t.item = m.id"
    case .partKind, .partKindAndMark:
      if isOfParts {
        return " JOIN parts e ON e.item = m.id"
      }
      joins += " JOIN (SELECT DISTINCT item, kind FROM parts) e ON e.item = m.id"
    default: break
    }
    if isOfParts { joins += " LEFT JOIN parts e ON e.item = m.id" }
    return joins
  }

  private var keyColumns: [String] {
    switch asking.grouping {
    case .none: []
    case .mark: ["m.mark"]
    case .rank: ["m.rank"]
    case .level: ["m.level"]
    case .title: ["m.title"]
    case .ownerName: ["m.owner_name"]
    case .owner: ["m.owner"]
    case .tags: ["t.tag"]
    case .partKind: ["e.kind"]
    case .dueDay: ["CAST(m.due / 86400 AS INTEGER) * 86400.0"]
    case .madeDay: ["CAST(m.made / 86400 AS INTEGER) * 86400.0"]
    case .markAndLevel: ["m.mark", "m.level"]
    case .tagAndMark: ["t.tag", "m.mark"]
    case .partKindAndMark: ["e.kind", "m.mark"]
    }
  }

  /// By what rows are grouped: titles by equal texts.
  private var partition: [String] {
    asking.grouping == .title ? ["m.title_composed"] : keyColumns
  }

  /// The keys as columns of the ranked rows.
  private var elementColumns: String {
    keyColumns.enumerated().map { "\($1) AS k\($0), " }.joined()
  }

  var keyKinds: [ColumnKind] {
    switch asking.grouping {
    case .none: []
    case .mark, .title, .ownerName, .tags, .partKind: [.text]
    case .rank, .level: [.int]
    case .owner: [.person]
    case .dueDay, .madeDay: [.date]
    case .markAndLevel: [.text, .int]
    case .tagAndMark, .partKindAndMark: [.text, .text]
    }
  }

  var kind: ColumnKind {
    switch asking.measure {
    case .count, .several: .int
    case .exists: .bool
    case .sum(let number), .average(let number):
      switch number {
      case .rank, .level, .score, .partNumber: .int
      case .price, .rate, .partPrice: .decimal
      case .weight: .double
      }
    case .min(let field), .max(let field), .percentile(_, let field), .distinct(let field):
      switch field {
      case .title, .note, .mark, .ownerName: .text
      case .rank, .level, .partNumber: .int
      case .price: .decimal
      case .weight: .double
      case .due: .date
      }
    }
  }

  private var value: String {
    switch asking.measure {
    case .count, .exists, .several: "1"
    case .sum(let number), .average(let number):
      switch number {
      case .score: "m.score"
      case .partNumber: "e.number"
      case .partPrice: "e.price"
      default: "m.\(number.rawValue)"
      }
    case .min(let field), .max(let field), .percentile(_, let field), .distinct(let field):
      switch field {
      case .ownerName: "m.owner_name"
      case .partNumber: "e.number"
      default: "m.\(field.rawValue)"
      }
    }
  }

  private var aggregate: String {
    switch asking.measure {
    case .count: "COUNT(*)"
    case .exists: "COUNT(*) > 0"
    case .sum, .average: "SUM(\(value)), COUNT(\(value)), SUM(ABS(\(value)))"
    case .min: "MIN(\(value))"
    case .max: "MAX(\(value))"
    case .several: "COUNT(*), SUM(m.rank), MIN(m.price)"
    case .percentile, .distinct: ""
    }
  }

  /// The number by which groups are ordered and left out.
  private var orderValue: String {
    switch asking.measure {
    case .sum: "coalesce(SUM(\(value)), 0)"
    case .average: "1.0 * SUM(\(value)) / COUNT(\(value))"
    default: ""
    }
  }

  private func grouped(_ source: String, _ aggregate: String, outerKeys: Bool) -> String {
    if asking.grouping == .none { return "SELECT \(aggregate) FROM \(source)" }
    let columns = keyColumns.indices.map { outerKeys ? "k\($0)" : keyColumns[$0] }
    let keys = asking.grouping == .title ? ["MIN(m.title)"] : columns
    let by = asking.grouping == .title ? ["m.title_composed"] : columns
    var sql =
      "SELECT \((keys + [aggregate]).joined(separator: ", ")) FROM \(source)"
      + " GROUP BY \(by.joined(separator: ", "))"
    let measured = orderValue.isEmpty ? aggregate : orderValue
    if let having = asking.having {
      let limit =
        switch kind {
        case .decimal: "\(having * 100)"
        default: "\(having)"
        }
      switch kind {
      case .int, .decimal, .double: sql += " HAVING \(measured) > \(limit)"
      case .bool: break
      default: sql += " HAVING \(measured) IS NOT NULL"
      }
    }
    var limit: Int?
    let ascending = keys.joined(separator: ", ")
    switch asking.form {
    case .dictionary: sql += " ORDER BY \(ascending)"
    case .ascending(let given):
      sql += " ORDER BY \(ascending)"
      limit = given
    case .descending(let given):
      sql += " ORDER BY " + keys.map { $0 + " DESC" }.joined(separator: ", ")
      limit = given
    case .top(let given):
      sql += " ORDER BY \(measured) DESC, \(ascending)"
      limit = given
    case .bottom(let given):
      sql += " ORDER BY \(measured), \(ascending)"
      limit = given
    }
    return sql + (limit.map { " LIMIT \($0)" } ?? "")
  }
}
