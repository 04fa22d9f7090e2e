/// A node as tools see it that know no Swift type: an identifier, a type name and fields.
///
/// The same tables, records and rules serve a `TreeNode` and a `Codable` model: what one writes the
/// other reads.
///
/// ```swift
/// var person = TreeNode("person:1", type: "Person", fields: ["name": "Ada", "age": 36])
/// person["portrait"] = .node(TreeNode("image:7", type: "Image", fields: ["width": 640]))
/// ```
///
/// The identifier is not one of the fields. A Swift type that keeps its identifier in a stored
/// property finds it in the field of that name, so a tool that writes for such a type sets both.
///
/// - Note: A value; any thread.
public struct TreeNode: Hashable, Sendable {
  /// The name under which the store keeps the node and its parents hold it.
  public var identifier: String

  /// The name of the node's type on disk.
  public var typeName: String

  /// What the node holds, as a rule a ``TreeValue/object(_:)``.
  public var fields: TreeValue

  /// Makes a node.
  ///
  /// - Parameters:
  ///   - identifier: The node's name in the store; empty ones are refused when it is written.
  ///   - typeName: The name of the node's type on disk.
  ///   - fields: What the node holds; nothing unless given.
  public init(_ identifier: String, type typeName: String, fields: TreeValue = .object([:])) {
    self.identifier = identifier
    self.typeName = typeName
    self.fields = fields
  }

  /// The value of a field, or `nil` when the node has no such field.
  ///
  /// Assigning `nil` removes the field; assigning ``TreeValue/null`` keeps it as an explicit null.
  ///
  /// - Parameter name: The name of the field.
  public subscript(name: String) -> TreeValue? {
    get { fields[name] }
    set { fields[name] = newValue }
  }

  /// Whether two nodes hold the same, byte for byte.
  ///
  /// - Parameters:
  ///   - left: A node.
  ///   - right: Another node.
  /// - Returns: `true` when identifier, type name and fields are the same.
  public static func == (left: TreeNode, right: TreeNode) -> Bool {
    left.identifier.hasSameBytes(as: right.identifier)
      && left.typeName.hasSameBytes(as: right.typeName) && left.fields == right.fields
  }

  /// Feeds the node to a hasher, texts by their bytes.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    identifier.hashBytes(into: &hasher)
    typeName.hashBytes(into: &hasher)
    hasher.combine(fields)
  }
}
