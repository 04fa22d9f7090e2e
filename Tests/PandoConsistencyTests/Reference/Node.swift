import PandoModels
import PandoRecords

/// A tree of any shape: a required child, an optional one, and a list.
///
/// Indirect, because it holds itself.
final class Node: Model {
  let name: String?
  let value: Int
  let required: Node?
  let optional: Node?
  let list: [Node]

  init(
    _ name: String?, _ value: Int, required: Node? = nil, optional: Node? = nil, list: [Node] = []
  ) {
    self.name = name
    self.value = value
    self.required = required
    self.optional = optional
    self.list = list
  }

  var modelIdentifier: String? { name }

  func isEqual(to other: any SimpleModel) -> Bool {
    guard let other = other as? Node else { return false }
    return self === other
      || name == other.name && value == other.value
        && Self.areEqual(required, other.required) && Self.areEqual(optional, other.optional)
        && list.count == other.list.count
        && zip(list, other.list).allSatisfy { $0.isEqual(to: $1) }
  }

  private static func areEqual(_ left: Node?, _ right: Node?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.isEqual(to: right)
  }

  func map(_ transform: (any Model) -> (any Model)?) -> Self? {
    var newRequired: Node?
    if let required {
      guard let child = transform(required) as? Node else { return nil }
      newRequired = child
    }
    return Node(
      name, value, required: newRequired, optional: optional.flatMap { transform($0) as? Node },
      list: list.compactMap { transform($0) as? Node }) as? Self
  }

  func forEach(_ visit: (any Model) -> Void) {
    for child in children { visit(child) }
  }

  var children: [Node] { [required, optional].compactMap { $0 } + list }

  /// Every node in traversal order.
  var all: [Node] { [self] + children.flatMap(\.all) }

  /// A text that is the same for equal trees.
  var text: String {
    let inner =
      [required.map { "!\($0.text)" }, optional.map { "?\($0.text)" }].compactMap { $0 }
      + list.map(\.text)
    return "\(name ?? "-")=\(value)" + (inner.isEmpty ? "" : "[\(inner.joined(separator: " "))]")
  }
}
