import Foundation
import Pando

/// The orders of sql.md in SQLite, through the module of Python.
///
/// It keeps the statements and the answers of Pando. ``check()`` runs the statements and compares the rows.
final class SQLite {
  private struct Statement: Encodable {
    var line: Int
    var text: String
    var rows: [[String]]?
  }

  private var setup: [String] = []
  private var statements: [Statement] = []

  /// Fills the tables.
  func insert(_ order: Order) {
    if let customer = order.customer {
      setup.append(
        "INSERT OR IGNORE INTO customer VALUES (\(customer.id), \(quoted(customer.name)), "
          + "\(customer.city.map(quoted) ?? "NULL"))")
    }
    setup.append(
      "INSERT INTO orders VALUES (\(order.id), \(quoted(order.region)), \(order.paid ? 1 : 0), "
        + "\(order.total), \(quoted(Cells.text(of: order.created))), "
        + "\(order.note.map(quoted) ?? "NULL"), "
        + "\(order.customer.map { "\($0.id)" } ?? "NULL"))")
    for line in order.lines {
      setup.append(
        "INSERT INTO line VALUES (\(order.id), \(quoted(line.product)), \(line.quantity))")
    }
  }

  private func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
  }

  /// Adds a row of the page.
  func add<Answer>(_ text: String, _ answer: Answer, line: Int = #line) {
    let isQuery = text.hasPrefix("SELECT")
    let rows = isQuery ? Cells.rows(of: answer) : nil
    statements.append(Statement(line: line, text: text, rows: rows))
  }

  /// Runs the statements, prints the rows that differ, and then ends the program with status 1.
  func check() throws {
    struct Input: Encodable {
      var setup: [String]
      var statements: [Statement]
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.program]
    let pipe = Pipe()
    process.standardInput = pipe
    try process.run()
    try pipe.fileHandleForWriting.write(
      contentsOf: JSONEncoder().encode(Input(setup: setup, statements: statements)))
    try pipe.fileHandleForWriting.close()
    process.waitUntilExit()
    if process.terminationStatus != 0 { exit(1) }
  }

  private static let program = #"""
    import json, sqlite3, sys
    given = json.load(sys.stdin)
    database = sqlite3.connect(":memory:")
    database.executescript("""
      PRAGMA foreign_keys = ON;
      CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
      CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT NOT NULL, paid INTEGER NOT NULL,
        total INTEGER NOT NULL, created TEXT NOT NULL, note TEXT,
        customer INTEGER REFERENCES customer ON DELETE SET NULL);
      CREATE TABLE line (order_id INTEGER REFERENCES orders ON DELETE CASCADE, product TEXT, quantity INTEGER);
      """)
    for statement in given["setup"]: database.execute(statement)
    def text(value):
      if value is None: return "NULL"
      return "%.6f" % value if isinstance(value, (int, float)) else value
    failed = 0
    for statement in given["statements"]:
      found = [[text(value) for value in row] for row in database.execute(statement["text"])]
      if "rows" not in statement: continue
      wanted = statement["rows"]
      if "ORDER BY" not in statement["text"]: found.sort(); wanted.sort()
      if found != wanted:
        failed += 1
        print("line %d: %s\n  SQLite %s\n  Pando  %s" % (statement["line"], statement["text"], found, wanted))
    print("%d statements" % len(given["statements"]))
    sys.exit(failed > 0)
    """#
}

/// An answer as rows of texts, as the program in Python makes them of those of SQLite.
enum Cells {
  static func rows(of answer: Any) -> [[String]] {
    if let result = answer as? QueryResult<Order> { return rows(of: result.entities) }
    let mirror = Mirror(reflecting: answer)
    switch mirror.displayStyle {
    case .collection, .dictionary, .set: return mirror.children.map { cells(of: $0.value) }
    case .optional where mirror.children.isEmpty: return []
    default: return [cells(of: answer)]
    }
  }

  /// The cells of a row: an order is its identifier, and tuples and keys are several cells.
  private static func cells(of value: Any) -> [String] {
    switch value {
    case let order as Order: return ["\(order.id).000000"]
    case let number as Int: return ["\(number).000000"]
    case let number as Double: return [String(format: "%.6f", number)]
    case let flag as Bool: return [flag ? "1.000000" : "0.000000"]
    case let text as String: return [text]
    case let date as Date:
      let text = text(of: date)
      return [text.hasSuffix("00:00:00") ? String(text.prefix(10)) : text]
    default:
      let mirror = Mirror(reflecting: value)
      if mirror.displayStyle == .optional, mirror.children.isEmpty { return ["NULL"] }
      return mirror.children.flatMap { cells(of: $0.value) }
    }
  }

  static func text(of date: Date) -> String {
    date.formatted(.iso8601).replacingOccurrences(of: "T", with: " ").replacingOccurrences(
      of: "Z", with: "")
  }
}
