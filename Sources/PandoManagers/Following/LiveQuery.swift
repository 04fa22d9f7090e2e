import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// A followed query.
final class LiveQuery<E: Queryable>: LiveView {
  let followed: AcceptedQuery<E>
  let state = FollowedState<QueryWindow<E>>()
  let number = FollowedNumber.next()
  let endings = Endings()
  let hasOtherTypes = false

  private let keepsModels: Bool
  private let events: ManagerEventHandler?
  private let reported = Locked(ReportedRecords())
  /// Whether it was reported that it keeps many models.
  private let isLong = Locked(false)

  /// Makes a query that is not followed yet.
  ///
  /// - Parameters:
  ///   - followed: The prepared query.
  ///   - keepsModels: Whether to keep the models, not only identifiers and order.
  ///   - events: Receives the errors of records that are left out because they can't be decoded.
  init(
    _ followed: AcceptedQuery<E>, keepsModels: Bool = true, events: ManagerEventHandler? = nil
  ) {
    self.followed = followed
    self.keepsModels = keepsModels
    self.events = events
  }

  /// The number of errors that are kept so that they are not reported again.
  var reportedCount: Int { reported.withLock { $0.count } }

  /// Reports left-out records, unless they were reported with the same error.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - isRead: Whether these are all that a read of the window has left out.
  private func report(_ records: [UndecodableRecord], isRead: Bool) {
    guard let events else { return }
    let texts = records.map { ByteString("\($0)") }
    let isNew = reported.withLock { isRead ? $0.replace(by: texts) : $0.add(texts) }
    for (record, isNew) in zip(records, isNew) where isNew {
      events(ManagerEvent(.undecodableEntity, E.modelTypeName, record))
    }
  }

  func show(_ answer: QueryResult<E>) -> Bool {
    var query = followed.query
    query.offset = 0
    query.limit = nil
    let entities = answer.entities.enumerated().map { index, entity in
      RankedEntity(entity, rank: UInt64(index))
    }
    observed.publish(QueryWindow(AcceptedQuery(query), filledWith: entities))
    return true
  }

  func load(_ snapshot: ModelSnapshot, _ type: TypeViews<E>) throws -> QueryWindow<E> {
    let entities = try read(snapshot, type)
    var window = window(of: entities)
    window.prepare()
    window.conditions = try FollowedConditions(followed.query, snapshot)
    reportLength(of: window)
    window.commit = CommitOrigin(try snapshot.commitNumber)
    return window
  }

  /// Reports once that a window keeps many models.
  private func reportLength(of window: QueryWindow<E>) {
    guard let events, window.modelCount > Self.reportedCount,
      !isLong.withLock({ exchange(&$0, with: true) })
    else { return }
    let error = LongResult(count: window.modelCount, plan: FollowedPlan(followed))
    events(ManagerEvent(.longResult, E.modelTypeName, error))
  }

  /// More models in a window are reported.
  private static var reportedCount: Int { 10_000 }

  /// The window with entities that were read.
  func window(of entities: [RankedEntity<E>]) -> QueryWindow<E> {
    QueryWindow(followed, filledWith: entities, keepsModels: keepsModels)
  }

  /// Reads the entities of the window, without those that can't be decoded.
  private func read(
    _ snapshot: ModelSnapshot, _ type: TypeViews<E>
  ) throws -> [RankedEntity<E>] {
    let entities = try followed.read(snapshot) { records in
      // A change inside such a record may make it readable.
      if !records.isEmpty { type.noteHolders() }
      self.report(records, isRead: true)
    }
    type.note(entities.lazy.map(\.entity), snapshot)
    return entities
  }

  func nodes(of window: QueryWindow<E>) -> Set<ByteString> {
    switch followed.key {
    case .type: []
    case .identifiers(let named): named.union(window.identifiers)
    case .values, .order: Set(window.identifiers)
    }
  }

  func rangedCount(of window: QueryWindow<E>) -> Int {
    followed.key.hasRangesOnly ? window.count : 0
  }

  func last(of window: QueryWindow<E>) -> QueryValue? { window.last }

  func depends(_ window: QueryWindow<E>, on node: ByteString) -> Bool {
    if case .type = followed.key { return false }
    return followed.key.names(node) || window.contains(node)
  }

  func stage(
    _ nodes: [ByteString]?, _ run: inout FollowingRun, _ snapshot: ModelSnapshot,
    _ type: TypeViews<E>
  ) throws -> QueryWindow<E>? {
    guard let staged = state.staged(before: run.number, isKnown: nodes != nil) else { return nil }
    var conditions = staged.conditions
    var changes: [EntityChange<E>]?
    if let nodes {
      let concerned = try conditions?.advance(by: nodes, in: snapshot) ?? nodes
      changes = try concerned.map { node in
        do {
          let entity = try run.reads.entity(node, as: E.self, in: snapshot).get()
          if let entity { type.note(entity.entity) }
          if let entity, let conditions, !conditions.accept(entity.entity, node) {
            return EntityChange(node, nil)
          }
          return EntityChange(node, entity)
        } catch let error as ModelError {
          type.noteHolders()
          report([UndecodableRecord(node.text, error)], isRead: false)
          return EntityChange(node, nil)
        }
      }
    } else if conditions != nil {
      conditions = try FollowedConditions(followed.query, snapshot)
    }
    return try stage(changes, in: staged, conditions, &run) { try read(snapshot, type) }
  }

  func plan(
    _ nodes: [ByteString], _ touched: TouchedNodes, _ store: ModelStore,
    _ type: @autoclosure () -> TypeViews<E>
  ) -> ViewPlan<QueryWindow<E>> {
    guard let window = state.current else { return .read }
    var counts: ConditionsPlan?
    if let conditions = window.conditions {
      guard let plan = conditions.plan(nodes, touched, store) else { return .read }
      if plan.isEmpty { return .nothing }
      counts = plan
    }
    /// The change of an entity, if it meets the conditions after the write.
    func change(_ node: ByteString, _ entity: RankedEntity<E>?) -> EntityChange<E> {
      let isMet =
        entity.map { window.conditions?.accept($0.entity, node, after: counts) ?? true } ?? false
      return EntityChange(node, isMet ? entity : nil)
    }
    var changes: [EntityChange<E>] = []
    for node in counts?.own ?? nodes {
      guard let known = touched.entity(node, as: E.self) else { return .read }
      if let known, counts != nil, touched.mayHoldNodes { type().note(known) }
      var new = change(
        node, known.map { RankedEntity($0, rank: window.rank(of: node) ?? .max) })
      if let entity = new.entity, entity.rank == .max, followed.accepts(entity, isKept: false) {
        // A later commit may have deleted the node.
        guard let rank = try? store.read({ try $0.naturalRank(of: node.text) }) else {
          return .read
        }
        new = EntityChange(node, RankedEntity(entity.entity, rank: rank))
      }
      changes.append(new)
    }
    for node in counts?.others ?? [] {
      guard let entity = touched.untouched(node, as: E.self, in: store) else { return .read }
      if let entity { type().note(entity.entity) }
      changes.append(change(node, entity))
    }
    if window.mayBeExhausted(by: changes) { return .read }
    return .stage { [changes, counts] run in
      guard let staged = self.state.staged(before: run.number, isKnown: true) else { return nil }
      counts?.apply(&run)
      return try self.stage(changes, in: staged, staged.conditions, &run) {
        try store.read { try self.followed.read($0) }
      }
    }
  }

  /// Stages the window after changes in memory.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - run: The number of the write.
  ///   - fill: Reads the result of ``AcceptedQuery/stored`` after the write.
  /// - Returns: The window to publish; `nil` if it has not changed.
  /// - Throws: The errors of `fill`.
  func stage(
    _ changes: [EntityChange<E>], _ run: inout FollowingRun, fill: () throws -> [RankedEntity<E>]
  ) throws -> QueryWindow<E>? {
    guard let staged = state.staged(before: run.number, isKnown: true) else { return nil }
    return try stage(changes, in: staged, staged.conditions, &run, fill: fill)
  }

  private func stage(
    _ changes: [EntityChange<E>]?, in staged: QueryWindow<E>,
    _ conditions: FollowedConditions<E>?, _ run: inout FollowingRun,
    fill: () throws -> [RankedEntity<E>]
  ) throws -> QueryWindow<E>? {
    var window = staged
    run.tally.evaluations += changes?.count ?? 0
    let outcome = changes.map { window.apply($0) } ?? .exhausted
    run.moved = window.moved
    if outcome == .same { return nil }
    if outcome == .exhausted {
      run.tally.refills += 1
      window = self.window(of: try fill())
      window.conditions = conditions
    }
    window.commit = run.commit
    reportLength(of: window)
    if InternalChecks.areOn {
      window.checkInvariants()
    }
    state.stage(window, at: run.number)
    return window
  }

  func begin(in hub: StoreHub) {}
  func delays(_ window: QueryWindow<E>, in hub: StoreHub) -> Bool { false }
  func didShow(_ window: QueryWindow<E>, in hub: StoreHub) {}
}

extension AcceptedQuery {
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
