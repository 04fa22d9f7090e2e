import ModelCore

/// Receives the nodes of a tree from an encoder, gives them their numbers, and keeps their records
/// until the whole tree is known to be sound.
///
/// New identifiers are put into their table at once, because looking them up first would search it
/// twice; ``WriteContext/whole(_:)`` takes them out again if the tree is refused.
@safe final class RecordCollector: RecordSink, TreeSink {
  /// Outlives this collector, which serves one operation of a write.
  unowned(unsafe) private let context: WriteContext
  private(set) var pending = PendingRecords()
  /// Whether the tree refers to stored nodes by name, so that it can close a cycle with them.
  private(set) var namesStoredNodes = false
  // Nobody is called while one of these is accessed, and only the writer thread does.
  /// The first number that a new node of this tree can have.
  @exclusivity(unchecked) private var firstNewNode: UInt64
  /// Numbers of stored nodes in this tree.
  @exclusivity(unchecked) private var storedNodes = SmallNumberSet()
  /// Nodes whose bodies are under way, innermost last.
  @exclusivity(unchecked) private var open:
    [(identifier: String, isNew: Bool, value: (any SimpleModel)?)] = []

  /// Whether a reference may name a node that is not stored yet, as in a dump.
  private let promisesNodes: Bool

  init(_ context: WriteContext, promisesNodes: Bool = false) {
    unsafe self.context = context
    self.promisesNodes = promisesNodes
    unsafe firstNewNode = context.state.counters.nextNode
  }

  /// Forgets everything, to serve another operation.
  func reset() {
    pending.removeAll()
    namesStoredNodes = false
    unsafe firstNewNode = unsafe context.state.counters.nextNode
    unsafe storedNodes.removeAll()
    unsafe open.removeAll(keepingCapacity: true)
  }

  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference {
    let type = try unsafe context.typeNumber(of: type)
    return try begin(
      identifier: identifier, type: type, value: unsafe context.core.needsModels ? value() : nil)
  }

  func beginNode(identifier: String, typeName: String) throws -> RecordReference {
    let type = try unsafe context.typeNumber(named: typeName)
    return try begin(identifier: identifier, type: type, value: nil)
  }

  private func begin(
    identifier: String, type: UInt32, value: (any SimpleModel)?
  ) throws -> RecordReference {
    let node = try number(of: identifier)
    unsafe open.append((identifier, node.isNew, value))
    return RecordReference(node: node.number, type: type)
  }

  /// A reference to a node that is stored already, or comes in this tree.
  func reference(identifier: String, typeName: String) throws -> RecordReference {
    let type = try unsafe context.typeNumber(named: typeName)
    namesStoredNodes = true
    if promisesNodes {
      let promised = try unsafe context.insertIdentifier(identifier)
      return RecordReference(node: promised.number, type: type)
    }
    guard let node = try unsafe context.reading({ try $0.node(identifier) }) else {
      throw StoreError(
        .noSuchNode, identifier, "is referred to, but no such node is stored; store it first")
    }
    return RecordReference(node: node, type: type)
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    guard let node = unsafe open.popLast() else {
      preconditionFailure("an encoder ended a node that it had not begun")
    }
    unsafe pending.append(
      reference, identifier: node.identifier, isNewNode: node.isNew, value: node.value,
      body: body, edges: edges)
  }

  private func number(of identifier: String) throws -> (number: UInt64, isNew: Bool) {
    let node = try unsafe context.insertIdentifier(identifier)
    if node.isNew { return node }
    if unsafe node.number >= firstNewNode {
      pending.hasRepeatedNodes = true
      return (node.number, true)
    }
    if unsafe !storedNodes.insert(node.number) { pending.hasRepeatedNodes = true }
    return node
  }
}

/// A set of numbers that is mostly so small that a list is faster.
private struct SmallNumberSet {
  private static let listCountMaximum = 16

  private var list: [UInt64] = []
  private var set: Set<UInt64> = []

  /// Adds a number.
  ///
  /// - Returns: `false` if it was there already.
  mutating func insert(_ number: UInt64) -> Bool {
    if list.contains(number) { return false }
    if list.count < Self.listCountMaximum {
      list.append(number)
      return true
    }
    return set.insert(number).inserted
  }

  mutating func removeAll() {
    list.removeAll(keepingCapacity: true)
    if !set.isEmpty { set = [] }
  }
}
