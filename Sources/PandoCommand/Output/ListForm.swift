/// The form of a list, as ``Option/lists`` say it.
struct ListForm {
  /// The formats.
  enum Format: String, CaseIterable {
    case line, table, json, jsonl, csv, tsv, markdown

    /// Whether rows are lines of cells under a header.
    var hasColumns: Bool {
      switch self {
      case .table, .csv, .tsv, .markdown: true
      case .line, .json, .jsonl: false
      }
    }
  }

  let format: Format
  /// Whether a format with columns begins with their names.
  let hasHeader: Bool
  /// The text of null outside JSON.
  let null: String

  init(_ format: Format, hasHeader: Bool = true, null: String = "") {
    self.format = format
    self.hasHeader = hasHeader
    self.null = null
  }

  var isJSON: Bool { format == .json }
}
