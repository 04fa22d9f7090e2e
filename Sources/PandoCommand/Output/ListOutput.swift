import PandoModels
import PandoRecords

/// Prints a list as it is produced, in any ``ListForm``.
///
/// A table is measured by its first rows, which are kept until then; every other form is printed at
/// once, so that the memory does not grow with the list.
struct ListOutput {
  /// The number of rows by which the columns of a table are measured.
  private static let measuredCount = 1000

  private let print: (String) throws -> Void
  private let form: ListForm
  private let columns: [String]
  private var count = 0
  /// The first rows of a table, while its columns are not measured.
  private var kept: [[TreeValue]]? = []
  private var widths: [Int] = []
  private var isRightAligned: [Bool] = []

  /// Makes a list.
  ///
  /// - Parameters:
  ///   - output: The output.
  ///   - form: The form.
  ///   - columns: The names of the cells of a row.
  init(_ output: StandardOutput, _ form: ListForm, columns: [String]) {
    self.init(form, columns: columns) { try output.write($0) }
  }

  /// Makes a list that passes its text to a closure.
  init(_ form: ListForm, columns: [String], _ print: @escaping (String) throws -> Void) {
    self.print = print
    self.form = form
    self.columns = columns
  }

  /// Prints an identifier or another text in the only column.
  ///
  /// It is exact in JSON, CSV and TSV; elsewhere control characters are escaped.
  mutating func write(_ text: String) throws {
    if form.format == .line {
      try line(text.escapingControlCharacters)
    } else {
      try write(value: .string(text), row: [.string(text)])
    }
  }

  /// Prints a value: as JSON in one line, or in the only column.
  mutating func write(value: TreeValue) throws {
    if form.format == .line { return try line(value.editableJSON()) }
    try write(value: value, row: [value])
  }

  /// Prints an object, which has the columns among its fields.
  ///
  /// - Parameters:
  ///   - value: The object.
  ///   - text: The line of the format `line`.
  /// - Throws: An error of the output.
  mutating func write(value: TreeValue, line text: @autoclosure () -> String) throws {
    if form.format == .line { return try line(text()) }
    try write(value: value, row: columns.map { value[$0] ?? .null })
  }

  /// Prints the cells of a row: an object in JSON, and cells with tabs between them in lines.
  mutating func write(row: [TreeValue]) throws {
    switch form.format {
    case .line:
      try line(row.map { cell($0).escapingControlCharacters }.joined(separator: "\t"))
    case .json, .jsonl:
      var fields: [String: TreeValue] = [:]
      for (name, value) in zip(columns, row) { fields[name] = value }
      try write(value: .object(fields), row: row)
    default: try write(value: .null, row: row)
    }
  }

  /// Prints a value in place of a list, as one line of JSON.
  func writeAlone(_ value: TreeValue) throws { try line(value.editableJSON()) }

  /// Ends the list.
  mutating func end() throws {
    switch form.format {
    case .json: try line(count == 0 ? "[]" : "\n]")
    case .table: try measure()
    default: if count == 0 { try header() }
    }
  }

  private mutating func write(value: TreeValue, row: [TreeValue]) throws {
    defer { count += 1 }
    switch form.format {
    case .line: preconditionFailure("lines are printed by the caller")
    case .json:
      try print(count == 0 ? "[\n  " : ",\n  ")
      try print(value.editableJSON())
    case .jsonl: try line(value.editableJSON())
    case .table:
      guard kept != nil else { return try tableRow(row.map(tableCell)) }
      kept?.append(row)
      if count + 1 == Self.measuredCount { try measure() }
    case .csv, .tsv, .markdown:
      if count == 0 { try header() }
      try columnsRow(row)
    }
  }

  private func line(_ text: String) throws {
    try print(text)
    try print("\n")
  }

  /// The text of a value; a list or an object is JSON.
  private func cell(_ value: TreeValue) -> String { value.cellText ?? form.null }
}

// MARK: Columns

extension ListOutput {
  private func header() throws {
    guard form.hasHeader, form.format.hasColumns else { return }
    try columnsRow(columns.map { .string($0) })
    if form.format == .markdown {
      try line("|" + columns.map { _ in " --- |" }.joined())
    }
  }

  /// The characters that Markdown would take as its own.
  private static let markdownEscapes: [Unicode.Scalar: String] = [
    "|": "\\|", "\\": "\\\\", "<": "&lt;", "\n": "<br>",
  ]

  private func columnsRow(_ row: [TreeValue]) throws {
    switch form.format {
    case .csv: try line(row.map(csvCell).joined(separator: ","))
    case .tsv: try line(row.map { cell($0).escapingTabs }.joined(separator: "\t"))
    default:
      let cells = row.map { value in
        cell(value).mapScalars { Self.markdownEscapes[$0] }
      }
      try line("|" + cells.map { " \($0.escapingControlCharacters) |" }.joined())
    }
  }

  /// A cell as RFC 4180 quotes it; quotation marks tell a text from null.
  private func csvCell(_ value: TreeValue) -> String {
    guard let text = value.cellText else { return form.null }
    let isPlain =
      !text.isEmpty && text != form.null
      && !text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
    return isPlain ? text : "\"" + text.mapScalars { $0 == "\"" ? "\"\"" : nil } + "\""
  }

  private func tableCell(_ value: TreeValue) -> String { cell(value).escapingControlCharacters }

  /// Measures the columns of a table by the kept rows, and prints these.
  private mutating func measure() throws {
    guard let rows = kept else { return }
    kept = nil
    let cells = rows.map { $0.map(tableCell) }
    let names = columns.map(\.escapingControlCharacters)
    widths = columns.indices.map { column in
      max(
        form.hasHeader ? names[column].displayWidth : 0,
        cells.map { $0[column].displayWidth }.max() ?? 0)
    }
    isRightAligned = columns.indices.map { column in
      let values = rows.map { $0[column] }.filter { !$0.isNull }
      return !values.isEmpty && values.allSatisfy(\.isNumber)
    }
    if form.hasHeader {
      try tableRow(names)
      try tableRow(widths.map { String(repeating: "-", count: $0) })
    }
    for row in cells { try tableRow(row) }
  }

  private func tableRow(_ cells: [String]) throws {
    var text = ""
    for (column, cell) in cells.enumerated() {
      let blanks = String(repeating: " ", count: max(0, widths[column] - cell.displayWidth))
      text += (column == 0 ? "" : "  ") + (isRightAligned[column] ? blanks + cell : cell + blanks)
    }
    while text.last == " " { text.removeLast() }
    try line(text)
  }
}

extension TreeValue {
  /// The text of a cell; `nil` for null, JSON for a list or an object.
  var cellText: String? {
    switch self {
    case .null: return nil
    case .string(let text): return text
    case .integer(let value): return String(value)
    case .required(let value): return value.cellText
    default:
      let json = editableJSON()
      guard json.hasPrefix("\"") else { return json }
      // Bytes, UUIDs and URLs are texts in JSON.
      return (try? TreeValue(json: json))?.stringValue ?? json
    }
  }

  /// Whether it is a number, of any size.
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .unsigned, .double: true
    case .tagged(let tag, _): (2...4).contains(tag)
    default: false
    }
  }
}

extension String {
  /// The text with the escapes of tab-separated values: `\t`, `\n`, `\r` and `\\`.
  fileprivate var escapingTabs: String {
    mapScalars { scalar in
      switch scalar {
      case "\t": "\\t"
      case "\n": "\\n"
      case "\r": "\\r"
      case "\\": "\\\\"
      default: nil
      }
    }
  }

  /// The text with other texts in place of some scalars.
  ///
  /// Characters are no units here: a mark that combines with a quotation mark does not hide it.
  fileprivate func mapScalars(_ transform: (Unicode.Scalar) -> String?) -> String {
    guard unicodeScalars.contains(where: { transform($0) != nil }) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if let other = transform(scalar) {
        text.unicodeScalars.append(contentsOf: other.unicodeScalars)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension StandardOutput {
  /// Writes a number in place of a list.
  func write(count: Int, _ form: ListForm) throws {
    let value: TreeValue = .integer(Int64(count))
    switch form.format {
    case .line: try line(String(count))
    case .json: try line(TreeValue.object(["count": value]).json())
    default:
      var list = ListOutput(self, form, columns: ["count"])
      try list.write(row: [value])
      try list.end()
    }
  }
}
