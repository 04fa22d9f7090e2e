import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRecords
import PandoStore
import PandoSystem

/// The state that a write replaces.
struct ReplacedState<E: RemoteEntity>: ReplacedNodes {
  /// The replaced state of one entity.
  struct Item: Sendable {
    /// The entity that is set.
    var entity: E?
    var nodes: [QueuedUndo.Node] = []
    var places: [QueuedUndo.Place] = []
  }

  private(set) var items: [Item]
  private let isRemoval: Bool
  /// Whether the nodes have their records after the write.
  private var isWritten = false

  /// Reads the state before entities are set.
  init(settingIn snapshot: ModelSnapshot, _ entities: [E]) throws {
    isRemoval = false
    items = try entities.map { entity in
      let identifier = try snapshot.currentIdentifier(of: entity.id)
      let stored = try? snapshot.get(identifier.modelIdentifier, as: E.self)
      let names = entity.nodes(as: identifier) + (stored?.nodes(as: identifier) ?? [])
      return Item(
        entity: entity,
        nodes: try names.map { ByteString($0) }.unique.map {
          QueuedUndo.Node(
            identifier: $0.text, before: try snapshot.records(of: $0.text), after: NodeRecords(),
            datedAt: try snapshot.sequenceState(of: $0.text).datedAt)
        })
    }
  }

  /// Reads the state before entities are removed: of them, of nodes that require them, and of nodes that lose them.
  ///
  /// Each removal begins with the state after the one before it, so its undo restores only its own entities.
  init(
    removingIn transaction: inout ModelTransaction, _ identifiers: [EntityIdentifier<E>]
  ) throws {
    (isRemoval, isWritten) = (true, true)
    items = identifiers.map { _ in Item() }
    let names = try identifiers.map {
      try transaction.snapshot.currentIdentifier(of: $0).modelIdentifier
    }
    let steps = try RemovalTrial.run(names, in: &transaction)
    let snapshot = transaction.alias()
    var records: [ByteString: NodeRecords] = [:]
    for step in steps {
      for (identifier, after) in step.after {
        let name = ByteString(identifier)
        let before = try records[name] ?? snapshot.snapshot.records(of: identifier)
        records[name] = after
        let datedAt = try snapshot.snapshot.sequenceState(of: identifier).datedAt
        items[step.index].nodes.append(
          QueuedUndo.Node(
            identifier: identifier, before: before, after: after, datedAt: datedAt))
      }
      for key in step.deletion.collections {
        items[step.index].places += try snapshot.snapshot.places(
          of: step.deletion.deleted, inCollection: key)
      }
    }
  }

  func written(in snapshot: ModelSnapshot) throws -> ReplacedState {
    guard !isWritten else { return self }
    var result = self
    result.isWritten = true
    for index in items.indices {
      let enums = items[index].entity.map { EnumPlaces(in: $0) }
      for place in items[index].nodes.indices {
        var node = items[index].nodes[place]
        node.after = try snapshot.records(of: node.identifier)
        for record in node.after.records where try node.isChanged && record.mayHoldCase {
          let (name, type) = (node.identifier, record.typeName)
          for found in enums?.lookalikes(inNode: name, typeName: type) ?? [] {
            node.dictionaries.insert(NodeRecords.place(found, in: type))
          }
        }
        result.items[index].nodes[place] = node
      }
    }
    return result
  }

  /// Returns the state to store with a request.
  ///
  /// - Parameter index: The index of the entity that the request sends or removes; `nil` for a request of the caller.
  /// - Returns: The state that the request replaces; `nil` if the type keeps refused writes.
  func undo(at index: Int?) -> QueuedUndo? {
    guard E.refusalPolicy == .undo else { return nil }
    let chosen = index.map { [items[$0]] } ?? items
    return QueuedUndo(
      nodes: chosen.flatMap(\.nodes).filter { !$0.before.isEmpty || !$0.after.isEmpty },
      places: chosen.flatMap(\.places), sendsEntity: index != nil && !isRemoval)
  }
}

extension ReplacedState {
  /// Returns the identifiers of the nodes that the write has changed inside an entity, or inside all for `nil`.
  func changedInside(at index: Int?) -> [String] {
    if isRemoval { return [] }
    let chosen = index.map { [items[$0]] } ?? items
    return chosen.flatMap { $0.nodes.dropFirst() }.filter(\.isChanged).map(\.identifier)
  }
}

extension Entity {
  /// Whether it contains nodes.
  var holdsNodes: Bool {
    var found = false
    func look(_ model: any Model) {
      if model.modelIdentifier != nil { found = true }
      if !found { model.forEach(look) }
    }
    self.forEach(look)
    return found
  }

  /// The identifiers of the nodes in it, its own first, each once.
  func nodes(as identifier: EntityIdentifier<Self>) -> [String] {
    var found = [identifier.modelIdentifier]
    func add(_ model: any Model) {
      if let identifier = model.modelIdentifier { found.append(identifier) }
      model.forEach(add)
    }
    self.forEach(add)
    return found.map { ByteString($0) }.unique.map(\.text)
  }
}

/// The effects that removals would have.
private struct RemovalTrial: Error {
  struct Step: Sendable {
    /// The index of the removal.
    let index: Int
    let deletion: Deletion
    /// The records that it leaves of the nodes that it removes or changes.
    let after: [(identifier: String, records: NodeRecords)]
  }

  private let steps: [Step]

  /// Removes nodes one after another, notes the effect of each removal, and rolls all back.
  ///
  /// A node whose removal other nodes restrict is removed after them.
  ///
  /// - Returns: The effects in the order of the removals, without nodes that do not exist or can't be removed.
  static func run(
    _ identifiers: [String], in transaction: inout ModelTransaction
  ) throws -> [Step] {
    do {
      try transaction.nested { inner in
        var steps: [Step] = []
        var left = Array(identifiers.indices)
        var count = 0
        while left.count != count {
          count = left.count
          left = try left.filter { index in
            do {
              guard let deletion = try inner.deleteIfPresent(identifiers[index]) else {
                return false
              }
              let snapshot = inner.alias()
              let after = try (deletion.deleted + deletion.updated).map {
                (identifier: $0, records: try snapshot.snapshot.records(of: $0))
              }
              steps.append(Step(index: index, deletion: deletion, after: after))
              return false
            } catch let error as StoreError where error.code == .restricted {
              return true
            }
          }
        }
        throw RemovalTrial(steps: steps)
      }
    } catch let trial as RemovalTrial {
      return trial.steps
    }
    return []
  }
}

extension ModelSnapshot {
  /// The positions of nodes in a collection.
  fileprivate func places(
    of identifiers: [String], inCollection key: String
  ) throws -> [QueuedUndo.Place] {
    let wanted = Set(identifiers.map { ByteString($0) })
    var found: [QueuedUndo.Place] = []
    for (index, element) in (try collectionTrees(key, depth: 0) ?? []).enumerated() {
      guard case .reference(let identifier, let typeName) = element,
        wanted.contains(ByteString(identifier))
      else { continue }
      found.append(
        QueuedUndo.Place(
          collection: key, index: index, identifier: identifier, typeName: typeName))
    }
    return found
  }
}

extension SequenceState {
  /// The sequence number of a node that a server has sent; `nil` if it was written here since.
  var datedAt: UInt64? { isDated ? sequenceNumber : nil }
}
