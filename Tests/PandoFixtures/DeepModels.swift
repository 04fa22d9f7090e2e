public import PandoModels
import PandoRecords

/// A node whose children lie in a list, a dictionary, an optional or a required slot: makes deep trees.
public struct Deep: Model, Codable, Equatable {
  /// Which slot a child lies in.
  public enum Slot: String, CaseIterable, Sendable {
    case optional, list, dictionary, required
  }

  /// The identifier.
  public var id: String
  /// Any text.
  public var text: String
  /// The children in a list.
  public var list: [Deep] = []
  /// The children in a dictionary.
  public var named: [String: Deep] = [:]
  /// The child in an optional slot.
  public var optional: DeepBox<Deep>?
  /// A child that can't be without its own.
  public var shell: DeepBox<DeepShell>?

  /// The identifier.
  public var modelIdentifier: String? { id }

  /// A node without children.
  public init(_ id: String, _ text: String = "") {
    self.id = id
    self.text = text
  }

  /// A node with a child in a slot; the one that requires it lies between them.
  public init(_ id: String, _ slot: Slot, _ child: Deep, text: String = "") {
    self.init(id, text)
    switch slot {
    case .optional: optional = DeepBox(child)
    case .list: list = [child]
    case .dictionary: named = ["next": child]
    case .required: shell = DeepBox(DeepShell(id: "shell of \(id)", inner: DeepBox(child)))
    }
  }

  /// The first child, whatever slot it lies in.
  public var next: Deep? {
    list.first ?? named["next"] ?? optional?.value ?? shell?.value.inner.value
  }

  /// Nodes with the numbers of a range as identifiers, each inside the one before.
  public static func chain(
    _ numbers: Range<Int>, _ slot: Slot = .list, text: String = ""
  ) -> Deep {
    var node = Deep("\(numbers.upperBound - 1)", text)
    for number in numbers.dropLast().reversed() { node = Deep("\(number)", slot, node, text: text) }
    return node
  }

  /// The identifiers from here down the first children, without recursion.
  public var identifiers: [String] {
    var identifiers: [String] = []
    var node: Deep? = self
    while let found = node {
      identifiers.append(found.id)
      node = found.next
    }
    return identifiers
  }

  /// The text of the deepest node.
  public var deepestText: String {
    var node = self
    while let next = node.next { node = next }
    return node.text
  }
}

/// A node that can't be without its child.
public struct DeepShell: Model, Codable, Equatable {
  /// The identifier.
  public var id: String
  /// The child.
  public var inner: DeepBox<Deep>
  /// The identifier.
  public var modelIdentifier: String? { id }
}

/// Holds a value of a type that contains it.
public final class DeepBox<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
  /// The value.
  public let value: Value

  /// Puts a value in a box.
  public init(_ value: Value) { self.value = value }

  /// Reads the value.
  public init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Value.self)
  }

  /// Writes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }

  /// Compares the values.
  public static func == (left: DeepBox, right: DeepBox) -> Bool { left.value == right.value }
}
