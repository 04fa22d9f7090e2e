import PandoSystem
import PandoModels
import PandoProviders
import PandoStore

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
    guard let identifiers else {
      for query in all { stage(query, nil, &run) { try $0.read(snapshot) } }
      return
    }
    var changes: [EntityChange<E>] = []
    for identifier in identifiers {
      run.tally.reads += 1
      do {
        let entity = try snapshot.ranked(identifier, as: E.self)
        if let entity { note(entity.entity) }
        changes.append(EntityChange(identifier, entity))
      } catch {
        for (query, _) in concerned(by: [EntityChange(identifier, nil)]) {
          fail(query, error, &run)
        }
      }
    }
    stage(changes, &run) { try $0.read(snapshot) }
  }
}

extension QueryFollowers {
  /// Reads what a window is filled with.
  typealias Fill = (FollowedQuery<E>) throws -> [RankedEntity<E>]

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
        return try fill(query.followed)
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

extension FollowedQuery {
  /// Reads what a window is filled with.
  func read(_ snapshot: ModelSnapshot) throws -> [RankedEntity<E>] {
    accepted(try snapshot.ranked(matching: stored.current(in: snapshot)))
  }
}
