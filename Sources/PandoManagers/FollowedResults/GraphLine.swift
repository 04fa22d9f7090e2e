import PandoProviders

/// Follows graphs without a store on disk.
struct GraphLine: Sendable {
  /// The pipeline that orders writes to memory.
  let providers: DataModelManager

  /// Begins to follow a graph.
  ///
  /// Any thread; returns at once.
  func begin<Root: Entity>(_ graph: LiveGraph<Root>) {
    graph.watch { reload($0, if: $1) }
    reload(graph)
  }

  /// Loads a graph again, after the queued work.
  private func reload<Root: Entity>(
    _ graph: LiveGraph<Root>, if isNeeded: @escaping @Sendable () -> Bool = { true }
  ) {
    providers.enqueue { [weak graph] in
      if let graph, isNeeded() { load(graph) }
    }
  }

  /// On the pipeline.
  private func load<Root: Entity>(_ graph: LiveGraph<Root>) {
    do {
      let loaded = try graph.loadFromMemory()
      let awaited = graph.awaited(of: loaded)
      if awaited.isEmpty {
        graph.state.stage(loaded, at: 0)
        graph.state.commit(loaded, context: nil)
      }
      graph.begin(awaited.isEmpty ? loaded.result.asks : awaited, then: { reload($0) }) {
        $0.state.fail($1)
      }
    } catch {
      graph.state.fail(error)
    }
  }
}
