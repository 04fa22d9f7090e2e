import Dispatch
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Loading and following graphs in commit order.
extension StoreHub {
  /// Begins to follow a graph: loads it from one snapshot, and again after commits that affect it.
  ///
  /// Any thread; returns at once.
  func begin<Root: Entity>(_ graph: LiveGraph<Root>) {
    graphs.insert(graph)
    graph.watch { [weak self] in self?.reload($0) }
    graph.endings.add { [weak self, number = graph.number] in self?.graphs.remove(number) }
    loader.async { [weak graph] in
      if let graph { self.load(graph) }
    }
  }

  /// Loads a graph from the newest snapshot, and joins it if no later commit has affected it.
  private func load<Root: Entity>(_ graph: LiveGraph<Root>) {
    do {
      let (loaded, number) = try store.read { snapshot in
        let loaded = try graph.load(snapshot)
        graphs.note(loaded.roots.shown, snapshot)
        return (loaded, try snapshot.commitValue)
      }
      graphs.add(loaded.dependencies, of: graph.number)
      let awaited = graph.awaited(of: loaded)
      if !awaited.isEmpty { return fetchFirst(awaited, for: graph) }
      // The pipeline gets this process's commits up to that number first.
      store.feed.waitForHandOver(of: number)
      line.enqueue { [weak graph] in
        guard let graph else { return }
        let isFollowed =
          !self.store.isReadOnly && number <= self.line.shown
          && graph.state.follow(loaded, at: number) { self.graphs.hasLoaded(graph.number) }
        if isFollowed {
          self.fetch(loaded.result.asks, for: graph)
        } else {
          self.loadInOrder(graph)
        }
      }
    } catch {
      fail(graph, error)
    }
  }

  /// Loads a graph again, after the queued work.
  private func reload<Root: Entity>(_ graph: LiveGraph<Root>) {
    line.enqueue { [weak graph] in
      if let graph { self.loadInOrder(graph) }
    }
  }

  /// Loads a graph together with all commits so far; on the pipeline.
  private func loadInOrder<Root: Entity>(_ graph: LiveGraph<Root>) {
    do {
      var loaded: LoadedGraph<Root>?
      try line.catchUp { loaded = try graph.load($0) }
      guard let loaded else { return }
      graph.state.stage(loaded, at: line.shown)
      var run = FollowingRun(number: line.shown, context: nil)
      show(loaded, of: graph, &run)
      run.publish()
    } catch {
      fail(graph, error)
    }
  }

  /// Adds a graph to the results that the staged commits publish.
  func show<Root: Entity>(
    _ loaded: LoadedGraph<Root>, of graph: LiveGraph<Root>, _ run: inout FollowingRun
  ) {
    graphs.add(loaded.dependencies, of: graph.number)
    let context = run.context
    run.add {
      self.graphs.replace(loaded.dependencies, of: graph.number)
      self.graphs.hasLoaded(graph.number)
      graph.state.commit(loaded, context: context)
      self.fetch(loaded.result.asks, for: graph)
    }
  }

  /// Sends the requests that come before the first graph, then loads again.
  private func fetchFirst<Root: Entity>(_ asks: [GraphAsk], for graph: LiveGraph<Root>) {
    graph.begin(asks, then: { [weak self] graph in self?.loader.async { self?.load(graph) } }) {
      [weak self] in self?.fail($0, $1)
    }
  }

  /// Sends the requests of a graph, which is shown meanwhile.
  private func fetch<Root: Entity>(_ asks: [GraphAsk], for graph: LiveGraph<Root>) {
    if asks.isEmpty { return }
    graph.begin(asks, then: { [weak self] graph in self?.reload(graph) }) { [weak self] in
      self?.fail($0, $1)
    }
  }

  func fail<Root: Entity>(_ graph: LiveGraph<Root>, _ error: any Error) {
    graphs.remove(graph.number)
    graph.state.fail(error)
  }
}

extension LiveGraph: FollowedGraph {
  func fail(_ error: any Error, _ hub: StoreHub) { hub.fail(self, error) }

  func stage(
    _ touched: Set<ByteString>?, _ snapshot: ModelSnapshot, _ run: inout FollowingRun,
    _ hub: StoreHub
  ) {
    run.tally.evaluations += 1
    do {
      guard let loaded = try stage(touched, at: run.number, snapshot) else { return }
      hub.show(loaded, of: self, &run)
    } catch {
      run.add {
        hub.fail(self, error)
      }
    }
  }
}
