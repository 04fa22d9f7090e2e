package import PandoConsistency
package import PandoModels
package import PandoStore
import PandoSystem

/// Keeps all that is live over one store in step with its commits: one order, one step of publishing.
///
/// ```
/// write ─► effects ─► flush ─► inbox ─┐             ┌─► one by one, from the models that were given
/// place in memory ───────────► inbox ─┼─ pipeline ──┤
/// other process ─► change log ────────┘             └─► as a group, read from a snapshot
/// ```
/// A commit is shown by itself where the models that its write was given say what becomes of every live
/// node. Otherwise a snapshot is read, and all commits up to it are shown in one step. Every reader of a
/// store in this process shares one of these.
package final class StorePipeline: Sendable {
  private struct State {
    /// The last commit that is shown.
    var shown: UInt64 = 0
    /// How many loads are on their way.
    var loadCount = 0
    var touched = RecentTouches()
    /// Whether a look at what other processes have committed is queued.
    var willLook = false
    /// Whether one has to follow what is on its way.
    var looksAgain = false
    /// How many have failed, one after another.
    var failedLookCount = 0
    /// The version of the snapshot of the last look, unless that has failed.
    var lookedAt: UInt64?
    var passing = Passing()
    /// Whether a copy has replaced what is shown, so that everything has to be read.
    var isReplaced = false
  }

  /// Whether it is worth while to look if a flush concerns nobody: less and less often while flushes do
  /// concern somebody.
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

  /// How many looks at what other processes have committed fail, a second apart, until that is reported.
  private static let failedLookMaximum = 5
  /// How many keys are looked up at most on the thread that brings commits.
  private static let passingKeysMaximum = 256

  package let store: ModelStore
  package let pipeline = Pipeline()
  /// What has been committed and is not shown, in order.
  private let inbox = Locked(WriteQueue())
  /// What could not be read when it came, in order: it comes again with the next group.
  private let unread = Locked<[CommitEffects]>([])
  /// How much of that is kept at most; what came before is known by the change log only.
  private static var unreadCountMaximum: Int { 1000 }
  private let members = Locked(WeakList<any StorePipelineMember>())
  private let state = Locked(State())

  private init(_ store: ModelStore) throws {
    self.store = store
    // Nobody shows anything yet. Watching begins with a look, before the number is read again.
    try countAsShown()
    store.feed.add(self)
    // What is committed from now on comes; what came meanwhile is known by its number.
    try countAsShown()
  }

  private func countAsShown() throws {
    let number = try store.read { try $0.commitValue }
    state.withLock { $0.shown = max($0.shown, number) }
  }

  /// The pipeline of a store, made now if there is none.
  package static func pipeline(of store: ModelStore) throws -> StorePipeline {
    try store.feed.shared { try StorePipeline(store) }
  }

  /// Begins to keep a member in step; it is not retained.
  package func add(_ member: any StorePipelineMember) {
    members.withLock { $0.append(member) }
  }

  /// The member of a type, made now if there is none; it is not retained.
  package func member<Member: StorePipelineMember>(orMake make: () -> Member) -> Member {
    // Strong references leave the lock with the result, and end outside.
    members.withLock { members in
      let living = members.objects
      if let member = living.lazy.compactMap({ $0 as? Member }).first { return (member, living) }
      let member = make()
      members.append(member)
      return (member, living)
    }.0
  }

  /// Waits until what its members read has come to the pipeline.
  package func loaded() async {
    for member in living { await member.loaded() }
  }

  /// Queues work, behind what has been committed.
  package func enqueue(_ work: @escaping @Sendable () -> Void) { pipeline.enqueue(work) }

  /// The last commit that is shown.
  package var shown: UInt64 { state.withLock { $0.shown } }

  private var living: [any StorePipelineMember] { members.withLock(\.objects) }
}

extension StorePipeline: CommitFollower {
  package func receive(_ flush: [CommitEffects]) {
    if passes(flush) { return lookAgain() }
    let end = inbox.withLock { inbox in
      inbox.append(flush)
      return inbox.end
    }
    pipeline.enqueue { self.workOff(upTo: end) }
  }

  package func afterReceived(_ body: @escaping @Sendable () -> Void) {
    // What was received has been shown if the pipeline rests.
    if pipeline.rests { body() } else { pipeline.enqueue(body) }
  }

  package func storeCloses() {
    pipeline.enqueue {
      for member in self.living { member.storeHasClosed() }
    }
  }

  package func othersMayHaveCommitted() {
    // Also asked now and then without a commit: waking the pipeline costs more than this.
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

  /// Shows what other processes have committed.
  ///
  /// What this process has committed comes by itself, each write behind what was queued before it: then
  /// this looks again afterwards.
  private func lookForOthers() {
    state.withLock { state in
      state.willLook = false
      state.lookedAt = nil
    }
    do {
      let (number, version) = try store.read { (try $0.commitValue, $0.version) }
      // What is on its way is here then, and is found in the inbox or has been shown.
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
      // It is tried again: a slot for readers may come free.
      guard count == Self.failedLookMaximum, store.newestVersion != nil else { return }
      for member in living { member.failRead(error) }
    }
  }

  /// Shows commits that concern nobody at once, on the thread that brings them: waking another one would
  /// take longer.
  ///
  /// - Returns: `false` if they have to be queued.
  private func passes(_ flush: [CommitEffects]) -> Bool {
    guard state.withLock({ $0.passing.tries }) else { return false }
    var passes = false
    let hasLooked = pipeline.runIfResting {
      let members = living
      passes =
        inbox.withLock { $0.isEmpty } && unread.withLock { $0.isEmpty } && !isReplaced
        && concernsNobody(flush, members)
      if passes {
        for case let changeSet? in flush.lazy.map(\.changeSet) { advance(to: changeSet) }
      }
    }
    if hasLooked { state.withLock { $0.passing.note(passes) } }
    return passes
  }

  private func concernsNobody(
    _ flush: [CommitEffects], _ members: [any StorePipelineMember]
  ) -> Bool {
    var next = shown + 1
    var left = Self.passingKeysMaximum
    for write in flush {
      guard write.ticket == nil, write.failure == nil, let changeSet = write.changeSet,
        changeSet.commitNumber.value == next
      else { return false }
      left -= changeSet.keyCount
      if left < 0 { return false }
      for member in members {
        guard case .nothing = member.plan(for: write) else { return false }
      }
      next += 1
    }
    return true
  }

  /// Shows what had come, and no more: what was queued before a later write is behind this.
  private func workOff(upTo end: Int) {
    while let write = inbox.withLock({ $0.start < end ? $0.popFirst() : nil }) { show(write) }
    lookAgain()
  }

  /// Queues the look that had to follow what was on its way, if there is one.
  private func lookAgain() {
    if state.withLock({ exchange(&$0.looksAgain, with: false) }) { othersMayHaveCommitted() }
  }

  private func show(_ write: CommitEffects) {
    let members = living
    if let failure = write.failure {
      for member in members { member.fail(write, failure) }
      return
    }
    // One that changed nothing has its place behind the commit that it saw.
    let isNext =
      write.changeSet.map { $0.commitNumber.value == shown + 1 } ?? (write.commitValue == shown)
    guard isNext, !isReplaced, unread.withLock({ $0.isEmpty }),
      let steps = steps(of: write, members)
    else {
      return readGroup(from: write)
    }
    pipeline.publish(steps)
    if let changeSet = write.changeSet { advance(to: changeSet) }
    for member in members { member.finish(write) }
  }

  /// What members do for a write; `nil` if one of them has to read.
  private func steps(
    of write: CommitEffects, _ members: [any StorePipelineMember]
  ) -> [any PipelineStep]? {
    var plans: [(member: any StorePipelineMember, plan: any Sendable)] = []
    for member in members {
      switch member.plan(for: write) {
      case .nothing: break
      case .show(let plan): plans.append((member, plan))
      case .read: return nil
      }
    }
    return plans.compactMap { $0.member.stage(write, $0.plan) }
  }

  private func advance(to changeSet: ChangeSet) {
    state.withLock { state in
      state.shown = max(state.shown, changeSet.commitNumber.value)
      guard state.loadCount > 0 else { return state.touched.forget(upTo: state.shown) }
      state.touched.touch(changeSet.keys, by: changeSet.commitNumber.value)
    }
  }
}

extension StorePipeline {
  /// Reads a snapshot and shows all commits up to it in one step.
  ///
  /// On the pipeline.
  ///
  /// - Parameter read: Reads something else of the same snapshot.
  /// - Throws: What `read` throws, or why the store can't be read.
  package func catchUp(_ read: ((ModelSnapshot) throws -> Void)? = nil) throws {
    try readGroup(from: 0, read)
  }

  /// Takes in what other processes have committed, behind what is queued.
  package func refresh() async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      pipeline.enqueue { continuation.resume(with: Result { try self.catchUp() }) }
    }
  }

  /// The same for a write that has been taken out of the inbox.
  private func readGroup(from first: CommitEffects) {
    inbox.withLock { $0.putBack(first) }
    do {
      try readGroup(from: 1, nil)
    } catch {
      // What it has not shown comes with the next commit: that one is not the next to be shown.
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

  /// Shows a group of which some writes have come already, however far the snapshot reaches.
  private func readGroup(from minimum: Int, _ read: ((ModelSnapshot) throws -> Void)?) throws {
    while true {
      // Never waited for inside a read: a writer that needs a larger map waits for readers.
      store.feed.waitForHandOver(of: try store.read { try $0.commitValue })
      var staged: StagedGroup?
      let isDone = try store.read { snapshot in
        let number = try snapshot.commitValue
        if store.feed.isAwaited(number) { return false }
        try read?(snapshot)
        staged = try stage(minimum, upTo: number, in: snapshot)
        return true
      }
      // Shown when the snapshot is let go: who is told may read and write.
      if let staged { show(staged) }
      if isDone { return }
    }
  }

  /// Commits that are worked out and not shown.
  private struct StagedGroup {
    let group: CommitGroup
    let steps: [any PipelineStep]
    let members: [any StorePipelineMember]
  }

  /// Works out commits; nothing if there are none.
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
    // Nothing fails from here on.
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
    // Counted first: who sees a change finds it counted.
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
  /// Begins to remember what commits touch, for a load.
  ///
  /// - Returns: The last commit that is shown.
  package func beginLoad() -> UInt64 {
    state.withLock { state in
      state.loadCount += 1
      return state.shown
    }
  }

  /// Ends what ``beginLoad()`` began.
  package func endLoad() { state.withLock { $0.loadCount -= 1 } }

  /// Whether what was read at a commit is what live trees would show: no commit that they show has
  /// touched it since, and they are not behind.
  package func isCurrent(_ keys: [ByteString], readAt number: UInt64) -> Bool {
    state.withLock { number <= $0.shown && !$0.touched.contains(keys, after: number) }
  }
}

/// Writes in the order of their commits.
private struct WriteQueue {
  private var writes = Deque<CommitEffects>()
  /// How many have been taken out.
  private(set) var start = 0

  /// How many have come.
  var end: Int { start + writes.count }
  var isEmpty: Bool { writes.isEmpty }

  mutating func append(_ flush: [CommitEffects]) { writes.append(contentsOf: flush) }

  mutating func popFirst() -> CommitEffects? {
    guard let write = writes.popFirst() else { return nil }
    start += 1
    return write
  }

  /// Puts back what was taken out last.
  mutating func putBack(_ write: CommitEffects) {
    writes.prepend(write)
    start -= 1
  }

  /// The commits up to a number, and the places before the last of them; at least so many.
  func first(upTo number: UInt64, minimum: Int) -> [CommitEffects] {
    let last = writes.lastIndex { write in
      write.changeSet.map { $0.commitNumber.value <= number } ?? false
    }
    return Array(writes.prefix(max(last.map { $0 + 1 } ?? 0, minimum)))
  }

  mutating func remove(_ count: Int) {
    writes.removeFirst(count)
    start += count
  }
}

extension ChangeSet {
  /// How much it has touched.
  fileprivate var keyCount: Int {
    updated.count + inserted.count + deleted.count + collections.count
  }

  /// What it has touched.
  fileprivate var keys: [ByteString] {
    updated.map { ByteString($0) } + inserted.map { ByteString($0) }
      + deleted.map { ByteString($0) } + collections.map { ByteString($0.cacheKey) }
  }
}
