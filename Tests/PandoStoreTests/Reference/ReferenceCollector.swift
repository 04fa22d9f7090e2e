import PandoModels

/// Splits trees into nodes: children first, fields in the order of their encoded names.
struct ReferenceCollector {
  struct Item {
    let identifier: String
    let type: String
    /// Children are references.
    let fields: TreeValue
  }

  private(set) var items: [Item] = []
  /// Nodes that a reference may name: those stored, and those met in this tree.
  private var known: Set<String>
  private var open: [String] = []

  init(known: Set<String>) { self.known = known }

  mutating func add(_ node: TreeNode) throws {
    guard !open.contains(node.identifier) else { throw ReferenceStore.Refusal.cyclicModel }
    known.insert(node.identifier)
    open.append(node.identifier)
    let fields = try split(node.fields)
    open.removeLast()
    items.append(Item(identifier: node.identifier, type: node.typeName, fields: fields))
  }

  /// The value with references in place of the nodes in it.
  mutating func split(_ value: TreeValue) throws -> TreeValue {
    switch value {
    case .node(let node):
      try add(node)
      return .reference(identifier: node.identifier, typeName: node.typeName)
    case .reference(let identifier, _):
      guard !open.contains(identifier) else { throw ReferenceStore.Refusal.cyclicModel }
      guard known.contains(identifier) else { throw ReferenceStore.Refusal.noSuchNode }
      return value
    case .required(let inner):
      return .required(try split(inner))
    case .array(let elements):
      return .array(try elements.map { try split($0) })
    case .object(var fields):
      for name in fields.keys.sorted(by: Self.isEncodedFirst) {
        fields[name] = try fields[name].map { try split($0) }
      }
      return .object(fields)
    case .entries(var entries):
      let keys = entries.keys.sorted {
        Self.isEncodedFirst($0.stringValue ?? "", $1.stringValue ?? "")
      }
      for key in keys { entries[key] = try entries[key].map { try split($0) } }
      return .entries(entries)
    default:
      return value
    }
  }

  private static func isEncodedFirst(_ left: String, _ right: String) -> Bool {
    left.utf8.count != right.utf8.count ? left.utf8.count < right.utf8.count : left < right
  }
}
