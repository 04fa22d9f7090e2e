import ModelCore

/// Receives the nodes of a tree from an encoder, gives them their numbers, and keeps their records
/// until the whole tree is known to be sound.
final class RecordCollector: RecordSink, TreeSink {
  private let context: WriteContext
  private(set) var pending = PendingRecords()
  /// Whether the tree refers to stored nodes by name, so that it can close a cycle with them.
  private(set) var namesStoredNodes = false
  /// Numbers of the identifiers in this tree.
  private var nodes: [ByteString: UInt64] = [:]
  /// Nodes whose bodies are under way, innermost last.
  private var open: [(identifier: String, value: (any SimpleModel)?)] = []

  /// Whether a reference may name a node that is not stored yet, as in a dump.
  private let promisesNodes: Bool

  init(_ context: WriteContext, promisesNodes: Bool = false) {
    self.context = context
    self.promisesNodes = promisesNodes
  }

  func beginNode(_ value: any SimpleModel, identifier: String) throws -> RecordReference {
    let name = try context.directory.name(of: type(of: value))
    return try begin(identifier: identifier, typeName: name, value: value)
  }

  func beginNode(identifier: String, typeName: String) throws -> RecordReference {
    try ModelTypeName.validate(typeName)
    return try begin(identifier: identifier, typeName: typeName, value: nil)
  }

  private func begin(
    identifier: String, typeName: String, value: (any SimpleModel)?
  ) throws -> RecordReference {
    open.append((identifier, value))
    let type = try context.typeNumber(named: typeName)
    return RecordReference(node: try number(of: identifier), type: type)
  }

  /// A reference to a node that is stored already, or comes in this tree.
  func reference(identifier: String, typeName: String) throws -> RecordReference {
    let type = try context.typeNumber(named: typeName)
    namesStoredNodes = true
    if let node = try nodes[ByteString(identifier)] ?? context.reading({ try $0.node(identifier) })
    {
      return RecordReference(node: node, type: type)
    }
    guard promisesNodes else {
      throw StoreError(
        .noSuchNode, identifier, "is referred to, but no such node is stored; store it first")
    }
    let node = try number(of: identifier)
    try context.putIdentifier(identifier, node: node)
    return RecordReference(node: node, type: type)
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    guard let node = open.popLast() else {
      preconditionFailure("an encoder ended a node that it had not begun")
    }
    unsafe pending.append(
      reference, identifier: node.identifier, value: node.value, body: body, edges: edges)
  }

  private func number(of identifier: String) throws -> UInt64 {
    if let node = nodes[ByteString(identifier)] { return node }
    let node =
      try context.reading { try $0.node(identifier) } ?? context.takeNodeNumber()
    nodes[ByteString(identifier)] = node
    return node
  }
}
