import PandoModels

/// A tree of nodes as lines that a person reads.
///
///     Message:1  text "Hello"
///     ├─ sender (required): Person:7  name "Ada"
///     └─ images (list): Image:3  width 800
struct TreePicture {
  /// The lines of the picture.
  private(set) var lines: [String] = []

  init(of tree: TreeNode) {
    add(tree, label: "", "", "")
  }

  private mutating func add(_ node: TreeNode, label: String, _ first: String, _ rest: String) {
    let fields = (node.fields.objectValue ?? [:]).sorted { $0.key < $1.key }
    let values = fields.compactMap { name, value in
      value.isPlain && name != "id" ? "\(name) \(value.json())" : nil
    }
    lines.append(first + label + node.identifier + "  " + values.joined(separator: ", "))
    var children: [(label: String, node: TreeNode)] = []
    for (name, value) in fields {
      switch value {
      case .required(.node(let child)): children.append(("\(name) (required): ", child))
      case .node(let child): children.append(("\(name) (optional): ", child))
      case .array(let elements):
        children += elements.compactMap(\.nodeValue).map { ("\(name) (list): ", $0) }
      default: break
      }
    }
    for (index, child) in children.enumerated() {
      let isLast = index == children.count - 1
      add(
        child.node, label: child.label, rest + (isLast ? "└─ " : "├─ "),
        rest + (isLast ? "   " : "│  "))
    }
  }
}

extension TreeValue {
  /// Whether the value is shown on the line of its node.
  fileprivate var isPlain: Bool {
    switch self {
    case .null, .bool, .integer, .unsigned, .double, .string: true
    default: false
    }
  }
}
