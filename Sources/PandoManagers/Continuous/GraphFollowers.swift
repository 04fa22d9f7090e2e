import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The followed graphs, found by the nodes that they depend on.
final class GraphFollowers: Sendable {
  fileprivate struct Entry: Sendable {
    weak let graph: (any FollowedGraph)?
    /// The graphs over the same root type; `nil` if the roots are given by identifier.
    let roots: (any GraphRoots)?
    var nodes: Set<ByteString> = []
  }

  fileprivate struct State {
    var entries: [UInt64: Entry] = [:]
    var loading: Set<UInt64> = []
    var byNode: [ByteString: Set<UInt64>] = [:]
    /// By the namespace of the identifiers; several types can share one.
    var roots: [ByteString: [any GraphRoots]] = [:]
  }

  private let state = Locked(State())

  /// The number of followed graphs.
  var count: Int { state.withLock { $0.entries.count } }

  func insert<Root: Entity>(_ graph: LiveGraph<Root>) {
    let isNamed = graph.followed.query.identifiers != nil
    state.withLock { state in
      let roots = isNamed ? nil : state.roots(of: Root.self)
      roots?.insert(graph.number, graph.followed.key)
      state.entries[graph.number] = Entry(graph: graph, roots: roots)
      state.loading.insert(graph.number)
    }
  }

  /// Records whether roots of a graph contain other nodes.
  func note<Root: Entity>(_ roots: [Root], _ snapshot: ModelSnapshot) {
    let followers = state.withLock { $0.roots(of: Root.self) }
    for root in roots { followers.note(root) }
    if roots.isEmpty, let other = snapshot.example(of: Root.self) { followers.note(other) }
  }

  /// Records that a graph has been loaded.
  func hasLoaded(_ number: UInt64) { state.withLock { _ = $0.loading.remove(number) } }

  /// Adds nodes that a graph depends on.
  func add(_ nodes: Set<ByteString>, of number: UInt64) {
    state.withLock { state in
      guard let known = state.entries[number]?.nodes else { return }
      for node in nodes.subtracting(known) { state.byNode[node, default: []].insert(number) }
      state.entries[number]?.nodes.formUnion(nodes)
    }
  }

  /// Replaces the nodes that a graph depends on.
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
      entry.roots?.remove(number)
      state.loading.remove(number)
      state.entries[number] = nil
    }
  }

  private static func remove(_ node: ByteString, _ number: UInt64, _ state: inout State) {
    state.byNode[node]?.remove(number)
    if state.byNode[node]?.isEmpty == true { state.byNode[node] = nil }
  }

  /// Stages the graphs that commits affect.
  func stage(
    _ fold: CommitGroup, _ snapshot: ModelSnapshot, _ run: inout FollowingRun, _ hub: StoreHub
  ) {
    if fold.hasExpired {
      let graphs = state.withLock { state in state.entries.values.map(\.graph) }
      for graph in graphs { graph?.stage(nil, snapshot, &run, hub) }
      return
    }
    let touched =
      state.withLock { $0.holdsNodes }
      ? fold.touched(in: snapshot) : Set(fold.changed + fold.deleted)
    if touched.isEmpty { return }
    let graphs = graphs(at: touched, in: snapshot)
    for graph in graphs { graph?.stage(touched, snapshot, &run, hub) }
  }

  /// Whether a write affects a graph, or may.
  func concerns(_ touched: TouchedNodes) -> Bool {
    let roots = state.withLock { state -> [ByteString: [any GraphRoots]]? in
      if state.entries.isEmpty { return [:] }
      // The parents of a changed node are unknown without a read.
      if touched.hasUpdated, state.holdsNodes { return nil }
      guard state.loading.isEmpty else { return nil }
      return touched.identifiers.contains { state.byNode[$0] != nil } ? nil : state.roots
    }
    guard let roots else { return true }
    // Fields of user types are read outside the lock.
    for (namespace, roots) in roots {
      for identifier in touched.identifiers where identifier.isIdentifier(of: namespace) {
        for roots in roots where roots.mayTake(identifier, of: touched) { return true }
      }
    }
    return false
  }

  /// Ends all graphs with an error.
  func fail(_ error: any Error, _ hub: StoreHub) {
    for graph in state.withLock({ state in state.entries.values.map(\.graph) }) {
      graph?.fail(error, hub)
    }
  }

  /// The graphs that changes of nodes may affect.
  private func graphs(
    at nodes: Set<ByteString>, in snapshot: ModelSnapshot
  ) -> [(any FollowedGraph)?] {
    let (known, roots) = state.withLock { state in
      var numbers = state.loading
      for node in nodes {
        if let found = state.byNode[node] { numbers.formUnion(found) }
      }
      return (numbers, state.roots.filter { $0.value.contains { $0.count > 0 } })
    }
    var numbers = known
    // Fields of user types are read outside the lock.
    if !roots.isEmpty {
      for node in nodes {
        for namespace in FollowingRun.namespaces(of: node) {
          for roots in roots[namespace] ?? [] where roots.count > 0 {
            numbers.formUnion(roots.graphs(at: node, in: snapshot))
          }
        }
      }
    }
    // The strong references are released outside the lock.
    return state.withLock { state in numbers.ordered().map { state.entries[$0]?.graph } }
  }
}

extension GraphFollowers.State {
  /// Whether a change inside a root may concern a graph.
  var holdsNodes: Bool {
    roots.contains { $0.value.contains { $0.count > 0 && $0.holdsNodes } }
  }

  mutating func roots<Root: Entity>(of type: Root.Type) -> RootFollowers<Root> {
    let namespace = ByteString(Root.identifierNamespace)
    for known in roots[namespace] ?? [] {
      if let known = known as? RootFollowers<Root> { return known }
    }
    let new = RootFollowers<Root>()
    roots[namespace, default: []].append(new)
    return new
  }
}

extension CommitGroup {
  /// The changed nodes, and those that contain them.
  func touched(in snapshot: ModelSnapshot) -> Set<ByteString> {
    var touched = Set(changed + deleted)
    // An unreadable index shows when the entities themselves are read.
    for node in updated {
      touched.formUnion(((try? snapshot.ancestors(of: node.text)) ?? []).map { ByteString($0) })
    }
    return touched
  }
}
