package import PandoModels
import PandoRecords
import PandoSystem

/// Joining of trees that were read elsewhere and become live.
///
/// Nodes that live trees contain get the content of the live trees. The live trees do not change.
extension PipelineScope {
  /// Starts to record the changes of updates, for a request to a cache.
  ///
  /// - Returns: The join number, for ``join(_:since:)``.
  package func beginJoin() -> UInt64 { journal.begin() }

  /// Ends the recording that ``beginJoin()`` started.
  package func endJoin() { journal.end() }

  /// Returns true if all changes since a join number are recorded; else the request must be
  /// repeated.
  package func canJoin(since number: UInt64) -> Bool { journal.isComplete(since: number) }

  /// Combines a tree from a cache with the newer data of updates and live trees.
  ///
  /// - Parameters:
  ///   - tree: The answer of the cache.
  ///   - number: The join number of the request.
  /// - Returns: The tree; `nil` if its root was deleted meanwhile.
  package func join(_ tree: any SimpleModel, since number: UInt64) -> NewTree? {
    var new = NewTree(tree)
    new.agrees =
      overlay.gone.isEmpty && !journal.hasChanged(new.nodes, since: number)
      && agrees(new, besides: nil)
    return new.agrees ? new : join([tree], since: number)[0].map { NewTree($0) }
  }

  /// Combines trees from a cache with the newer data of updates and live trees.
  ///
  /// - Parameters:
  ///   - trees: The answer of the cache.
  ///   - number: The join number of the request.
  /// - Returns: The trees; `nil` for each tree whose root was deleted meanwhile.
  package func join(_ trees: [any SimpleModel], since number: UInt64) -> [(any SimpleModel)?] {
    let nodes = Self.nodes(of: trees)
    var update = LiveUpdate()
    for node in nodes { journal.add(node, since: number, isWritten: false, to: &update) }
    for (node, models) in liveModels(of: nodes, asksListeners: true) {
      update.deleted.remove(node)
      update.give((update.versions[node]?.given ?? []) + models, node)
      for model in models { update.addStored(model, node.text) }
    }
    return bring(trees, upTo: update, hiding: overlay.gone)
  }

  /// Combines trees from a cache with the newer changes that were written to the cache.
  ///
  /// - Parameters:
  ///   - trees: The answer of the cache.
  ///   - number: The join number of the request.
  /// - Returns: The trees; `nil` for each tree whose root was deleted meanwhile.
  package func joinWritten(
    _ trees: [any SimpleModel], since number: UInt64
  ) -> [(any SimpleModel)?] {
    var update = LiveUpdate()
    for node in Self.nodes(of: trees) {
      journal.add(node, since: number, isWritten: true, to: &update)
    }
    return bring(trees, upTo: update, hiding: [])
  }

  /// Returns true if a node was deleted in the cache since a join number, and set again.
  package func hasReturned(_ identifier: String, since number: UInt64) -> Bool {
    journal.hasReturned(ByteString(identifier), since: number)
  }

  /// Combines trees from a store with the overlay in front of it.
  ///
  /// - Parameter trees: Trees from the store, at the commit that live trees show.
  /// - Returns: The trees; `nil` for each tree whose root was deleted in memory.
  package func joinStored(_ trees: [any SimpleModel]) -> [(any SimpleModel)?] {
    guard overlay.isUsed else { return trees }
    var update = LiveUpdate()
    addOverlay(of: Self.nodes(of: trees), to: &update)
    return bring(trees, upTo: update, hiding: overlay.gone)
  }

  /// Adds the models that live trees contain for some nodes to an update of data that was read.
  package func addOverlay(of nodes: Set<ByteString>, to update: inout LiveUpdate) {
    guard overlay.isUsed else { return }
    for (node, models) in liveModels(of: nodes, asksListeners: false) {
      for model in models { update.addStored(model, node.text) }
    }
  }

  /// Returns the models of some nodes in live trees, one for each type.
  ///
  /// - Parameters:
  ///   - nodes: The identifiers of the nodes.
  ///   - asksListeners: True to call listeners for their current models, which is their own code.
  /// - Returns: The models of the live nodes.
  package func liveModels(
    of nodes: Set<ByteString>, asksListeners: Bool
  ) -> [ByteString: [any SimpleModel]] {
    var found: [ByteString: [any SimpleModel]] = [:]
    let first = context.registry.withLock { $0.rows(holding: nodes, all: false) }
    find(nodes, in: first, asksListeners, &found)
    if first.isEmpty { return found }
    let rest = context.registry.withLock { registry in
      let missing = nodes.filter { (found[$0]?.count ?? 0) < registry.types(of: $0).count }
      return registry.rows(holding: missing, all: true)
    }
    find(nodes, in: rest, asksListeners, &found)
    return found
  }

  private func find(
    _ nodes: Set<ByteString>, in rows: [(holder: any LiveHolder, rows: [LiveRow])],
    _ asksListeners: Bool, _ found: inout [ByteString: [any SimpleModel]]
  ) {
    func note(_ model: any SimpleModel, _ identifier: String) {
      let key = ByteString(identifier)
      guard nodes.contains(key) else { return }
      var models = found[key] ?? []
      if models.contains(where: { type(of: $0) == type(of: model) }) { return }
      models.append(model)
      found[key] = models
    }
    for (holder, rows) in rows {
      for tree in holder.liveTrees(ofRows: rows, asksListeners: asksListeners) {
        if let model = ModelTypes.asModel(tree) {
          TreeNodes.forEach(of: model) { note(ModelBoxes.simple($0), $1) }
        } else if let identifier = tree.modelIdentifier {
          note(tree, identifier)
        }
      }
    }
  }

  private func bring(
    _ trees: [any SimpleModel], upTo update: LiveUpdate, hiding hidden: Set<ByteString>
  ) -> [(any SimpleModel)?] {
    if update.carriesNothing, hidden.isEmpty { return trees }
    regenerator.begin(update, hiding: hidden, keepsReplacements: false)
    defer {
      context.reporter.report(regenerator.mistakes)
      regenerator.end()
    }
    return MapWatch.$current.withValue(watch) {
      trees.map { tree in
        guard let regeneration = regenerator.regenerate(tree) else { return tree }
        return regeneration.model
      }
    }
  }

  private static func nodes(of trees: [any SimpleModel]) -> Set<ByteString> {
    var nodes: [LiveRegistry.Node] = []
    for tree in trees { TreeNodes.append(tree, to: &nodes) }
    return Set(nodes.map(\.identifier))
  }
}
