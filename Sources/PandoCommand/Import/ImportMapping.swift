import PandoModels
import PandoStore

/// The rules by which import and set split plain JSON into nodes.
struct ImportMapping: Hashable, Sendable {
  /// The type of the top object, from the newest import.
  var root: NodeType?
  /// The types of the objects under a property, by the property's name.
  var properties: [String: NodeType] = [:]
  /// Properties with a required node: deleting it deletes its parent.
  var required: Set<String> = []
  /// The root types of earlier imports.
  var formerRoots: Set<NodeType> = []

  /// Whether no rule makes a node.
  var isEmpty: Bool { root == nil && properties.isEmpty }

  /// Adds the rules of the command line, which take precedence.
  ///
  /// - Throws: A usage error that quotes the option.
  mutating func add(_ arguments: ParsedArguments) throws(CommandError) {
    if let text = arguments.value("--root") {
      guard let type = NodeType(parsing: text) else {
        throw CommandError(.usage, "--root takes TYPE:FIELD, not “\(text)”")
      }
      setRoot(type)
    }
    var added: [String: NodeType] = [:]
    for text in arguments.values("--map") {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, let type = NodeType(parsing: parts[1]) else {
        throw CommandError(.usage, "--map takes PROPERTY=TYPE:FIELD, not “\(text)”")
      }
      let property = String(parts[0])
      guard added.updateValue(type, forKey: property) == nil else {
        throw CommandError(.usage, "--map says twice what “\(property)” holds")
      }
    }
    properties.merge(added) { _, new in new }
    for property in arguments.values("--require") {
      guard properties[property] != nil else {
        throw CommandError(
          .usage, "--require \(property) needs to know what the property holds",
          remedy: "add --map \(property)=TYPE:FIELD")
      }
      required.insert(property)
    }
  }

  /// Adds the rules of another mapping, which take precedence.
  mutating func add(_ other: ImportMapping) {
    formerRoots.formUnion(other.formerRoots)
    if let type = other.root { setRoot(type) }
    properties.merge(other.properties) { _, new in new }
    required.formUnion(other.required)
  }

  /// Returns the fields that identify nodes of a type: one, several if properties differ, or none
  /// if map keys may identify nodes of the type.
  func fields(ofType typeName: String) -> Set<String> {
    let types = (Array(properties.values) + [root].compactMap(\.self) + formerRoots)
      .filter { $0.typeName == typeName }
    return types.contains(where: \.isKeyed) ? [] : Set(types.map(\.field))
  }

  /// Returns the type of an identifier of the form `TYPE:…`, if the mapping has it.
  func typeName(ofIdentifier identifier: String) -> String? {
    let types = Array(properties.values) + [root].compactMap(\.self) + formerRoots
    return types.map(\.typeName).filter { identifier.hasPrefix($0 + ":") }
      .max { $0.count < $1.count }
  }

  private mutating func setRoot(_ type: NodeType) {
    if let root, root != type { formerRoots.insert(root) }
    formerRoots.remove(type)
    root = type
  }
}

/// The encoding of the mapping in the store, as a property with JSON:
///
///     {"properties": {"user": "User:id_str"}, "required": ["user"],
///      "root": "Status:id_str", "formerRoots": []}
extension ImportMapping {
  /// The name of the store's property.
  static let propertyName = "importMapping"

  /// Decodes the output of ``encoded()``.
  ///
  /// - Throws: A ``CommandError`` if the bytes are something else.
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

  /// Encodes the mapping; equal mappings have equal bytes.
  func encoded() -> [UInt8] {
    Array(treeValue.json().utf8)
  }

  /// The mapping as a value, for reports and for the store.
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

extension ModelSnapshot {
  /// Returns the mapping of earlier imports; an empty one if there is none.
  func importMapping() throws -> ImportMapping {
    guard let bytes = try property(ImportMapping.propertyName) else { return ImportMapping() }
    return try ImportMapping(encoded: bytes)
  }
}

extension ModelTransaction {
  /// Adds a mapping to the stored one, which another process may have changed since the last read;
  /// writes nothing if no rule is new.
  mutating func keep(_ mapping: ImportMapping) throws {
    var kept = try snapshot.importMapping()
    kept.add(mapping)
    let bytes = kept.encoded()
    guard try snapshot.property(ImportMapping.propertyName) != bytes else { return }
    try setProperty(ImportMapping.propertyName, to: bytes)
  }
}

/// A type of nodes, and their identification by the value of a field or the key of a map.
struct NodeType: Hashable, Sendable {
  /// The word for the key of a map on the command line.
  private static let keyWord = "@key"

  /// The name of the type in the store.
  let typeName: String
  /// The identifying field; its value and the type's name form the identifier.
  ///
  /// It has no meaning if the type ``isKeyed``.
  let field: String
  /// Whether map keys identify the nodes.
  let isKeyed: Bool

  init(typeName: String, field: String) {
    self.typeName = typeName
    self.field = field
    isKeyed = false
  }

  /// Makes a type whose nodes are identified by map keys.
  init(keyedTypeName: String) {
    typeName = keyedTypeName
    field = Self.keyWord
    isKeyed = true
  }

  /// Parses `TYPE:FIELD` or `TYPE:@key`; a field named `@key` is written `@@key`, and so on.
  ///
  /// - Returns: `nil` if either part is missing.
  init?(parsing text: some StringProtocol) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    let (typeName, field) = (String(parts[0]), String(parts[1]))
    if field == Self.keyWord {
      self.init(keyedTypeName: typeName)
    } else {
      self.init(
        typeName: typeName, field: Self.isLikeKeyWord(field) ? String(field.dropFirst()) : field)
    }
  }

  /// The notation of the command line, `TYPE:FIELD` or `TYPE:@key`.
  var text: String {
    "\(typeName):\(!isKeyed && Self.isLikeKeyWord(field) ? "@" : "")\(field)"
  }

  /// Whether a field is named `@key`, `@@key` and so on.
  private static func isLikeKeyWord(_ field: String) -> Bool {
    field.hasSuffix(keyWord) && field.dropLast(keyWord.count).allSatisfy { $0 == "@" }
  }
}
