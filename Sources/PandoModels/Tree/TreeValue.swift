/// A value inside a node, as tools see it that know no Swift type.
///
/// Records are made of these values and of nothing else, so a `TreeValue` can say all that a record
/// can. Literals write the simple cases, subscripts reach into objects and arrays:
///
/// ```swift
/// var value: TreeValue = ["title": "Pando", "stems": 47_000, "tags": ["aspen", "clone"]]
/// value["tags"]?[0] = "quaking aspen"
/// let stems = value["stems"]?.integerValue
/// ```
///
/// A node, or a reference to one, can stand in a slot of an object, in an array, or in entries. How
/// it is lost when somebody deletes it follows from the place: out of an ``array(_:)`` and out of
/// ``entries(_:)`` it is removed; a slot of an ``object(_:)`` becomes null; and a slot wrapped in
/// ``required(_:)`` takes the object around it along.
///
/// Two values are equal when their bytes are: texts are compared byte by byte (`"é"` in its two
/// Unicode spellings is two texts), doubles by bit pattern.
///
/// What a record gives back is the *canonical* form of what was written: `required` only around
/// what can be lost, `entries` only around a map that holds a node or has keys that are no texts.
/// JSON and literals are canonical from the start.
///
/// - Note: A value; any thread.
public enum TreeValue: Sendable {
  /// An explicit null, which is not the same as a field that is absent.
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

  /// A list, which loses an element when the node inside it is deleted.
  case array([TreeValue])

  /// A value with named fields, or a dictionary from texts to values that hold no node.
  ///
  /// Each slot is optional: it becomes null when the node in it is deleted. Wrap the slot in
  /// ``required(_:)`` to lose the whole object instead.
  case object([String: TreeValue])

  /// A dictionary, which loses an entry when the node inside it is deleted.
  ///
  /// Keys are any values that hold no node, texts as a rule.
  case entries([TreeValue: TreeValue])

  /// A value with a CBOR tag that says how to read it: 37 for a UUID, 32 for a URL, and so on.
  ///
  /// It holds no node.
  indirect case tagged(UInt64, TreeValue)

  /// A node with what it holds.
  indirect case node(TreeNode)

  /// A node that is only named: it is in the store already, or lies below the depth asked for.
  indirect case reference(identifier: String, typeName: String)

  /// A slot of an object that cannot be without its node.
  indirect case required(TreeValue)
}
