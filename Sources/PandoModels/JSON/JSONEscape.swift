import FoundationEssentials

/// The objects that stand for other values in ``JSONForm/lossless``.
enum JSONEscape {
  /// Why an object that looks like an escape is none.
  struct Failure: Error {
    let reason: String
  }

  /// The value that an object stands for, which has a name that begins with `$`.
  static func value(of fields: [String: TreeValue]) throws(Failure) -> TreeValue {
    if fields.count == 1, let (name, content) = fields.first, !isDoubled(name) {
      guard let value = value(of: content, named: name) else {
        throw Failure(reason: "the content of \"\(name)\" is not as it should be")
      }
      return value
    }
    var result: [String: TreeValue] = [:]
    for (name, value) in fields {
      guard name.utf8.first == UInt8(ascii: "$") else {
        result[name] = value
        continue
      }
      guard isDoubled(name) else {
        throw Failure(reason: "\"\(name)\" must be the only name in its object")
      }
      result[String(name.unicodeScalars.dropFirst())] = value
    }
    return .object(result)
  }

  /// Whether a name begins with two `$`, which may be followed by a combining mark.
  private static func isDoubled(_ name: String) -> Bool {
    name.utf8.starts(with: "$$".utf8)
  }

  private static func value(of content: TreeValue, named name: String) -> TreeValue? {
    switch (name, content) {
    case ("$bytes", .string(let text)):
      return Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
    case ("$double", .string(let text)):
      return UInt64(text, radix: 16).map { .double(Double(bitPattern: $0)) }
    case ("$entries", .array(let pairs)):
      return entries(pairs)
    case ("$node", .array(let parts)):
      guard parts.count == 3, case .string(let identifier) = parts[0],
        case .string(let typeName) = parts[1]
      else { return nil }
      return .node(TreeNode(identifier, type: typeName, fields: parts[2]))
    case ("$reference", .array(let parts)):
      guard parts.count == 2, case .string(let identifier) = parts[0],
        case .string(let typeName) = parts[1]
      else { return nil }
      return .reference(identifier: identifier, typeName: typeName)
    case ("$required", let value):
      return .required(value)
    case ("$tagged", .array(let parts)):
      guard parts.count == 2, let tag = tag(parts[0]) else { return nil }
      return .tagged(tag, parts[1])
    default:
      return nil
    }
  }

  private static func entries(_ pairs: [TreeValue]) -> TreeValue? {
    var entries = [TreeValue: TreeValue](minimumCapacity: pairs.count)
    for pair in pairs {
      guard case .array(let pair) = pair, pair.count == 2,
        entries.updateValue(pair[1], forKey: pair[0]) == nil
      else { return nil }
    }
    return .entries(entries)
  }

  private static func tag(_ value: TreeValue) -> UInt64? {
    switch value {
    case .integer(let value): UInt64(exactly: value)
    case .unsigned(let value): value
    default: nil
    }
  }
}
