import Dispatch
package import PandoConsistency
package import PandoModels
package import PandoStore
import PandoSystem

/// Updates all live data of one store after each commit, in one order and one step of publishing.
///
/// ```
/// write ─► effects ─► flush ─► inbox ─┐             ┌─► one by one, from the models of the write
/// change in memory ──────────► inbox ─┼─ pipeline ──┤
/// other process ─► change log ────────┘             └─► as a group, read from a snapshot
/// ```
/// A commit is shown by itself if the models passed to its write determine all live nodes.
/// Otherwise a snapshot is read, and all commits up to it are shown in one step. All live data of a
/// store in this process share one `StorePipeline`, which runs on the queue `pipeline`.
///
/// - Commits are shown as work of `pipeline`, which is serial; `showAtOnce` does it on the thread of
///   the commit. `state`, `inbox`, `unread` and `members` have a lock each.
/// - `shown` is the last shown commit, `inbox` has the writes after it, in order.
/// - `willLook`, `looksAgain`, `failedLookCount` and `lookedAt` serve the search for commits of
///   other processes.
package final class StorePipeline: Sendable {
  private struct State {
    /// The number of the last shown commit.
    var shown: UInt64 = 0
    /// The count of running loads.
    var loadCount = 0
    var touched = RecentTouches()
    /// True if a check for commits of other processes is queued.
    var willLook = false
    /// True if the check must be repeated after the writes that are still arriving.
    var looksAgain = false
    /// The count of failed checks in sequence.
    var failedLookCount = 0
    /// The version of the snapshot of the last check; `nil` if that has failed.
    var lookedAt: UInt64?
    var passing = Passing()
    /// True if a copy has replaced the shown data, so that everything has to be read.
    var isReplaced = false
  }

  /// Decides if `showAtOnce(_:)` is tried.
  ///
  /// Each failed try doubles the count of flushes skipped before the next one, up to a maximum.
  private struct Passing {
    private static let skippedMaximum = 15
    private var skipped = 0
    private var left = 0

    var tries: Bool {
      mutating get {
        if left == 0 { return true }
        left -= 1
        return false
      }
    }

    mutating func note(_ hasPassed: Bool) {
      skipped = hasPassed ? 0 : min(skipped * 2 + 1, Self.skippedMaximum)
      left = skipped
    }
  }

  /// The number of failed checks for other processes, a second apart, after which they are
  /// reported.
  private static let failedLookMaximum = 5
  /// The maximum number of keys that are looked up on the thread that delivers commits.
  private static let passingKeysMaximum = 256

  package let store: ModelStore
  package let pipeline: Pipeline
  /// The writes that are not shown yet, in order.
  private let inbox = Locked(WriteQueue())
  /// Writes whose snapshot could not be read, in order; the next group contains them again.
  private let unread = Locked<[CommitEffects]>([])
  /// The maximum count of unread writes.
  ///
  /// Older ones are found in the change log only.
  private static var unreadCountMaximum: Int { 1000 }
  private let members = Locked(WeakList<any StorePipelineMember>())
  private let state = Locked(State())
  /// The jobs of ``load(_:)`` that have not ended.
  private let loads = Locked(DispatchGroup())

  private init(_ store: ModelStore, _ pipeline: Pipeline) throws {
    self.store = store
    self.pipeline = pipeline
    // No member exists yet. Adding the follower starts a check before the number is read again.
    try countAsShown()
    store.feed.add(self)
    // Later commits arrive through the feed. The number covers the commits made meanwhile.
    try countAsShown()
  }

  private func countAsShown() throws {
    let number = try store.read { try $0.commitValue }
    state.withLock { $0.shown = max($0.shown, number) }
  }

  /// Returns the pipeline of a store; the first call makes it.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - pipeline: The queue of the first call; `nil` for a queue of its own.
  /// - Returns: The pipeline; the same one as long as it is retained.
  /// - Throws: `StoreError` or `LMDBError` if the store can't be read.
  package static func pipeline(
    of store: ModelStore, on pipeline: Pipeline? = nil
  ) throws -> StorePipeline {
    try store.feed.shared { try StorePipeline(store, pipeline ?? Pipeline()) }
  }

  /// Adds a member; it is not retained.
  package func add(_ member: any StorePipelineMember) {
    members.withLock { $0.append(member) }
  }

  /// Returns the member of a type; the first call makes it.
  ///
  /// It is not retained.
  package func member<Member: StorePipelineMember>(orMake make: () -> Member) -> Member {
    // The strong references leave the lock with the result, so that no `deinit` runs inside.
    members.withLock { members in
      let living = members.objects
      if let member = living.lazy.compactMap({ $0 as? Member }).first { return (member, living) }
      let member = make()
      members.append(member)
      return (member, living)
    }.0
  }

  /// Runs a job that reads the store and may block, on a reader thread.
  package func load(_ job: @escaping @Sendable () -> Void) {
    let jobs = loads.withLock { jobs in
      jobs.enter()
      return jobs
    }
    store.readers.submit(job) { jobs.leave() }
  }

  /// Waits until the jobs of earlier ``load(_:)`` calls have ended.
  package func loaded() async {
    let jobs = loads.withLock { jobs in
      // Later jobs belong to another group, which ends no earlier than this one.
      let later = DispatchGroup()
      later.enter()
      jobs.notify(queue: .global()) { later.leave() }
      return exchange(&jobs, with: later)
    }
    await withCheckedContinuation { continuation in
      jobs.notify(queue: .global()) { continuation.resume() }
    }
  }

  /// Queues work behind the received commits.
  package func enqueue(_ work: @escaping @Sendable () -> Void) { pipeline.enqueue(work) }

  /// The number of the last shown commit.
  package var shown: UInt64 { state.withLock { $0.shown } }

  private var living: [any StorePipelineMember] { members.withLock { $0.objects } }
}

extension StorePipeline: CommitFollower {
  package func receive(_ flush: [CommitEffects]) {
    let count = showAtOnce(flush)
    if count == flush.count { return lookAgain() }
    let end = inbox.withLock { inbox in
      inbox.append(count == 0 ? flush : Array(flush.dropFirst(count)))
      return inbox.end
    }
    pipeline.enqueue { self.workOff(upTo: end) }
  }

  package func afterReceived(_ body: @escaping @Sendable () -> Void) {
    // If the pipeline is idle, everything received is shown.
    if pipeline.rests { body() } else { pipeline.enqueue(body) }
  }

  package func storeCloses() {
    pipeline.enqueue {
      for member in self.living { member.storeHasClosed() }
    }
  }

  package func othersMayHaveCommitted() {
    // Often no process has committed. Starting the pipeline costs more than this check.
    if let version = store.newestVersion, state.withLock({ $0.lookedAt == version }),
      unread.withLock(\.isEmpty)
    {
      return
    }
    if state.withLock({ exchange(&$0.willLook, with: true) }) { return }
    pipeline.enqueue { self.lookForOthers() }
  }

  package func storeWasReplaced(by number: UInt64) {
    pipeline.enqueue {
      self.state.withLock { $0.isReplaced = true }
      self.lookForOthers()
    }
  }

  private var isReplaced: Bool { state.withLock { $0.isReplaced } }

  /// Shows the commits of other processes.
  ///
  /// The feed delivers the commits of this process in order. If some are in the inbox, this check is
  /// repeated after them.
  private func lookForOthers() {
    state.withLock { state in
      state.willLook = false
      state.lookedAt = nil
    }
    do {
      let (number, version) = try store.read { (try $0.commitValue, $0.version) }
      // The pending commits of this process are now in the inbox or shown.
      store.feed.waitForHandOver(of: number)
      guard inbox.withLock({ $0.isEmpty }) else {
        return state.withLock { $0.looksAgain = true }
      }
      if number > shown || isReplaced || !unread.withLock(\.isEmpty) { try catchUp() }
      state.withLock { state in
        state.failedLookCount = 0
        state.lookedAt = version
      }
    } catch {
      let count = state.withLock { state in
        state.failedLookCount += 1
        return state.failedLookCount
      }
      // The check is tried again: a reader slot may become free.
      guard count == Self.failedLookMaximum, store.newestVersion != nil else { return }
      for member in living { member.failRead(error) }
    }
  }

  /// Shows commits that affect no member or need little work, on the thread that delivers them.
  ///
  /// This takes less time than starting the pipeline's thread.
  ///
  /// - Returns: The number of shown commits; the others must be queued.
  private func showAtOnce(_ flush: [CommitEffects]) -> Int {
    guard state.withLock({ $0.passing.tries }) else { return 0 }
    var count = 0
    let hasLooked = pipeline.runIfResting {
      guard inbox.withLock({ $0.isEmpty }), unread.withLock({ $0.isEmpty }), !isReplaced else {
        return
      }
      let members = living
      let passingCount = mayPass(flush)
      let passing = passingCount == flush.count ? flush : Array(flush.prefix(passingCount))
      let isConcerned = members.contains { $0.isConcerned(by: passing) }
      for write in passing {
        guard !isConcerned || showAtOnce(write, members) else { return }
        advance(past: write)
        count += 1
      }
    }
    if hasLooked { state.withLock { $0.passing.note(count == flush.count) } }
    return count
  }

  private func showAtOnce(
    _ write: CommitEffects, _ members: [any StorePipelineMember]
  ) -> Bool {
    guard let plans = plans(for: write, members, atOnce: true) else { return false }
    // This thread may be inside a read of several views.
    return plans.isEmpty || pipeline.publishAtOnce { steps(of: write, plans) }
  }

  /// The number of first writes of a flush that may be shown at once.
  private func mayPass(_ flush: [CommitEffects]) -> Int {
    var next = shown + 1
    var left = Self.passingKeysMaximum
    var count = 0
    for write in flush {
      left -= write.nodes.count + write.listCount
      // A failed write has made no commit.
      guard !write.hasTicket, write.isCommit, write.commitValue == next, left >= 0 else { break }
      next += 1
      count += 1
    }
    return count
  }

  /// Shows the writes of the inbox before a position.
  ///
  /// Later writes wait, because other work may be queued before them.
  private func workOff(upTo end: Int) {
    while let write = inbox.withLock({ $0.start < end ? $0.popFirst() : nil }) { show(write) }
    lookAgain()
  }

  /// Queues the check that had to follow the arriving writes, if there is one.
  private func lookAgain() {
    if state.withLock({ exchange(&$0.looksAgain, with: false) }) { othersMayHaveCommitted() }
  }

  private func show(_ write: CommitEffects) {
    let members = living
    if let failure = write.failure {
      for member in members { member.fail(write, failure) }
      return
    }
    // A write without changes comes right after the commit that it read.
    let next = write.isCommit ? shown + 1 : shown
    guard write.commitValue == next, !isReplaced, unread.withLock({ $0.isEmpty }),
      let plans = plans(for: write, members)
    else {
      return readGroup(from: write)
    }
    pipeline.publish(steps(of: write, plans))
    if write.isCommit { advance(past: write) }
    for member in members { member.finish(write) }
  }

  private typealias Plans = [(member: any StorePipelineMember, plan: any Sendable)]

  /// The plans of the members that a write affects; `nil` if a member must read a snapshot.
  ///
  /// With `atOnce`, also `nil` if a member has more work than the thread of the commit may do.
  private func plans(
    for write: CommitEffects, _ members: [any StorePipelineMember], atOnce: Bool = false
  ) -> Plans? {
    var plans: Plans = []
    for member in members {
      switch member.plan(for: write) {
      case .nothing: break
      case .show(let plan):
        if atOnce { return nil }
        plans.append((member, plan))
      case .showAtOnce(let plan): plans.append((member, plan))
      case .read: return nil
      }
    }
    return plans
  }

  private func steps(of write: CommitEffects, _ plans: Plans) -> [any PipelineStep] {
    plans.compactMap { $0.member.stage(write, $0.plan) }
  }

  /// Counts the commit of a write as shown.
  private func advance(past write: CommitEffects) {
    state.withLock { state in
      state.shown = max(state.shown, write.commitValue)
      guard state.loadCount > 0 else { return state.touched.forget(upTo: state.shown) }
      let lists = write.changeSet?.collections.map { ByteString($0.cacheKey) } ?? []
      state.touched.touch(write.nodes + lists, by: write.commitValue)
    }
  }
}

extension StorePipeline {
  /// Reads a snapshot and shows all commits up to it in one step.
  ///
  /// Called on the pipeline.
  ///
  /// - Parameter read: Reads other data from the same snapshot.
  /// - Throws: The error of `read` or of the store.
  package func catchUp(_ read: ((ModelSnapshot) throws -> Void)? = nil) throws {
    try readGroup(from: 0, read)
  }

  /// Publishes a step that is no commit; called on the pipeline.
  package func publish(_ step: some PipelineStep) { pipeline.publish([step]) }

  /// Reads several live objects while none of them changes, so that all show the same commit.
  ///
  /// - Parameter body: Reads them, and waits for nothing.
  /// - Returns: Its result.
  package func readingLive<Result>(_ body: () throws -> Result) rethrows -> Result {
    try pipeline.publishing.reading(body)
  }

  /// Shows the commits of other processes, after the work in the queue.
  package func refresh() async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      pipeline.enqueue { continuation.resume(with: Result { try self.catchUp() }) }
    }
  }

  /// Shows a group that begins with a write taken from the inbox.
  private func readGroup(from first: CommitEffects) {
    inbox.withLock { $0.putBack(first) }
    do {
      try readGroup(from: 1, nil)
    } catch {
      // The next commit does not follow `shown` directly, so it is shown in a group with this one.
      guard let write = inbox.withLock({ $0.popFirst() }) else { return }
      unread.withLock { unread in
        unread.append(write)
        if unread.count > Self.unreadCountMaximum { unread.removeFirst(unread.count / 2) }
      }
      for member in living {
        member.failRead(error)
        member.showUnread(write)
        member.finish(write)
      }
    }
  }

  /// Shows a group of at least `minimum` writes from the inbox, up to the commit of a snapshot.
  private func readGroup(from minimum: Int, _ read: ((ModelSnapshot) throws -> Void)?) throws {
    while true {
      // Never waits inside a read: a writer that needs a larger map waits for readers.
      store.feed.waitForHandOver(of: try store.read { try $0.commitValue })
      var staged: StagedGroup?
      let isDone = try store.read { snapshot in
        let number = try snapshot.commitValue
        if store.feed.isAwaited(number) { return false }
        try read?(snapshot)
        staged = try stage(minimum, upTo: number, in: snapshot)
        return true
      }
      // Shown after the snapshot is released, because callbacks may read and write.
      if let staged { show(staged) }
      if isDone { return }
    }
  }

  /// Commits that are staged and not shown.
  private struct StagedGroup {
    let group: CommitGroup
    let steps: [any PipelineStep]
    let members: [any StorePipelineMember]
  }

  /// Stages the commits up to a snapshot; returns `nil` if there are none.
  private func stage(
    _ minimum: Int, upTo number: UInt64, in snapshot: ModelSnapshot
  ) throws -> StagedGroup? {
    let writes = inbox.withLock { $0.first(upTo: number, minimum: minimum) }
    let earlier = unread.withLock { $0 }
    let isReplaced = isReplaced
    guard number > shown || isReplaced || !writes.isEmpty || !earlier.isEmpty else { return nil }
    let members = living
    let group = try CommitGroup(
      earlier + writes, since: shown, upTo: number, in: snapshot, isReplaced: isReplaced
    ) { key in
      members.contains { $0.showsList(key) }
    }
    // No step after this can fail.
    inbox.withLock { $0.remove(writes.count) }
    unread.withLock { $0 = [] }
    for write in writes {
      guard let failure = write.failure else { continue }
      for member in members { member.fail(write, failure) }
    }
    return StagedGroup(
      group: group, steps: members.compactMap { $0.stage(group, in: snapshot) }, members: members)
  }

  private func show(_ staged: StagedGroup) {
    let group = staged.group
    // Counted first, so that a callback for a change finds it counted.
    if group.othersCount > 0 {
      store.didShowOthersCommits(group.othersCount, newest: group.newest?.date)
    }
    if group.hasExpired { store.didReload(behind: Int(group.number - min(shown, group.number))) }
    pipeline.publish(staged.steps)
    state.withLock { state in
      state.shown = group.isReplaced ? group.number : max(state.shown, group.number)
      if group.isReplaced { state.isReplaced = false }
      if state.loadCount == 0 || group.hasExpired {
        state.touched.forget(upTo: state.shown)
      } else {
        state.touched.touch(group.keys, by: group.number)
      }
    }
    for write in group.writes where write.failure == nil {
      for member in staged.members { member.finish(write) }
    }
  }
}

extension StorePipeline {
  /// Starts to record the changed keys of commits, for a load.
  ///
  /// - Returns: The number of the last shown commit.
  package func beginLoad() -> UInt64 {
    state.withLock { state in
      state.loadCount += 1
      return state.shown
    }
  }

  /// Ends the recording that ``beginLoad()`` started.
  package func endLoad() { state.withLock { $0.loadCount -= 1 } }

  /// Returns true if data read at a commit equals the data of live trees.
  ///
  /// No shown commit has changed the keys since, and the shown state is not older than the commit.
  package func isCurrent(_ keys: [ByteString], readAt number: UInt64) -> Bool {
    state.withLock { number <= $0.shown && !$0.touched.contains(keys, after: number) }
  }
}
