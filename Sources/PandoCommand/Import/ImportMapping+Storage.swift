import PandoModels

/// The mapping as the store keeps it, a property of the store that holds JSON:
///
///     {"properties": {"user": "User:id_str"}, "required": ["user"],
///      "root": "Status:id_str", "formerRoots": []}
extension ImportMapping {
  /// The name of the property in the store.
  static let propertyName = "importMapping"

  /// Reads what ``encoded()`` wrote.
  ///
  /// - Throws: A ``CommandError`` when the bytes are something else.
  init(encoded bytes: [UInt8]) throws {
    let value: TreeValue
    do {
      value = try TreeValue(json: bytes.span)
    } catch {
      throw ImportMapping.unreadable("\(error)")
    }
    root = try value["root"]?.stringValue.map(ImportMapping.nodeType)
    for (name, type) in value["properties"]?.objectValue ?? [:] {
      properties[name] = try ImportMapping.nodeType(type.stringValue ?? "")
    }
    required = Set((value["required"]?.arrayValue ?? []).compactMap(\.stringValue))
    for type in value["formerRoots"]?.arrayValue ?? [] {
      formerRoots.insert(try ImportMapping.nodeType(type.stringValue ?? ""))
    }
  }

  /// The mapping as bytes, always the same for the same mapping.
  func encoded() -> [UInt8] {
    Array(treeValue.json().utf8)
  }

  /// The mapping as a value for reports and for the store.
  var treeValue: TreeValue {
    var fields: [String: TreeValue] = [
      "properties": .object(properties.mapValues { .string($0.text) }),
      "required": .array(required.sorted().map { .string($0) }),
      "formerRoots": .array(formerRoots.map(\.text).sorted().map { .string($0) }),
    ]
    if let root { fields["root"] = .string(root.text) }
    return .object(fields)
  }

  private static func nodeType(_ text: String) throws -> NodeType {
    guard let type = NodeType(parsing: text) else { throw unreadable("“\(text)”") }
    return type
  }

  private static func unreadable(_ reason: String) -> CommandError {
    CommandError(
      .failure, at: "property \(propertyName)", "the kept mapping cannot be read: \(reason)",
      remedy: "give the mapping again with pando import --root and --map")
  }
}
