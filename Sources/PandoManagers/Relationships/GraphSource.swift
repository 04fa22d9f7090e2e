import PandoProviders

/// Where iterations over a followed graph begin; those that run at the same time share one live graph.
final class GraphSource<Root: Entity>: FollowedOrigin {
  private let followed: FollowedQuery<Root>
  private let shape: GraphShape<Root>
  private let hub: Result<StoreHub, any Error>
  private let scope: ContinuousScope
  private let validator: (any UserAccessValidating)?
  private let first: FirstAnswer<Root>
  private let shared = SharedLive<LiveGraph<Root>>()

  init(
    _ followed: FollowedQuery<Root>, _ shape: GraphShape<Root>,
    hub: Result<StoreHub, any Error>, scope: ContinuousScope,
    validator: (any UserAccessValidating)?, first: FirstAnswer<Root>
  ) {
    self.followed = followed
    self.shape = shape
    self.hub = hub
    self.scope = scope
    self.validator = validator
    self.first = first
  }

  /// The graph, now and after each change of anything in it.
  var values: ContinuousSequence<EntityGraph<Root>> {
    ContinuousSequence(
      FollowedObservation(origin: self) { [self] in
        let access = validator?.userAccess
        var seen: EntityGraph<Root>?
        return { loaded, _ in
          let graph = self.validator.allows(access) ? loaded.graph : .empty
          if let seen, seen == graph { return nil }
          seen = graph
          return graph
        }
      })
  }

  func join() throws -> Following<LoadedGraph<Root>> {
    try followed.query.validate()
    let rules = try GraphRules(shape)
    let hub = try hub.get()
    while true {
      let (live, isNew) = shared.live { LiveGraph(followed, rules) }
      let cursor = live.observed.makeCursor()
      if isNew {
        begin(live, hub)
      } else if live.state.hasFailed {
        // One that failed before the cursor was made would never say so.
        shared.forget(live)
        continue
      }
      return Following(live: live, observed: live.observed, cursor: cursor)
    }
  }

  private func begin(_ live: LiveGraph<Root>, _ hub: StoreHub) {
    scope.insert(live)
    live.endings.add { [scope, number = live.number] in scope.remove(number) }
    switch first {
    case .local: hub.begin(live)
    case .asked(let ask):
      let task = Task { [weak live] in
        do {
          _ = try await ask()
          if let live { hub.begin(live) }
        } catch {
          live?.state.fail(error)
        }
      }
      live.endings.add { task.cancel() }
    case .then(let ask):
      hub.begin(live)
      let task = Task { [weak live] in
        do { _ = try await ask() } catch { live?.state.fail(error) }
      }
      live.endings.add { task.cancel() }
    }
  }
}

extension EntityGraph {
  /// Nothing.
  static var empty: EntityGraph { EntityGraph(roots: [], entities: [:], order: [], absent: []) }
}
