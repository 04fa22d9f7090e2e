package import PandoModels
import PandoSystem

/// Trees that were read elsewhere and are shown from now on: they join the live ones.
///
/// Nodes that others show are shown as these show them, and nobody else changes.
extension PipelineScope {
  /// Begins to remember what updates carry, for trees that a cache is being asked for.
  ///
  /// - Returns: For ``join(_:since:)``.
  package func beginJoin() -> UInt64 { journal.begin() }

  /// Ends what ``beginJoin()`` began.
  package func endJoin() { journal.end() }

  /// Whether all is remembered that updates have carried since; else the cache has to be asked again.
  package func canJoin(since number: UInt64) -> Bool { journal.isComplete(since: number) }

  /// Makes trees that a cache has answered what they are among the live ones.
  ///
  /// - Parameters:
  ///   - trees: The answer.
  ///   - number: When the cache was asked.
  /// - Returns: The trees; `nil` in the place of those whose roots have been deleted since.
  package func join(_ trees: [any SimpleModel], since number: UInt64) -> [(any SimpleModel)?] {
    let nodes = Self.nodes(of: trees)
    var update = LiveUpdate()
    for node in nodes { journal.add(node, since: number, isWritten: false, to: &update) }
    for (node, models) in liveModels(of: nodes, asksListeners: true) {
      update.deleted.remove(node)
      update.give((update.versions[node]?.given ?? []) + models, node)
      for model in models { update.addStored(model, node.text) }
    }
    return bring(trees, upTo: update, besides: vanished)
  }

  /// Makes trees that a cache has answered what they are after those changes that it is given.
  ///
  /// - Parameters:
  ///   - trees: The answer.
  ///   - number: When the cache was asked.
  /// - Returns: The trees; `nil` in the place of those whose roots have been deleted since.
  package func joinWritten(
    _ trees: [any SimpleModel], since number: UInt64
  ) -> [(any SimpleModel)?] {
    var update = LiveUpdate()
    for node in Self.nodes(of: trees) {
      journal.add(node, since: number, isWritten: true, to: &update)
    }
    return bring(trees, upTo: update, besides: [])
  }

  /// Makes trees that were read from a store show what is live otherwise, because it was set in memory.
  ///
  /// - Parameter trees: What the store holds, as new as what is live.
  /// - Returns: The trees; `nil` in the place of those whose roots were deleted in memory.
  package func joinStored(_ trees: [any SimpleModel]) -> [(any SimpleModel)?] {
    var update = LiveUpdate()
    for (node, models) in liveModels(of: Self.nodes(of: trees), asksListeners: false) {
      for model in models { update.addStored(model, node.text) }
    }
    return bring(trees, upTo: update, besides: vanished)
  }

  /// What live trees hold of some nodes, one model a type.
  ///
  /// - Parameters:
  ///   - nodes: Their identifiers.
  ///   - asksListeners: Whether listeners are asked what they show; that is their own code.
  /// - Returns: The models of those nodes that are live.
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
    _ trees: [any SimpleModel], upTo update: LiveUpdate, besides vanished: Set<ByteString>
  ) -> [(any SimpleModel)?] {
    if update.carriesNothing, update.renewed.isEmpty, vanished.isEmpty { return trees }
    regenerator.begin(update, besides: vanished, keepsReplacements: false)
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
