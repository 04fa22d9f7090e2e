import PandoProviders
import Dispatch
import PandoSystem
import PandoModels
import PandoStore

/// How graphs join the order of commits, as queries do.
extension StoreHub {
  /// Begins to follow a graph: it is loaded at one moment, and again where a commit touches it.
  ///
  /// Any thread; returns at once.
  func begin<Root: Entity>(_ graph: LiveGraph<Root>) {
    var namespace: ByteString? = ByteString(Root.identifierNamespace)
    if graph.followed.query.identifiers != nil { namespace = nil }
    graphs.insert(graph, namespace: namespace)
    graph.endings.add { [weak self, number = graph.number] in self?.graphs.remove(number) }
    let prepared = state.withLock { $0.prepared }
    loader.async { [weak graph] in
      if let graph { self.load(graph, prepared: prepared) }
    }
  }

  private func load<Root: Entity>(_ graph: LiveGraph<Root>, prepared: UInt64) {
    if store.isReadOnly { return reload(graph) }
    do {
      let (loaded, number) = try store.read { snapshot in
        (try graph.load(snapshot), try snapshot.commitNumber)
      }
      graphs.add(loaded.nodes, of: graph.number)
      if !loaded.result.unasked.isEmpty { return fetch(loaded.result.unasked, for: graph) }
      let isFollowed =
        number >= prepared
        && graph.state.follow(loaded, at: number) { graphs.hasLoaded(graph.number) }
      if !isFollowed { reload(graph) }
    } catch {
      fail(graph, error)
    }
  }

  /// Loads a graph at a place in the order of commits, in the transaction there.
  private func reload<Root: Entity>(_ graph: LiveGraph<Root>) {
    let load = StoreHubLoad { [weak graph] snapshot, run in
      guard let graph else { return }
      do {
        let loaded = try graph.load(snapshot)
        graph.state.stage(loaded, at: run.number)
        self.show(loaded, of: graph, &run)
      } catch {
        run.add {
          self.fail(graph, error)
        } undo: {
        }
      }
    }
    place(load) { [weak graph] result in
      if let graph, case .failure(let error) = result { self.fail(graph, error) }
    }
  }

  /// Shows what a commit leaves of a graph when it is on disk.
  func show<Root: Entity>(
    _ loaded: LoadedGraph<Root>, of graph: LiveGraph<Root>, _ run: inout FollowingRun
  ) {
    graphs.add(loaded.nodes, of: graph.number)
    let context = run.context
    run.add {
      self.graphs.replace(loaded.nodes, of: graph.number)
      self.graphs.hasLoaded(graph.number)
      graph.state.commit(loaded, context: context)
      if !loaded.result.unasked.isEmpty { self.fetch(loaded.result.unasked, for: graph) }
    } undo: { [weak graph] in
      graph?.state.rollBack()
    }
  }

  /// Asks sources, then loads the graph again.
  private func fetch<Root: Entity>(_ unasked: [Int: [ByteString]], for graph: LiveGraph<Root>) {
    let task = Task { [weak graph] in
      do {
        try await graph?.fetch(unasked)
        guard let graph, !Task.isCancelled else { return }
        // The first time until nothing is left to be asked for; later what is there is shown.
        if graph.observed.version > 1 {
          self.reload(graph)
        } else {
          let prepared = self.state.withLock { $0.prepared }
          self.loader.async { self.load(graph, prepared: prepared) }
        }
      } catch {
        if let graph { self.fail(graph, error) }
      }
    }
    graph.endings.add { task.cancel() }
  }

  func fail<Root: Entity>(_ graph: LiveGraph<Root>, _ error: any Error) {
    graphs.remove(graph.number)
    graph.state.fail(error)
  }
}

extension LiveGraph: FollowedGraph {
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
      } undo: {
      }
    }
  }
}
