import PandoModels
import PandoRecords

/// A position in a JSON document, in the notation `statuses[3].user`.
struct JSONPosition: Sendable {
  /// One step down.
  enum Step: Sendable {
    case name(String)
    case index(Int)
  }

  private var steps: [Step] = []

  /// Adds a step.
  mutating func enter(_ step: Step) {
    steps.append(step)
  }

  /// Removes the last step.
  mutating func leave() {
    steps.removeLast()
  }

  /// The exact position; `the top` for the document itself.
  var text: String { joined(showingIndexes: true) }

  /// The position without array indexes: `statuses[].user`, the same for all elements.
  var pattern: String { joined(showingIndexes: false) }

  private func joined(showingIndexes: Bool) -> String {
    var text = ""
    for step in steps {
      switch step {
      case .index(let index): text += showingIndexes ? "[\(index)]" : "[]"
      case .name(let name) where name.isPlainName: text += (text.isEmpty ? "" : ".") + name
      case .name(let name): text += "[\"" + name + "\"]"
      }
    }
    return text.isEmpty ? "the top" : text
  }
}

extension String {
  /// Whether the text needs no quotes in a position.
  fileprivate var isPlainName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        byte >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      }
  }
}

extension JSONError {
  /// Whether more text follows a whole value, as in a file of JSON lines.
  var isAfterValue: Bool { reason.hasPrefix("expected nothing more after the value") }
}

extension TreeValue {
  /// Whether this value contains other values.
  var isContainer: Bool {
    switch self {
    case .object, .array: true
    default: false
    }
  }

  /// The kind of the value, for messages.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .integer, .unsigned, .double: "a number"
    case .string(let text) where text.isEmpty: "an empty text"
    case .string: "a text"
    case .array: "an array"
    case .object, .entries: "an object"
    case .bytes: "bytes"
    case .tagged: isWideInteger ? "a number" : "a tagged value"
    case .node, .reference: "a node"
    case .required(let value): value.kindName
    }
  }

  /// Whether this is an integer beyond 64 bits, in the form in which the parser returns it.
  private var isWideInteger: Bool {
    if case .tagged(4, .array(let parts)) = self { parts.first == 0 } else { false }
  }

  /// The value as the last part of an identifier: a text itself, a number in JSON notation.
  ///
  /// It is `nil` for anything else, and for an empty text.
  var identifyingText: String? {
    switch self {
    case .string(let text): text.isEmpty ? nil : text
    case .integer, .unsigned, .double: json()
    case .tagged: isWideInteger ? json() : nil
    default: nil
    }
  }
}
