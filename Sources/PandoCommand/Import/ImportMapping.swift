import PandoModels

/// What in plain JSON is a node: the rules by which import and set split it.
struct ImportMapping: Hashable, Sendable {
  /// The type of the top object, as the newest import said it.
  var root: NodeType?
  /// The types of the objects under a property, by the property's name.
  var properties: [String: NodeType] = [:]
  /// Properties whose node must be there: when it is deleted, so is the node that holds it.
  var required: Set<String> = []
  /// Further types that earlier imports had as their root.
  var formerRoots: Set<NodeType> = []

  /// Whether nothing is a node.
  var isEmpty: Bool { root == nil && properties.isEmpty }

  /// Adds what the command line says; where both say something, the command line holds.
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

  /// Adds the rules of another mapping; where both say something, the other holds.
  mutating func add(_ other: ImportMapping) {
    formerRoots.formUnion(other.formerRoots)
    if let type = other.root { setRoot(type) }
    properties.merge(other.properties) { _, new in new }
    required.formUnion(other.required)
  }

  /// The fields that identify nodes of a type: one, unless two properties say it differently.
  func fields(ofType typeName: String) -> Set<String> {
    let types = Array(properties.values) + [root].compactMap(\.self) + formerRoots
    return Set(types.filter { $0.typeName == typeName }.map(\.field))
  }

  /// The type that an identifier of the form `TYPE:…` belongs to, if the mapping knows it.
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
