/// Rows of text in columns, for reports.
struct TextTable {
  /// On which side of its column a cell stands.
  enum Alignment: Sendable {
    case left
    case right
  }

  private let alignments: [Alignment]
  private var rows: [[String]] = []

  /// A table with one column for each alignment.
  init(_ alignments: [Alignment]) {
    self.alignments = alignments
  }

  /// Adds a row.
  ///
  /// - Precondition: One cell for each column.
  mutating func row(_ cells: String...) {
    add(cells)
  }

  /// Adds a row.
  ///
  /// - Precondition: One cell for each column.
  mutating func add(_ cells: [String]) {
    precondition(cells.count == alignments.count, "\(cells.count) cells in a row")
    rows.append(cells.map(\.escapingControlCharacters))
  }

  /// The lines of the table, without blanks at their ends.
  var lines: [String] {
    let widths = alignments.indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    return rows.map { cells in
      var line = ""
      for (column, cell) in cells.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - cell.count)
        line += (column == 0 ? "" : "  ")
        line += alignments[column] == .left ? cell + blanks : blanks + cell
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
