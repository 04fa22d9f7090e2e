import PandoModels

extension TreeGenerator {
  /// A value that can be written to a record, with nodes whose identifiers are numbered.
  ///
  /// Nodes that were made before are held a second time now and then.
  mutating func storable(depth: Int, nodes: inout [TreeNode]) -> TreeValue {
    guard depth > 0 else {
      guard chance(1, in: 5) else { return storableScalar() }
      return .reference(identifier: "r\(Int.random(in: 0..<6, using: &self))", typeName: "R")
    }
    switch Int.random(in: 0..<12, using: &self) {
    case 0, 1: return .array(storables(depth: depth - 1, nodes: &nodes))
    case 2, 3: return .object(storableFields(depth: depth - 1, nodes: &nodes))
    case 4, 5:
      var entries: [TreeValue: TreeValue] = [:]
      for value in storables(depth: depth - 1, nodes: &nodes) {
        let key = chance(3, in: 4) ? .string(text()) : storableScalar()
        entries[key] = value
      }
      return .entries(entries)
    case 6, 7:
      if chance(1, in: 3), !nodes.isEmpty { return .node(pick(nodes)) }
      return .node(storableNode(depth: depth - 1, nodes: &nodes))
    case 8, 9: return .required(storable(depth: depth - 1, nodes: &nodes))
    case 10: return .tagged(pick([32, 37, 100, 20544, 20549]), .array([storableScalar()]))
    default: return storableScalar()
    }
  }

  mutating func storableNode(depth: Int, nodes: inout [TreeNode]) -> TreeNode {
    let fields = storableFields(depth: depth, nodes: &nodes)
    let node = TreeNode("n\(nodes.count)", type: pick(["A", "B"]), fields: .object(fields))
    nodes.append(node)
    return node
  }

  mutating func storableFields(depth: Int, nodes: inout [TreeNode]) -> [String: TreeValue] {
    var fields: [String: TreeValue] = [:]
    for value in storables(depth: depth, nodes: &nodes) { fields[text()] = value }
    return fields
  }

  private mutating func storables(depth: Int, nodes: inout [TreeNode]) -> [TreeValue] {
    let count = Int.random(in: 0...4, using: &self)
    var values: [TreeValue] = []
    for _ in 0..<count { values.append(storable(depth: depth, nodes: &nodes)) }
    return values
  }

  private mutating func storableScalar() -> TreeValue {
    guard chance(1, in: 12) else { return scalar() }
    let sign = next() & 1
    return .tagged(
      2 + sign, .bytes([UInt8.random(in: 1...9, using: &self)] + bytes(atMost: 4) + Array(0..<8)))
  }
}

extension TreeValue {
  /// Whether a record with this value refers to nodes.
  var holdsNode: Bool {
    switch self {
    case .array(let values): values.contains { $0.holdsNode }
    case .object(let fields): fields.values.contains { $0.holdsNode }
    case .entries(let entries): entries.values.contains { $0.holdsNode }
    case .node, .reference: true
    case .required(let value): value.holdsNode
    default: false
    }
  }

  /// This value as a record returns it: the same rules, without bytes.
  func canonical(inSlot: Bool = false) -> TreeValue {
    switch self {
    case .array(let values):
      return .array(values.map { $0.canonical() })
    case .object(let fields):
      return .object(fields.mapValues { $0.canonical(inSlot: true) })
    case .entries(let entries):
      guard !holdsNode else { return .entries(entries.mapValues { $0.canonical() }) }
      let fields = entries.compactMap { key, value in
        key.stringValue.map { ($0, value.canonical()) }
      }
      let object = Dictionary(fields) { first, _ in first }
      return object.count == entries.count
        ? .object(object) : .entries(entries.mapValues { $0.canonical() })
    case .node(let node):
      return .node(
        TreeNode(node.identifier, type: node.typeName, fields: node.fields.canonical()))
    case .required(let value):
      let value = value.canonical(inSlot: inSlot)
      switch value {
      case .object, .node, .reference: return inSlot && value.holdsNode ? .required(value) : value
      default: return value
      }
    default:
      return self
    }
  }
}
