import Dispatch
import PandoSystem
import PandoModels
import PandoStore

/// How queries join the order of commits without a gap.
extension StoreHub {
  func begin<E: Entity>(_ query: LiveQuery<E>) {
    let followers = insert(query)
    query.endings.add { [weak self, number = query.number] in self?.remove(number, of: E.self) }
    if store.isReadOnly { return loadInOrder(query, followers) }
    // Commits that were prepared before this may not be held against the query.
    let prepared = state.withLock { $0.prepared }
    loader.async { [weak query] in
      if let query { self.load(query, followers, prepared: prepared) }
    }
  }

  private func load<E: Entity>(
    _ query: LiveQuery<E>, _ followers: QueryFollowers<E>, prepared: UInt64
  ) {
    do {
      let (window, number) = try store.read { snapshot in
        (try Self.window(of: query, followers, snapshot), try snapshot.commitNumber)
      }
      let isFollowed =
        number >= prepared
        && query.state.follow(window, at: number) { followers.hasLoaded(query) }
      if !isFollowed { loadInOrder(query, followers) }
    } catch {
      fail(query, error)
    }
  }

  /// Reads a query at a place in the order of commits, in the transaction there.
  private func loadInOrder<E: Entity>(_ query: LiveQuery<E>, _ followers: QueryFollowers<E>) {
    let load = StoreHubLoad { [weak query] snapshot, run in
      guard let query else { return }
      do {
        let window = try Self.window(of: query, followers, snapshot)
        query.state.stage(window, at: run.number)
        run.add {
          followers.hasLoaded(query)
          query.state.commit(window, context: nil)
        } undo: { [weak query] in
          query?.state.rollBack()
        }
      } catch {
        run.add {
          self.fail(query, error)
        } undo: {
        }
      }
    }
    place(load) { [weak query] result in
      if let query, case .failure(let error) = result { self.fail(query, error) }
    }
  }

  /// Reads a query's present entities; changes of them find it from now on.
  private static func window<E: Entity>(
    of query: LiveQuery<E>, _ followers: QueryFollowers<E>, _ snapshot: ModelSnapshot
  ) throws -> QueryWindow<E> {
    let entities = try query.followed.read(snapshot)
    for entity in entities { followers.note(entity.entity) }
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

/// A store that is open for reading only: what others commit is looked at when somebody asks.
extension StoreHub {
  /// Takes in what has been committed; on the poller.
  ///
  /// - Parameter load: Something to read at the same commit.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  func catchUp(_ load: StoreHubLoad?) throws {
    let known = state.withLock { $0.committed }
    let types = state.withLock { $0.types }
    let run = try store.read { snapshot in
      let fold = CommitFold(since: known, nil, snapshot)
      var run = FollowingRun(number: fold.number, context: nil)
      if fold.number > known || fold.isUnknown {
        run.stage(fold, types, snapshot)
        graphs.stage(fold, snapshot, &run, self)
      }
      load?.stage(snapshot, &run)
      return run
    }
    state.withLock { state in
      state.prepared = run.number
      state.committed = run.number
      state.tally.add(run.tally)
    }
    for commit in run.commits { commit() }
  }
}
