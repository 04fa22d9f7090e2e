import PandoModels
import PandoRecords

/// The escape of data that looks like a reference, in JSON for people.
///
/// A reference is `{"$reference": [identifier, type]}`. Data of that form, or of the escaped form,
/// gets one more `$`: `{"$$reference": ["a", "b"]}` is an object whose field `$reference` has two
/// texts. All other data is written unchanged.
enum ReferenceEscape {
  /// Returns the fields of an object, with one `$` fewer in escaped data.
  static func unescaped(_ fields: [String: TreeValue]) -> [String: TreeValue] {
    guard fields.count == 1, let (name, value) = fields.first, name.utf8.starts(with: "$$".utf8),
      isLikeReference(name, value)
    else { return fields }
    return [String(name.unicodeScalars.dropFirst()): value]
  }

  /// Returns the value, with all data escaped that looks like a reference.
  static func escaped(_ value: TreeValue) -> TreeValue {
    // Most values need no escape.
    isNeeded(in: value) ? marked(value) : value
  }

  private static func isNeeded(in value: TreeValue) -> Bool {
    var open = [value]
    while let value = open.popLast() {
      switch value {
      case .node(let node): open.append(node.fields)
      case .required(let value): open.append(value)
      case .array(let values): open += values
      case .object(let fields):
        if isLikeReference(fields) { return true }
        open += fields.values
      case .entries(let entries):
        if textEntries(entries).map(isLikeReference) ?? false { return true }
        open += entries.values
      default: break
      }
    }
    return false
  }

  private static func marked(_ value: TreeValue) -> TreeValue {
    switch value {
    case .node(let node):
      return .node(TreeNode(node.identifier, type: node.typeName, fields: marked(node.fields)))
    case .required(let value): return .required(marked(value))
    case .array(let values): return .array(values.map(marked))
    case .object(let fields):
      guard !isLikeReference(fields) else {
        return .object(Dictionary(uniqueKeysWithValues: fields.map { ("$" + $0, $1) }))
      }
      return .object(fields.mapValues(marked))
    case .entries(let entries):
      if let fields = textEntries(entries), isLikeReference(fields) {
        return marked(.object(fields))
      }
      return .entries(entries.mapValues(marked))
    default: return value
    }
  }

  /// Returns a dictionary of one entry as the object that represents it.
  private static func textEntries(_ entries: [TreeValue: TreeValue]) -> [String: TreeValue]? {
    guard entries.count == 1, let (key, value) = entries.first, let name = key.stringValue else {
      return nil
    }
    return [name: value]
  }

  /// Whether an object is a reference, apart from the number of `$`.
  private static func isLikeReference(_ fields: [String: TreeValue]) -> Bool {
    guard fields.count == 1, let (name, value) = fields.first else { return false }
    return isLikeReference(name, value)
  }

  private static func isLikeReference(_ name: String, _ value: TreeValue) -> Bool {
    let word = "$reference".utf8
    guard name.utf8.count >= word.count, name.utf8.suffix(word.count).elementsEqual(word),
      name.utf8.dropLast(word.count).allSatisfy({ $0 == UInt8(ascii: "$") }),
      case .array(let parts) = value, parts.count == 2
    else { return false }
    // Bytes, UUIDs and similar values are also written as texts.
    return parts.allSatisfy { $0.json().utf8.first == UInt8(ascii: "\"") }
  }
}

extension TreeValue {
  /// The value as JSON for people, and for programs that pass it to `pando set`.
  func editableJSON(isPretty: Bool = false) -> String {
    ReferenceEscape.escaped(self).json(isPretty: isPretty)
  }
}
