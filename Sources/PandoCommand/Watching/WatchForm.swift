import FoundationEssentials
import PandoModels
import PandoRecords
import PandoSystem

/// A line that `pando watch` prints.
enum WatchLine {
  case commit(ChangeSet)
  case reload(from: CommitNumber, to: CommitNumber)
}

/// The format of the lines of `pando watch`: JSON, or a table, in colour on a terminal.
struct WatchForm {
  private let isJSON: Bool
  private let hasColours: Bool

  init(asJSON: Bool) {
    isJSON = asJSON || isatty(STDOUT_FILENO) != 1
    let terminal = Self.setting("TERM")
    hasColours =
      !isJSON && Self.setting("NO_COLOR").isEmpty && !terminal.isEmpty && terminal != "dumb"
  }

  /// Returns a variable of the environment; empty if it is not set.
  private static func setting(_ name: String) -> String {
    // The value is copied at once, and no code sets variables.
    unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
  }

  /// Returns the text of a line, with its line break.
  func text(of line: WatchLine) -> String {
    if isJSON { return Self.value(line).editableJSON() + "\n" }
    switch line {
    case .reload(let from, let to):
      return coloured(
        "the log does not reach back from \(to.value) to \(from.value): read afresh\n", 35)
    case .commit(let change): return rows(change).joined()
    }
  }

  private static func value(_ line: WatchLine) -> TreeValue {
    switch line {
    case .commit(let change): return ChangeOutput.value(change)
    case .reload(let from, let to):
      return [
        "reload": [
          "from": TreeValue(exactly: from.value) ?? .null,
          "to": TreeValue(exactly: to.value) ?? .null, "history": to.historyValue,
        ]
      ]
    }
  }

  private func rows(_ change: ChangeSet) -> [String] {
    var rows: [String] = []
    let digits = String(change.commitNumber.value)
    let number = String(repeating: " ", count: max(0, 8 - digits.count)) + digits
    let time = change.date.formatted(.iso8601)
    func add(_ kind: String, _ colour: Int, _ text: String) {
      let head =
        rows.isEmpty
        ? number + "  " + time : String(repeating: " ", count: number.count + 2 + time.count)
      let blanks = String(repeating: " ", count: 10 - kind.count)
      rows.append(
        head + "  " + coloured(kind, colour) + blanks + text.escapingControlCharacters + "\n")
    }
    func addNodes(_ kind: String, _ colour: Int, _ identifiers: [String]) {
      for identifier in identifiers.sorted() {
        let records = change.records.filter { $0.node.identifier.hasSameBytes(as: identifier) }
        guard !records.isEmpty else {
          add(kind, colour, identifier)
          continue
        }
        for record in records {
          add(
            kind, colour,
            "\(identifier)  \(record.node.typeName) \(record.node.fields.editableJSON())"
              + (record.commitNumber == change.commitNumber
                ? "" : " as of \(record.commitNumber.value)"))
        }
      }
    }
    addNodes("inserted", 32, change.inserted)
    addNodes("updated", 33, change.updated)
    addNodes("deleted", 31, change.deleted)
    for update in change.collections {
      add("list", 36, update.cacheKey + "  " + ChangeOutput.value(update.change).json())
    }
    return rows
  }

  private func coloured(_ text: String, _ colour: Int) -> String {
    hasColours ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
  }
}
