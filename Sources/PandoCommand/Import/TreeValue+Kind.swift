import PandoModels

extension TreeValue {
  /// Whether values lie inside this one.
  var isContainer: Bool {
    switch self {
    case .object, .array: true
    default: false
    }
  }

  /// What the value is, for messages.
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
    case .tagged: "a tagged value"
    case .node, .reference: "a node"
    case .required(let value): value.kindName
    }
  }

  /// The value as the last part of an identifier: a text itself, a number as JSON writes it.
  ///
  /// `nil` for anything else, and for an empty text.
  var identifyingText: String? {
    switch self {
    case .string(let text): text.isEmpty ? nil : text
    case .integer, .unsigned, .double: json()
    default: nil
    }
  }
}
