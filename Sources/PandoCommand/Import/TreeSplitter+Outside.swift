import PandoModels

// Outside every node.
extension TreeSplitter {
  /// Looks for nodes in a value that belongs to none.
  ///
  /// What holds no node at all is left out as a whole and named once.
  ///
  /// - Returns: Whether the value holds nodes.
  @discardableResult
  mutating func outside(
    _ value: TreeValue, into trees: inout [TreeNode], isTop: Bool = true
  ) throws(CommandError) -> Bool {
    let mark = findings.leftOutMark
    let countBefore = trees.count
    switch value {
    case .object(let fields):
      for name in fields.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        guard let field = fields[name] else { continue }
        place.enter(.name(name))
        if let type = mapping.properties[name] {
          try collect(field, type, into: &trees)
        } else {
          try outside(field, into: &trees, isTop: false)
        }
        place.leave()
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        try outside(element, into: &trees, isTop: false)
        place.leave()
      }
    default:
      findings.leaveOut(place)
      return false
    }
    let holdsNodes = trees.count > countBefore
    if !holdsNodes, !isTop {
      findings.takeBack(to: mark)
      findings.leaveOut(place)
    }
    return holdsNodes
  }

  /// Takes the nodes under a mapped property as trees of their own.
  private mutating func collect(
    _ value: TreeValue, _ type: NodeType, into trees: inout [TreeNode]
  ) throws(CommandError) {
    switch value {
    case .object(let fields) where !isMap(fields, of: type):
      trees.append(try node(value, type))
    case .object(let fields):
      for name in fields.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        guard let element = fields[name] else { continue }
        place.enter(.name(name))
        trees.append(try node(element, type))
        place.leave()
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        if case .object = element {
          trees.append(try node(element, type))
        } else {
          try outside(element, into: &trees, isTop: false)
        }
        place.leave()
      }
    default: findings.leaveOut(place)
    }
  }
}
