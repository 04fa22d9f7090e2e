import PandoModels

extension ReferenceStore {
  /// The parents of each child.
  func parentsByChild() -> [String: Set<String>] {
    var parents: [String: Set<String>] = [:]
    for (name, node) in nodes {
      for record in node.records.values {
        for child in Self.children(in: record.fields) {
          parents[child, default: []].insert(name)
        }
      }
    }
    return parents
  }

  static func ancestors(of identifier: String, in parents: [String: Set<String>]) -> Set<String> {
    var found = parents[identifier] ?? []
    while true {
      let next = found.union(found.flatMap { parents[$0] ?? [] })
      if next == found { break }
      found = next
    }
    // Two records of different types can hold each other's nodes.
    return found.subtracting([identifier])
  }

  func collections(holding identifier: String) -> [String] {
    collections.filter { _, elements in
      elements.contains { Self.children(in: $0).contains(identifier) }
    }.keys.sorted()
  }

  /// The identifiers of the children in a value.
  static func children(in value: TreeValue) -> Set<String> {
    Set(references(in: value).map(\.identifier))
  }

  static func references(in value: TreeValue) -> [(identifier: String, type: String)] {
    switch value {
    case .reference(let identifier, let typeName): [(identifier, typeName)]
    case .required(let inner): references(in: inner)
    case .array(let elements): elements.flatMap { references(in: $0) }
    case .object(let fields): fields.values.flatMap { references(in: $0) }
    case .entries(let entries): entries.values.flatMap { references(in: $0) }
    default: []
    }
  }

  /// A node as the store shows it, with so many levels of children.
  func tree(_ identifier: String, as type: String, depth: Int) -> TreeNode? {
    guard let shown = shownType(of: identifier, meantAs: type),
      let fields = nodes[identifier]?.records[shown]?.fields
    else { return nil }
    return TreeNode(identifier, type: shown, fields: show(fields, depth: depth))
  }

  /// A value as the store shows it: in canonical form, with its children.
  func show(_ value: TreeValue, depth: Int) -> TreeValue {
    switch value {
    case .reference(let identifier, let type):
      if depth > 0, let tree = tree(identifier, as: type, depth: depth - 1) { return .node(tree) }
      let shown = shownType(of: identifier, meantAs: type) ?? type
      return .reference(identifier: identifier, typeName: shown)
    case .required(let inner):
      // A slot that can't lose anything does not say that it is required.
      let shown = show(inner, depth: depth)
      return Self.references(in: inner).isEmpty ? shown : .required(shown)
    case .array(let elements):
      return .array(elements.map { show($0, depth: depth) })
    case .object(let fields):
      return .object(fields.mapValues { show($0, depth: depth) })
    case .entries(let entries):
      guard Self.references(in: value).isEmpty else {
        return .entries(entries.mapValues { show($0, depth: depth) })
      }
      return .object(
        Dictionary(
          uniqueKeysWithValues: entries.map { ($0.stringValue ?? "", show($1, depth: depth)) }))
    default:
      return value
    }
  }

  /// Whether a node would contain itself, with all records of this version and of an earlier one.
  func isCyclic(with earlier: ReferenceStore? = nil) -> Bool {
    var edges: [String: Set<String>] = [:]
    for version in [self, earlier].compactMap({ $0 }) {
      for (name, node) in version.nodes {
        for (type, record) in node.records {
          for child in Self.references(in: record.fields) {
            guard let shown = version.shownType(of: child.identifier, meantAs: child.type) else {
              continue
            }
            edges["\(name) \(type)", default: []].insert("\(child.identifier) \(shown)")
          }
        }
      }
    }
    // Take away what holds nothing until nothing more goes: what is left goes round in circles.
    while true {
      let leaves = Set(edges.values.flatMap { $0 }).subtracting(edges.keys)
      let rest = edges.mapValues { $0.subtracting(leaves) }.filter { !$0.value.isEmpty }
      if rest.count == edges.count && rest == edges { return !rest.isEmpty }
      edges = rest
    }
  }
}
