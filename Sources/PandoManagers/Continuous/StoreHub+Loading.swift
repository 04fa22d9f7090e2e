import Dispatch
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Loading the first result of a followed query.
extension StoreHub {
  /// Begins to follow a query: loads its entities, and stages it after each later commit.
  ///
  /// Any thread; returns at once.
  ///
  /// - Parameter query: The query; held weakly.
  func begin<E: Queryable>(_ query: LiveQuery<E>) {
    let followers = followers(of: E.self, countingHolders: query.followed.needsStore)
    followers.insert(query)
    query.endings.add { [weak followers, number = query.number] in followers?.remove(number) }
    loader.async { [weak query] in
      if let query { self.load(query, followers) }
    }
  }

  /// Loads a query from the newest snapshot, and joins it if no later commit has affected it.
  private func load<E: Queryable>(_ query: LiveQuery<E>, _ followers: QueryFollowers<E>) {
    do {
      let (window, number) = try store.read { snapshot in
        let entities = try followers.begin(query, snapshot)
        return (QueryWindow(query.followed, filledWith: entities), try snapshot.commitValue)
      }
      followers.add(nil, in: window, of: query)
      // The pipeline gets this process's commits up to that number first.
      store.feed.waitForHandOver(of: number)
      line.enqueue { [weak query] in
        guard let query else { return }
        let isFollowed =
          !self.store.isReadOnly && number <= self.line.shown
          && query.state.follow(window, at: number) { followers.hasLoaded(query) }
        if !isFollowed { self.loadInOrder(query, followers) }
      }
    } catch {
      followers.fail(query, error)
    }
  }

  /// Loads a query together with all commits so far; on the pipeline.
  private func loadInOrder<E: Queryable>(_ query: LiveQuery<E>, _ followers: QueryFollowers<E>) {
    do {
      var entities: [RankedEntity<E>] = []
      try line.catchUp { entities = try followers.begin(query, $0) }
      followers.begin(query, with: entities, at: line.shown)
    } catch {
      followers.fail(query, error)
    }
  }

  /// The followed queries of a type.
  private func followers<E: Queryable>(
    of type: E.Type, countingHolders: Bool
  ) -> QueryFollowers<E> {
    state.withLock { state in
      let namespace = ByteString(countingHolders ? "" : E.nodeNamespace ?? "")
      for case let followers as QueryFollowers<E> in state.types[namespace] ?? []
      where followers.countsHolders == countingHolders {
        return followers
      }
      let followers = QueryFollowers<E>(countsHolders: countingHolders)
      state.types[namespace, default: []].append(followers)
      return followers
    }
  }
}

extension QueryFollowers {
  /// Reads the first entities of a query's window.
  fileprivate func begin(
    _ query: LiveQuery<E>, _ snapshot: ModelSnapshot
  ) throws -> [RankedEntity<E>] {
    let entities = try read(query, snapshot)
    for entity in entities { note(entity.entity) }
    if entities.isEmpty, let other = snapshot.example(of: E.self) { note(other) }
    return entities
  }
}
