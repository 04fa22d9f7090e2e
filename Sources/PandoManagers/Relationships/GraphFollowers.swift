import PandoSystem
import PandoModels
import PandoProviders
import PandoStore

/// Which graphs are followed, found by the nodes that they depend on.
final class GraphFollowers: Sendable {
  private struct Entry: Sendable {
    weak let graph: (any FollowedGraph)?
    /// Any entity of this namespace may come in at the root; `nil` if the roots are named.
    let namespace: ByteString?
    var nodes: Set<ByteString> = []
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var loading: Set<UInt64> = []
    var byNode: [ByteString: Set<UInt64>] = [:]
    var byNamespace: [ByteString: Set<UInt64>] = [:]
  }

  private let state = Locked(State())

  /// How many graphs are followed.
  var count: Int { state.withLock { $0.entries.count } }

  func insert(_ graph: any FollowedGraph, namespace: ByteString?) {
    state.withLock { state in
      state.entries[graph.number] = Entry(graph: graph, namespace: namespace)
      state.loading.insert(graph.number)
      if let namespace { state.byNamespace[namespace, default: []].insert(graph.number) }
    }
  }

  /// Says that a graph has been read.
  func hasLoaded(_ number: UInt64) { state.withLock { _ = $0.loading.remove(number) } }

  /// Finds a graph by more nodes.
  func add(_ nodes: Set<ByteString>, of number: UInt64) {
    state.withLock { state in
      guard let known = state.entries[number]?.nodes else { return }
      for node in nodes.subtracting(known) { state.byNode[node, default: []].insert(number) }
      state.entries[number]?.nodes.formUnion(nodes)
    }
  }

  /// Finds a graph by these nodes only.
  func replace(_ nodes: Set<ByteString>, of number: UInt64) {
    add(nodes, of: number)
    state.withLock { state in
      guard let known = state.entries[number]?.nodes else { return }
      for node in known.subtracting(nodes) { Self.remove(node, number, &state) }
      state.entries[number]?.nodes = nodes
    }
  }

  func remove(_ number: UInt64) {
    state.withLock { state in
      guard let entry = state.entries[number] else { return }
      for node in entry.nodes { Self.remove(node, number, &state) }
      if let namespace = entry.namespace {
        state.byNamespace[namespace]?.remove(number)
        if state.byNamespace[namespace]?.isEmpty == true { state.byNamespace[namespace] = nil }
      }
      state.loading.remove(number)
      state.entries[number] = nil
    }
  }

  private static func remove(_ node: ByteString, _ number: UInt64, _ state: inout State) {
    state.byNode[node]?.remove(number)
    if state.byNode[node]?.isEmpty == true { state.byNode[node] = nil }
  }

  /// Holds commits against the graphs that they concern.
  func stage(
    _ fold: CommitGroup, _ snapshot: ModelSnapshot, _ run: inout FollowingRun, _ hub: StoreHub
  ) {
    if fold.hasExpired {
      let graphs = state.withLock { state in state.entries.values.map(\.graph) }
      for graph in graphs { graph?.stage(nil, snapshot, &run, hub) }
      return
    }
    let touched = Set(fold.changed + fold.deleted)
    if touched.isEmpty { return }
    for graph in graphs(at: touched) { graph?.stage(touched, snapshot, &run, hub) }
  }

  /// Whether some nodes concern a graph, or may.
  func concerns(_ nodes: [ByteString]) -> Bool { !graphs(at: nodes).isEmpty }

  /// Ends all graphs by an error.
  func fail(_ error: any Error, _ hub: StoreHub) {
    for graph in state.withLock({ state in state.entries.values.map(\.graph) }) {
      graph?.fail(error, hub)
    }
  }

  /// The graphs that some nodes may concern.
  private func graphs(at nodes: some Sequence<ByteString>) -> [(any FollowedGraph)?] {
    state.withLock { state in
      var numbers = state.loading
      for node in nodes {
        if let found = state.byNode[node] { numbers.formUnion(found) }
        if state.byNamespace.isEmpty { continue }
        for namespace in FollowingRun.namespaces(of: node) {
          if let found = state.byNamespace[namespace] { numbers.formUnion(found) }
        }
      }
      // Strong references leave the lock with this list, and end outside.
      return numbers.sorted().map { state.entries[$0]?.graph }
    }
  }
}
