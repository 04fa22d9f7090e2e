/// A prefix tree of paths.
struct GraphTree: Sendable {
  static let root = 0

  private struct Node: Sendable {
    var children: [String: Int] = [:]
    /// The number of the path that ends here; of several equal ones the last.
    var end: Int?
  }

  private var nodes = [Node()]

  init(_ paths: [[String]]) {
    for (number, path) in paths.enumerated() {
      var node = Self.root
      for name in path {
        if let child = nodes[node].children[name] {
          node = child
        } else {
          nodes.append(Node())
          nodes[node].children[name] = nodes.count - 1
          node = nodes.count - 1
        }
      }
      nodes[node].end = number
    }
  }

  func child(of node: Int, _ name: String) -> Int? { nodes[node].children[name] }

  func end(at node: Int) -> Int? { nodes[node].end }
}
