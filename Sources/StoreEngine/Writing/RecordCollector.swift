import ModelCore

/// Receives the nodes of a tree from an encoder, gives them their numbers, and keeps their records
/// until the whole tree is known to be sound.
final class RecordCollector: RecordSink, TreeSink {
  private let context: WriteContext
  private(set) var pending = PendingRecords()
  /// Whether the tree refers to stored nodes by name, so that it can close a cycle with them.
  private(set) var namesStoredNodes = false
  /// Numbers of the identifiers in this tree, and whether they were given just now.
  private var nodes: [ByteString: (number: UInt64, isNew: Bool)] = [:]
  /// Nodes whose bodies are under way, innermost last.
  private var open: [(identifier: String, isNew: Bool, value: (any SimpleModel)?)] = []

  /// Whether a reference may name a node that is not stored yet, as in a dump.
  private let promisesNodes: Bool

  init(_ context: WriteContext, promisesNodes: Bool = false) {
    self.context = context
    self.promisesNodes = promisesNodes
  }

  func beginNode(_ value: any SimpleModel, identifier: String) throws -> RecordReference {
    let type = try context.typeNumber(of: Swift.type(of: value))
    return try begin(identifier: identifier, type: type, value: value)
  }

  func beginNode(identifier: String, typeName: String) throws -> RecordReference {
    let type = try context.typeNumber(named: typeName)
    return try begin(identifier: identifier, type: type, value: nil)
  }

  private func begin(
    identifier: String, type: UInt32, value: (any SimpleModel)?
  ) throws -> RecordReference {
    let node = try number(of: identifier)
    open.append((identifier, node.isNew, value))
    return RecordReference(node: node.number, type: type)
  }

  /// A reference to a node that is stored already, or comes in this tree.
  func reference(identifier: String, typeName: String) throws -> RecordReference {
    let type = try context.typeNumber(named: typeName)
    namesStoredNodes = true
    if let node = nodes[ByteString(identifier)] {
      return RecordReference(node: node.number, type: type)
    }
    if let node = try context.reading({ try $0.node(identifier) }) {
      return RecordReference(node: node, type: type)
    }
    guard promisesNodes else {
      throw StoreError(
        .noSuchNode, identifier, "is referred to, but no such node is stored; store it first")
    }
    let promised = try number(of: identifier).number
    try context.putIdentifier(identifier, node: promised)
    return RecordReference(node: promised, type: type)
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    guard let node = open.popLast() else {
      preconditionFailure("an encoder ended a node that it had not begun")
    }
    unsafe pending.append(
      reference, identifier: node.identifier, isNewNode: node.isNew, value: node.value,
      body: body, edges: edges)
  }

  private func number(of identifier: String) throws -> (number: UInt64, isNew: Bool) {
    let key = ByteString(identifier)
    if let node = nodes[key] {
      pending.hasRepeatedNodes = true
      return node
    }
    let stored = try context.reading { try $0.node(identifier) }
    let node = try (number: stored ?? context.takeNodeNumber(), isNew: stored == nil)
    nodes[key] = node
    return node
  }
}
