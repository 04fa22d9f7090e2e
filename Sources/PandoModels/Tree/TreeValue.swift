/// A value inside a node, for tools without the Swift type.
///
/// Records consist of these values only, so a `TreeValue` can represent any record. Literals make
/// the simple cases; subscripts access objects and arrays:
///
/// ```swift
/// var value: TreeValue = ["title": "Pando", "stems": 47_000, "tags": ["aspen", "clone"]]
/// value["tags"]?[0] = "quaking aspen"
/// let stems = value["stems"]?.integerValue
/// ```
///
/// A node, or a reference to one, can be in a slot of an object, in an array, or in entries. Its
/// place determines the effect of its deletion. It is removed from an ``array(_:)`` and from
/// ``entries(_:)``. A slot of an ``object(_:)`` becomes null; a slot with ``required(_:)`` removes
/// the object, too.
///
/// Two values are equal if their bytes are. Texts are compared byte by byte, so two Unicode
/// spellings of `"é"` differ; doubles are compared by bit pattern.
///
/// Reading a record results in the *canonical* form of the written value. In it, `required` is only
/// around values that can be lost, `entries` only around maps with nodes or with keys that are no
/// texts. JSON and literals are canonical from the start.
///
/// - Note: A value; any thread.
public enum TreeValue: Sendable {
  /// An explicit null, which differs from an absent field.
  case null

  /// A truth value.
  case bool(Bool)

  /// An integer that fits `Int64`.
  case integer(Int64)

  /// An integer above `Int64.max`; smaller ones are ``integer(_:)``.
  case unsigned(UInt64)

  /// A floating-point number with its exact bit pattern.
  case double(Double)

  /// A text.
  case string(String)

  /// Raw bytes.
  case bytes([UInt8])

  /// A list, which loses an element if the node in it is deleted.
  case array([TreeValue])

  /// A value with named fields, or a dictionary from texts to values without nodes.
  ///
  /// Each slot is optional: it becomes null if the node in it is deleted. Use ``required(_:)``
  /// around the slot to lose the whole object instead.
  case object([String: TreeValue])

  /// A dictionary, which loses an entry if the node in it is deleted.
  ///
  /// Keys are any values without nodes, usually texts.
  case entries([TreeValue: TreeValue])

  /// A value with a CBOR tag for its meaning: 37 for a UUID, 32 for a URL, and so on.
  ///
  /// It contains no node.
  indirect case tagged(UInt64, TreeValue)

  /// A node with its contents.
  indirect case node(TreeNode)

  /// A node without its contents: it is already stored, or below the requested depth.
  indirect case reference(identifier: String, typeName: String)

  /// A slot of an object that requires its node.
  indirect case required(TreeValue)
}

/// A node for tools without the Swift type: an identifier, a type name and fields.
///
/// A `TreeNode` and a `Codable` model have the same tables, records and rules, so each can read the
/// other's data.
///
/// ```swift
/// var person = TreeNode("person:1", type: "Person", fields: ["name": "Ada", "age": 36])
/// person["portrait"] = .node(TreeNode("image:7", type: "Image", fields: ["width": 640]))
/// ```
///
/// The identifier is not one of the fields. A Swift type with a stored identifier decodes it from
/// the field of that name, so a tool for such a type sets both.
///
/// - Note: A value; any thread.
public struct TreeNode: Hashable, Sendable {
  /// The name of the node in the store, by which its parents reference it.
  public var identifier: String

  /// The name of the node's type on disk.
  public var typeName: String

  /// The contents of the node, usually a ``TreeValue/object(_:)``.
  public var fields: TreeValue

  /// Makes a node.
  ///
  /// - Parameters:
  ///   - identifier: The node's name in the store; an empty one is an error at the write.
  ///   - typeName: The name of the node's type on disk.
  ///   - fields: The contents of the node; empty by default.
  public init(_ identifier: String, type typeName: String, fields: TreeValue = .object([:])) {
    self.identifier = identifier
    self.typeName = typeName
    self.fields = fields
  }

  /// The value of a field; `nil` if the node has no such field.
  ///
  /// Assigning `nil` removes the field; assigning ``TreeValue/null`` keeps it as an explicit null.
  ///
  /// - Parameter name: The name of the field.
  public subscript(name: String) -> TreeValue? {
    get { fields[name] }
    set { fields[name] = newValue }
  }

  /// Whether two nodes are equal, byte for byte.
  ///
  /// - Parameters:
  ///   - left: A node.
  ///   - right: Another node.
  /// - Returns: `true` if identifier, type name and fields are the same.
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

extension TreeValue: Hashable {
  /// Whether two values are equal, byte for byte.
  ///
  /// - Parameters:
  ///   - left: A value.
  ///   - right: Another value.
  /// - Returns: `true` if both are of one case and their contents are equal; `-0.0` and `0.0`
  ///   differ, a NaN equals a NaN with the same payload.
  public static func == (left: TreeValue, right: TreeValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.bytes(let left), .bytes(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): haveSameFields(left, right)
    case (.entries(let left), .entries(let right)): left == right
    case (.tagged(let leftTag, let left), .tagged(let rightTag, let right)):
      leftTag == rightTag && left == right
    case (.node(let left), .node(let right)): left == right
    case (.reference(let left, let leftType), .reference(let right, let rightType)):
      left.hasSameBytes(as: right) && leftType.hasSameBytes(as: rightType)
    case (.required(let left), .required(let right)): left == right
    default: false
    }
  }

  /// Feeds the value to a hasher, texts by their bytes and doubles by their bit pattern.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(UInt8(0))
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let value): value.hashBytes(into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .array(let values): hasher.combine(values)
    case .object(let fields): TreeValue.hashFields(fields, into: &hasher)
    case .entries(let entries): hasher.combine(entries)
    case .tagged(let tag, let value):
      hasher.combine(tag)
      hasher.combine(value)
    case .node(let node): hasher.combine(node)
    case .reference(let identifier, let typeName):
      identifier.hashBytes(into: &hasher)
      typeName.hashBytes(into: &hasher)
    case .required(let value):
      hasher.combine(UInt8(1))
      hasher.combine(value)
    }
  }

  /// A dictionary finds a key in either Unicode spelling, so key bytes are compared, too.
  private static func haveSameFields(
    _ left: [String: TreeValue], _ right: [String: TreeValue]
  ) -> Bool {
    guard left.count == right.count else { return false }
    return left.allSatisfy { name, value in
      guard let index = right.index(forKey: name) else { return false }
      return right[index].key.hasSameBytes(as: name) && right[index].value == value
    }
  }

  private static func hashFields(_ fields: [String: TreeValue], into hasher: inout Hasher) {
    var sum = 0  // commutative: a dictionary has no order
    for (name, value) in fields {
      var field = Hasher()
      name.hashBytes(into: &field)
      field.combine(value)
      sum ^= field.finalize()
    }
    hasher.combine(sum)
  }
}
