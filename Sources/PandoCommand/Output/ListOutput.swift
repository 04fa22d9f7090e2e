import PandoModels

/// Prints a list as it comes: one text a line, or one JSON array.
struct ListOutput {
  private let output: StandardOutput
  private let isJSON: Bool
  private var count = 0

  init(_ output: StandardOutput, asJSON isJSON: Bool) {
    self.output = output
    self.isJSON = isJSON
  }

  /// Prints an identifier or another text; in JSON it is exact, on a line control characters are
  /// escaped.
  mutating func write(_ text: String) throws {
    if isJSON {
      try write(value: .string(text))
    } else {
      try output.line(text.escapingControlCharacters)
    }
  }

  /// Prints a value as JSON in one line.
  mutating func write(value: TreeValue) throws {
    if isJSON { try output.write(count == 0 ? "[\n  " : ",\n  ") }
    try output.write(value.json())
    if !isJSON { try output.line() }
    count += 1
  }

  /// Ends the list.
  func end() throws {
    if isJSON { try output.line(count == 0 ? "[]" : "\n]") }
  }
}
