import Dispatch
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// How a followed query gets its first result.
extension StoreHub {
  /// Begins to follow a query.
  ///
  /// - Parameter query: The query; not retained.
  func begin<E: Entity>(_ query: LiveQuery<E>) {
    let followers = insert(query)
    query.endings.add { [weak self, number = query.number] in self?.remove(number, of: E.self) }
    loader.async { [weak query] in
      if let query { self.load(query, followers) }
    }
  }

  /// Reads it at whatever commit is the newest; it joins if nothing has touched it since.
  private func load<E: Entity>(_ query: LiveQuery<E>, _ followers: QueryFollowers<E>) {
    do {
      let (window, number) = try store.read { snapshot in
        (try Self.window(of: query, followers, snapshot), try snapshot.commitNumber)
      }
      // What this process has committed by then comes to the pipeline before.
      store.feed.waitForHandOver(of: number)
      line.enqueue { [weak query] in
        guard let query else { return }
        let isFollowed =
          !self.store.isReadOnly && number <= self.line.shown
          && query.state.follow(window, at: number) { followers.hasLoaded(query) }
        if !isFollowed { self.loadInOrder(query, followers) }
      }
    } catch {
      fail(query, error)
    }
  }

  /// Reads it together with all that is committed by then.
  ///
  /// On the pipeline.
  private func loadInOrder<E: Entity>(_ query: LiveQuery<E>, _ followers: QueryFollowers<E>) {
    do {
      var window: QueryWindow<E>?
      try line.catchUp { window = try Self.window(of: query, followers, $0) }
      guard let window else { return }
      followers.hasLoaded(query)
      query.state.stage(window, at: line.shown)
      query.state.commit(window, context: nil)
    } catch {
      fail(query, error)
    }
  }

  private static func window<E: Entity>(
    of query: LiveQuery<E>, _ followers: QueryFollowers<E>, _ snapshot: ModelSnapshot
  ) throws -> QueryWindow<E> {
    let entities = try query.followed.read(snapshot)
    for entity in entities { followers.note(entity.entity) }
    if entities.isEmpty, let other = snapshot.example(of: E.self) { followers.note(other) }
    let window = QueryWindow(query.followed, filledWith: entities)
    followers.add(nil, in: window, of: query)
    return window
  }

  private func fail<E: Entity>(_ query: LiveQuery<E>, _ error: any Error) {
    remove(query.number, of: E.self)
    query.state.fail(error)
  }
}

extension StoreHub {
  private func insert<E: Entity>(_ query: LiveQuery<E>) -> QueryFollowers<E> {
    let namespace = ByteString(E.identifierNamespace)
    let followers = state.withLock { state in
      for followers in state.types[namespace] ?? [] {
        if let followers = followers as? QueryFollowers<E> { return followers }
      }
      let followers = QueryFollowers<E>()
      state.types[namespace, default: []].append(followers)
      return followers
    }
    followers.insert(query)
    return followers
  }

  private func remove<E: Entity>(_ number: UInt64, of type: E.Type) {
    let followers = state.withLock { $0.types[ByteString(E.identifierNamespace)] ?? [] }
    for followers in followers { (followers as? QueryFollowers<E>)?.remove(number) }
  }
}
