import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Who follows queries of one entity type over a store, whatever the type is.
protocol StoreFollowers: AnyObject, Sendable {
  /// How many queries are followed.
  var count: Int { get }

  /// Whether entities of the type have other nodes inside, as far as is known.
  var holdsNodes: Bool { get }

  /// Whether a write concerns one of the queries, or may.
  func concerns(_ touched: TouchedNodes, of namespace: ByteString) -> Bool

  /// Ends all queries by an error.
  func fail(_ error: any Error)

  /// Works out what a commit means for the queries.
  ///
  /// - Parameters:
  ///   - identifiers: The nodes that it has touched; `nil` if they are not known.
  ///   - snapshot: The store after it.
  ///   - run: Takes what is to be done.
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
        // Left out like one that has gone; a change of it, or of what it holds, may bring it back.
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

  /// Reads what the window of a query is filled with, without what can't be decoded.
  func read(_ query: LiveQuery<E>, _ snapshot: ModelSnapshot) throws -> [RankedEntity<E>] {
    try query.followed.read(snapshot) { records in
      if !records.isEmpty { self.noteHolders() }
      query.report(records)
    }
  }
}

extension FollowedQuery {
  /// Reads what a window is filled with.
  ///
  /// - Parameters:
  ///   - snapshot: Where from.
  ///   - skipped: Takes the records that can't be decoded; without it they are errors.
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
  /// Reads what a window is filled with.
  typealias Fill = (LiveQuery<E>) throws -> [RankedEntity<E>]

  /// Shows the first result of a query, at its place in the order of changes.
  func begin(_ query: LiveQuery<E>, with entities: [RankedEntity<E>], at number: UInt64) {
    let window = QueryWindow(query.followed, filledWith: entities)
    add(nil, in: window, of: query)
    hasLoaded(query)
    query.state.stage(window, at: number)
    query.state.commit(window, context: nil)
  }

  /// Ends a query by an error.
  func fail(_ query: LiveQuery<E>, _ error: any Error) {
    remove(query.number)
    query.state.fail(error)
  }

  /// Works out what changes mean for the queries that they may concern.
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
      // Found by what comes in from now on; by what has left no longer, once that is committed.
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

  /// Ends a query in the step that shows the changes: what they leave of it can't be read.
  private func fail(_ query: LiveQuery<E>, _ error: any Error, _ run: inout FollowingRun) {
    run.add { self.fail(query, error) }
  }
}
