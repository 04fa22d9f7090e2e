import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// Follows the commits of one model store for all managers over it, in step with the live trees.
///
/// A write is shown from the models that it was given, if these contain the entities of all views that it affects.
/// Otherwise the entities are read from the snapshot that the store's pipeline shows next.
final class StoreHub: Sendable {
  /// Receives the changes of a namespace.
  typealias Watcher = @Sendable (WatchedChange) -> Void

  private struct Watch: Sendable {
    let number: UInt64
    let namespace: ByteString
    let body: Watcher
  }

  /// The pipeline of the store.
  let line: StorePipeline
  /// The followed queries and graphs.
  private let views = ViewIndex()
  /// Graphs that are read from another store first, and contain entities of this one.
  private let watches = Locked<[Watch]>([])
  private let counts = Locked(HubTally())

  private init(_ line: StorePipeline) { self.line = line }

  /// Returns the hub of a store, or makes it.
  ///
  /// - Parameter store: An open store.
  /// - Returns: The hub; one for each store while it is in use.
  /// - Throws: `StoreError` or `LMDBError` if the store can't be read.
  static func hub(of store: ModelStore) throws -> StoreHub {
    let line = try StorePipeline.pipeline(of: store)
    return line.member { StoreHub(line) }
  }

  var store: ModelStore { line.store }

  /// Counts of its work.
  var tally: HubTally { counts.withLock { $0 } }

  /// The number of followed queries and graphs.
  var viewCount: Int { views.count }

  /// Waits until running loads, and all present commits of all processes, are shown.
  func shown() async {
    await withCheckedContinuation { continuation in
      line.load {
        // A snapshot may have a commit that the pipeline does not have yet.
        if let number = try? self.store.read({ try $0.commitValue }) {
          self.store.feed.waitForHandOver(of: number)
        }
        continuation.resume()
      }
    }
    await line.loaded()
    try? await refresh()
  }

  /// Calls a closure after each commit that changes entities of a namespace; on the pipeline.
  ///
  /// - Returns: Ends the calls.
  func watch(
    _ namespace: String, _ body: @escaping Watcher
  ) -> @Sendable () -> Void {
    let number = FollowedNumber.next()
    watches.withLock {
      $0.append(Watch(number: number, namespace: ByteString(namespace), body: body))
    }
    return { self.watches.withLock { $0.removeAll { $0.number == number } } }
  }

  /// Publishes commits of other processes.
  func refresh() async throws { try await line.refresh() }
}

// MARK: Loading

extension StoreHub {
  /// Begins to follow a query or graph: loads it, and stages it after each later commit that affects it.
  ///
  /// Any thread may call it. It returns at once.
  ///
  /// - Parameter view: The view; held weakly.
  func begin(_ view: some LiveView) {
    views.insert(view)
    view.begin(in: self)
    view.endings.add { [weak views, number = view.number] in views?.remove(number) }
    load(view)
  }

  /// Loads a view from the newest snapshot, on a reader thread, and joins it if no later commit has affected it.
  func load(_ view: some LiveView) {
    line.load { [weak view] in
      if let view { self.loadNewest(view) }
    }
  }

  private func loadNewest<View: LiveView>(_ view: View) {
    do {
      let type = views.types(of: view)
      let (value, number) = try store.read { snapshot in
        (try view.load(snapshot, type), try snapshot.commitValue)
      }
      views.insert(nil, in: value, of: view)
      if view.delays(value, in: self) { return }
      // After this, the queue of the pipeline has all commits of this process up to that number.
      store.feed.waitForHandOver(of: number)
      line.enqueue { [weak view] in
        if let view { self.join(view, value, readAt: number) }
      }
    } catch {
      fail(view, error)
    }
  }

  /// Shows a loaded value, or loads it again if a commit has affected it meanwhile; on the pipeline.
  private func join<View: LiveView>(_ view: View, _ value: View.Value, readAt number: UInt64) {
    guard !store.isReadOnly, number <= line.shown,
      view.state.follow(value, at: number, beforeShowing: { views.didShow(value, of: view) })
    else { return loadInOrder(view) }
    if InternalChecks.areOn {
      views.checkInvariants(of: view, showing: value)
    }
    view.didShow(value, in: self)
  }

  /// Loads a view again, after the queued work.
  ///
  /// - Parameters:
  ///   - view: The view.
  ///   - isNeeded: Asked on the pipeline.
  func reload(_ view: some LiveView, if isNeeded: @escaping @Sendable () -> Bool = { true }) {
    line.enqueue { [weak view] in
      if let view, isNeeded() { self.loadInOrder(view) }
    }
  }

  /// Loads a view together with all commits so far; on the pipeline.
  private func loadInOrder<View: LiveView>(_ view: View) {
    do {
      let type = views.types(of: view)
      var loaded: View.Value?
      try line.catchUp { loaded = try view.load($0, type) }
      guard let loaded else { return }
      view.state.stage(loaded, at: line.shown)
      var run = FollowingRun(number: line.shown, context: nil)
      add(loaded, of: view, nil, &run)
      line.publish(run)
    } catch {
      fail(view, error)
    }
  }

  /// Ends a view with an error.
  ///
  /// If its read finds the store closed, the view gets the same error as views that do not read.
  func fail(_ view: some LiveView, _ error: any Error) {
    views.remove(view.number)
    let isClosed = (error as? StoreError)?.code == .closed
    view.state.fail(isClosed ? closedError : error)
  }

  private var closedError: ManagerError {
    ManagerError(.closed, store.path, "the store was closed")
  }
}

// MARK: Commits

extension StoreHub: StorePipelineMember {
  func plan(for write: CommitEffects) -> CommitPlan {
    if write.nodes.isEmpty { return .nothing }
    if watches.withLock({ !$0.isEmpty }) { return .read }
    if views.isEmpty { return .nothing }
    let touched = TouchedNodes(write)
    guard let found = views.concerned(by: touched) else { return .read }
    if found.isEmpty { return .nothing }
    // Commits with much work are shown together.
    guard found.reduce(0, { $0 + $1.nodes.count }) <= Self.shownAtOnceMaximum else { return .read }
    var stages = WritePlan()
    for (view, nodes) in found {
      guard plan(view, nodes, touched, &stages) else { return .read }
    }
    return stages.isEmpty ? .nothing : .showAtOnce(stages)
  }

  func isConcerned(by writes: [CommitEffects]) -> Bool {
    if watches.withLock({ !$0.isEmpty }), writes.contains(where: { !$0.nodes.isEmpty }) {
      return true
    }
    return !views.isEmpty && views.areConcerned(by: writes)
  }

  /// The largest number of entities that the thread of a commit compares with views.
  private static var shownAtOnceMaximum: Int { 16 }

  /// How a write is shown from its models: each closure stages one view.
  private typealias WritePlan = [@Sendable (inout FollowingRun) -> Void]

  /// Adds how a view is staged from the models of a write.
  ///
  /// - Returns: `false` if a snapshot has to be read.
  private func plan(
    _ view: some LiveView, _ nodes: [ByteString], _ touched: TouchedNodes,
    _ stages: inout WritePlan
  ) -> Bool {
    switch view.plan(nodes, touched, store, views.types(of: view)) {
    case .nothing: return true
    case .read: return false
    case .stage(let stage):
      stages.append { run in
        do {
          run.moved = []
          guard let value = try stage(&run) else { return }
          self.add(value, of: view, view.keepsNodes ? run.moved : [], &run)
        } catch {
          self.reload(view)
        }
      }
      return true
    }
  }

  func stage(_ write: CommitEffects, _ plan: any Sendable) -> (any PipelineStep)? {
    guard let plan = plan as? WritePlan else { return nil }
    var run = FollowingRun(
      number: write.commitValue, commit: write.changeSet.map { CommitOrigin($0) },
      context: write.context)
    for stage in plan { stage(&run) }
    counts.withLock { [tally = run.tally] in $0.add(tally) }
    return run
  }

  func stage(_ group: CommitGroup, in snapshot: ModelSnapshot) -> (any PipelineStep)? {
    var run = FollowingRun(
      number: group.number,
      commit: group.newest.map { CommitOrigin($0) }
        ?? (try? snapshot.commitNumber).map { CommitOrigin($0) },
      context: group.newest?.context)
    run.isReplaced = group.isReplaced
    if !views.isEmpty {
      for (view, nodes) in views.concerned(by: group, in: snapshot, &run.reads) {
        stage(view, nodes, &run, snapshot)
      }
    }
    addCalls(of: group, in: snapshot, to: &run)
    run.tally.reads = run.reads.count
    counts.withLock { [tally = run.tally] in $0.add(tally) }
    return run
  }

  /// Adds the calls of watchers to the results.
  private func addCalls(
    of group: CommitGroup, in snapshot: ModelSnapshot, to run: inout FollowingRun
  ) {
    let watches = watches.withLock { $0 }
    if watches.isEmpty { return }
    if group.hasExpired {
      let former = group.isReplaced ? nil : line.shown
      run.add { [store] in
        for watch in watches {
          watch.body(
            .unknown(.init(namespace: watch.namespace, store: store, former: former)))
        }
      }
      return
    }
    let touched = group.touched(in: snapshot)
    run.add {
      for watch in watches {
        let found = touched.filter { $0.isIdentifier(of: watch.namespace) }
        if !found.isEmpty { watch.body(.nodes(found)) }
      }
    }
  }

  private func stage(
    _ view: some LiveView, _ nodes: [ByteString]?, _ run: inout FollowingRun,
    _ snapshot: ModelSnapshot
  ) {
    let refillCount = run.tally.refills
    run.tally.snapshots += 1
    do {
      run.moved = []
      guard let value = try view.stage(nodes, &run, snapshot, views.types(of: view)) else { return }
      // A graph gains nodes that the commits did not touch, and so does a window that was filled again.
      let isKnown = !view.hasOtherTypes && run.tally.refills == refillCount
      add(value, of: view, isKnown ? run.moved : nil, &run)
    } catch {
      run.add { self.fail(view, error) }
    }
  }

  private func add<View: LiveView>(
    _ value: View.Value, of view: View, _ nodes: [ByteString]?, _ run: inout FollowingRun
  ) {
    run.add(value, of: view, nodes, views) { view.didShow(value, in: self) }
  }

  func finish(_ write: CommitEffects) {}
  func fail(_ write: CommitEffects, _ error: any Error) {}
  func showsList(_ cacheKey: ByteString) -> Bool { false }

  func showUnread(_ write: CommitEffects) {}

  /// Ends all queries and graphs with an error.
  func failRead(_ error: any Error) { for view in views.all { fail(view, error) } }

  func storeHasClosed() {
    failRead(closedError)
  }
}

/// A change of entities outside the store whose snapshots a graph reads.
enum WatchedChange: Sendable {
  /// These nodes have changed, or contain nodes that have changed.
  case nodes(Set<ByteString>)
  /// Unknown nodes have changed: the change log does not reach back, or a copy has replaced the data.
  case unknown(Unknown)

  /// A change of unknown nodes.
  struct Unknown: Sendable {
    /// The namespace of the watched entities.
    let namespace: ByteString
    /// The store that has changed.
    let store: ModelStore
    /// The number of the last commit before the change; `nil` if a copy has replaced the data.
    let former: UInt64?

    /// Selects the present nodes that may have changed.
    ///
    /// Commit numbers from before and after a copy do not compare, so after a copy all present nodes are selected.
    ///
    /// - Parameter nodes: The nodes to select from.
    /// - Returns: The nodes of the namespace that the store has with a later commit.
    /// - Throws: `StoreError` if the store is closed or the bytes on disk are damaged.
    /// - Complexity: O(*n* log *m*) for *n* given nodes and *m* nodes of the store.
    func changed(among nodes: Set<ByteString>) throws -> Set<ByteString> {
      let watched = nodes.filter { $0.isIdentifier(of: namespace) }
      if watched.isEmpty { return [] }
      return try store.read { snapshot in
        try watched.filter { node in
          guard let commit = try snapshot.commitValue(of: node.text) else { return false }
          return former.map { commit > $0 } ?? true
        }
      }
    }
  }
}

extension CommitGroup {
  /// The changed nodes, and those that contain them.
  func touched(in snapshot: ModelSnapshot) -> Set<ByteString> {
    var touched = Set(changed + deleted)
    // If the index can't be read, the read of the entities fails too, and reports it.
    for node in updated {
      touched.formUnion(((try? snapshot.ancestors(of: node.text)) ?? []).map { ByteString($0) })
    }
    return touched
  }
}

extension ByteString {
  /// The prefixes of an identifier before its colons, and the empty namespace, which has all identifiers.
  var namespaces: [ByteString] {
    let bytes = text.utf8
    return [ByteString("")]
      + bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
      .map { ByteString(String(text[..<$0])) }
  }

  /// Whether it is an identifier in a namespace, as `Person:12` in `Person`.
  ///
  /// The empty namespace has all identifiers.
  func isIdentifier(of namespace: ByteString) -> Bool {
    namespace.text.isEmpty || text.hasBytes(of: namespace.text, before: UInt8(ascii: ":"))
  }
}
