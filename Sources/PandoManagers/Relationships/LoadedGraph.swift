import PandoModels
import PandoRecords

/// A loaded graph, with the nodes that it depends on.
struct LoadedGraph<Root: Entity>: Sendable {
  /// The roots, updated change by change.
  var roots: QueryWindow<Root>
  let result: GraphLoader<Root>.Result
  /// All nodes that the graph shows, misses or requests, and the nodes inside its entities.
  let nodes: Set<ByteString>
  /// The nodes inside its entities; one of them can be an entity of the graph too.
  let innerNodes: Set<ByteString>

  var graph: EntityGraph<Root> { result.graph }

  /// The nodes by which the graph is found: its nodes, and kept roots that are not shown.
  var dependencies: Set<ByteString> { nodes.union(roots.identifiers) }

  init(_ roots: QueryWindow<Root>, _ result: GraphLoader<Root>.Result) {
    self.roots = roots
    self.result = result
    var nodes = Set(result.graph.absent + result.graph.awaited)
    if case .identifiers(let asked) = roots.followed.key { nodes.formUnion(asked) }
    var innerNodes: Set<ByteString> = []
    for (identifier, entity) in result.graph.entities {
      nodes.insert(identifier)
      Self.addNodes(inside: entity, to: &innerNodes)
    }
    self.nodes = nodes.union(innerNodes)
    self.innerNodes = innerNodes
  }

  private static func addNodes(inside model: any Model, to nodes: inout Set<ByteString>) {
    var isRoot = true
    ModelChildren.walk(model) { _, identifier in
      if !exchange(&isRoot, with: false), let identifier { nodes.insert(ByteString(identifier)) }
      return true
    }
  }
}
