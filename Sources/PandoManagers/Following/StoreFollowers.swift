import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The followed queries of one entity type over a store, for any type.
protocol StoreFollowers: AnyObject, Sendable {
  /// The number of followed queries.
  var count: Int { get }

  /// Whether an entity of the type was found to contain other nodes.
  var holdsNodes: Bool { get }

  /// Whether a write affects one of the queries, or may.
  func concerns(_ touched: TouchedNodes, of namespace: ByteString) -> Bool

  /// Ends all queries with an error.
  func fail(_ error: any Error)

  /// Stages the queries after a commit.
  ///
  /// - Parameters:
  ///   - identifiers: The touched nodes; `nil` if they are unknown.
  ///   - snapshot: The store after the commit.
  ///   - run: Receives the results.
  func stage(_ identifiers: [ByteString]?, _ snapshot: ModelSnapshot, _ run: inout FollowingRun)
}

extension QueryFollowers: StoreFollowers {
  func fail(_ error: any Error) {
    for query in all { fail(query, error) }
  }

  func stage(_ identifiers: [ByteString]?, _ snapshot: ModelSnapshot, _ run: inout FollowingRun) {
    guard let identifiers, !countsHolders else {
      for query in all { stage(query, nil, &run) { try read($0, snapshot) } }
      return
    }
    var changes: [EntityChange<E>] = []
    for identifier in concerning(identifiers) {
      run.tally.reads += 1
      do {
        let entity = try snapshot.ranked(identifier, as: E.self)
        if let entity { note(entity.entity) }
        changes.append(EntityChange(identifier, entity))
      } catch let error as ModelError {
        // Left out like a removed entity; a later change of it, or of a child, may make it readable.
        noteHolders()
        let change = EntityChange<E>(identifier, nil)
        changes.append(change)
        let record = UndecodableRecord(identifier.text, error)
        for (query, _) in concerned(by: [change]) { query.report([record]) }
      } catch {
        for (query, _) in concerned(by: [EntityChange(identifier, nil)]) {
          fail(query, error, &run)
        }
      }
    }
    stage(changes, &run) { try read($0, snapshot) }
  }

  /// Reads the entities of a query's window, without those that can't be decoded.
  func read(_ query: LiveQuery<E>, _ snapshot: ModelSnapshot) throws -> [RankedEntity<E>] {
    try query.followed.read(snapshot) { records in
      if !records.isEmpty { self.noteHolders() }
      query.report(records)
    }
  }
}

extension FollowedQuery {
  /// Reads the entities of a window.
  ///
  /// - Parameters:
  ///   - snapshot: The snapshot.
  ///   - skipped: Receives the records that can't be decoded; without it they are errors.
  /// - Returns: The entities, in order.
  /// - Throws: `ModelError` without `skipped`; `StoreError`.
  func read(
    _ snapshot: ModelSnapshot, skipped: (([UndecodableRecord]) -> Void)? = nil
  ) throws -> [RankedEntity<E>] {
    var query = try stored.current(in: snapshot)
    query.skipsUndecodable = skipped != nil
    return accepted(try snapshot.ranked(matching: query) { skipped?($0) })
  }
}

extension QueryFollowers {
  /// Reads the entities of a window.
  typealias Fill = (LiveQuery<E>) throws -> [RankedEntity<E>]

  /// Publishes the first result of a query, at its place in the order of changes.
  func begin(_ query: LiveQuery<E>, with entities: [RankedEntity<E>], at number: UInt64) {
    let window = QueryWindow(query.followed, filledWith: entities)
    add(nil, in: window, of: query)
    hasLoaded(query)
    query.state.stage(window, at: number)
    query.state.commit(window, context: nil)
  }

  /// Ends a query with an error.
  func fail(_ query: LiveQuery<E>, _ error: any Error) {
    remove(query.number)
    query.state.fail(error)
  }

  /// Stages the queries that changes may affect.
  func stage(_ changes: [EntityChange<E>], _ run: inout FollowingRun, fill: Fill) {
    for (query, changes) in concerned(by: changes) { stage(query, changes, &run, fill: fill) }
  }

  private func stage(
    _ query: LiveQuery<E>, _ changes: [EntityChange<E>]?, _ run: inout FollowingRun, fill: Fill
  ) {
    run.tally.evaluations += changes?.count ?? 0
    var refills = 0
    do {
      let window = try query.stage(changes, at: run.number) {
        refills += 1
        return try fill(query)
      }
      run.tally.refills += refills
      guard let window else { return }
      // New identifiers are added now; lost ones are removed when the window is published.
      let candidates = refills > 0 || (changes?.count ?? .max) > 4 ? nil : changes
      add(candidates, in: window, of: query)
      let context = run.context
      run.add {
        self.remove(candidates, notIn: window, of: query)
        query.state.commit(window, context: context)
      }
    } catch {
      fail(query, error, &run)
    }
  }

  /// Ends a query in the step that publishes the changes, because its entities can't be read.
  private func fail(_ query: LiveQuery<E>, _ error: any Error, _ run: inout FollowingRun) {
    run.add { self.fail(query, error) }
  }
}
