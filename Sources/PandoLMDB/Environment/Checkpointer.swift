import CPandoLMDB
import PandoSystem

/// Decides when a checkpoint begins, and which writers wait for one.
///
/// Commits go to the system's page cache only. A checkpoint begins after half of the interval or 16
/// MiB. A write waits when the oldest commit without one is as old as the interval, or at 24 MiB.
///
/// ```
/// writer       c c c c c c c c c c c c │ waits if that takes too long
/// other thread        pin, meta page ─► flush data ─► write slot ─► let the old pin go
/// ```
/// The other thread comes from a pool of all stores. It runs while a write is under way or a commit
/// has no checkpoint. A monitor guards ``State``; the writer lock guards the pins.
@safe
final class Checkpointer: Sendable {
  /// The bytes of replaced pages at which a checkpoint begins, and at which writers wait; these
  /// pages can't be reused before the next checkpoint.
  private static let (beginningInBytes, waitingInBytes) = (16 << 20, 24 << 20)
  /// The longest interval; it has fewer commits than a power failure skips numbers.
  static let intervalMax = Duration.seconds(60)

  private struct State {
    /// The commits since the last capture; in no checkpoint yet.
    var waiting = Commits()
    /// The commits that the checkpoint under way contains.
    var taken = Commits()
    /// The number of the last commit of this process.
    var newest: UInt64 = 0
    /// How many checkpoints were requested; up to which request one has begun, and has ended.
    var (requested, begun, ended) = (0, 0, 0)
    /// The error of the last checkpoint, if it failed.
    var failure: LMDBError?
    /// How many writes are under way.
    var writerCount = 0
    /// Whether a thread makes checkpoints, and its identity once it runs.
    var (hasThread, thread): (Bool, UInt) = (false, 0)
    var isStopping = false
  }

  /// Commits that are not on the disk: the time of the first (coarse clock), and the size.
  private struct Commits {
    var start: UInt64?
    var byteCount = 0
  }

  /// The file of the checkpoint slots.
  let file: CheckpointFile
  private let boot: BootIdentifier
  private let interval: UInt64
  private let state = Monitor(State())

  /// The read transactions that keep the pages of the last checkpoint and of the one under way.
  ///
  /// Used only while the writer lock is held.
  nonisolated(unsafe) private var (pin, nextPin): (OpaquePointer?, OpaquePointer?)
  /// The version that ``pin`` keeps; `nil` while it keeps none, and then no write may begin.
  nonisolated(unsafe) private(set) var pinned: UInt64?

  init(_ file: CheckpointFile, interval: Duration) throws(LMDBError) {
    self.file = file
    boot = try .current()
    self.interval = UInt64(interval / .nanoseconds(1))
  }
}

extension Checkpointer {
  /// Makes sure, before a write begins, that a thread will make its checkpoint.
  ///
  /// - Throws: ``LMDBError`` with the system's code if it can't start a thread.
  func beginWrite(in environment: Environment) throws(LMDBError) {
    try state.withLock { state throws(LMDBError) in
      try start(&state, environment)
      state.writerCount += 1
    }
  }

  /// Counts the end of a write that was committed or has failed.
  func endWrite() {
    let isOver = state.withLock { state in
      state.writerCount -= 1
      return state.writerCount == 0 && state.waiting.start == nil
    }
    if isOver { state.notifyAll() }
  }

  /// Starts the thread that makes checkpoints; it holds the environment weakly.
  private func start(_ state: inout State, _ environment: Environment) throws(LMDBError) {
    if state.hasThread || state.isStopping { return }
    let status = SharedThreads.run { [self, weak environment] in
      self.state.withLock { $0.thread = currentThread() }
      while waitUntilDue() { environment?.makeCheckpoint(self) }
      self.state.notifyAll()
    }
    guard status == 0 else {
      throw LMDBError(
        .init(rawValue: status), function: "pthread_create",
        detail: "a thread that flushes: \(threadLimit(status))")
    }
    state.hasThread = true
  }

  /// Ends the thread; writers no longer wait for a checkpoint.
  func stop() {
    let thread = state.withLock { state in
      state.isStopping = true
      return state.thread
    }
    state.notifyAll()
    if thread == currentThread() { return }
    state.waiting { $0.hasThread ? nil : () }
  }

  /// Waits until a checkpoint is due.
  ///
  /// - Returns: `false` when the thread is no longer needed.
  private func waitUntilDue() -> Bool {
    state.waiting { state, nanoseconds in
      if !state.isStopping {
        if state.requested > state.begun || state.waiting.byteCount >= Self.beginningInBytes {
          return true
        }
        if let start = state.waiting.start {
          let age = coarseNanoseconds() - start
          if age >= interval / 2 { return true }
          nanoseconds = Int64(interval / 2 - age)
          return nil
        }
        if state.writerCount > 0 { return nil }
      }
      state.hasThread = false
      state.thread = 0
      return false
    }
  }

  /// Waits, before a write begins, until ``hasRoom``.
  func waitForRoom() { state.waiting { hasRoom($0) ? () : nil } }

  /// Whether a write may begin.
  var hasRoom: Bool { state.withLock { hasRoom($0) } }

  private func hasRoom(_ state: State) -> Bool {
    if state.isStopping || state.failure != nil { return true }
    let byteCount = state.waiting.byteCount + state.taken.byteCount
    guard let start = state.taken.start ?? state.waiting.start else { return true }
    return byteCount < Self.waitingInBytes && coarseNanoseconds() - start < interval
  }

  /// Counts a commit of this process.
  func didCommit(_ number: UInt64, replacing byteCount: Int) {
    let wakes = state.withLock { state in
      state.newest = number
      let before = state.waiting
      state.waiting.byteCount += byteCount
      if before.start == nil { state.waiting.start = coarseNanoseconds() }
      return before.start == nil
        || before.byteCount < Self.beginningInBytes
          && state.waiting.byteCount >= Self.beginningInBytes
    }
    if wakes { state.notifyAll() }
  }

  /// Waits for a checkpoint that begins after this call.
  ///
  /// - Throws: The error of that checkpoint.
  func waitForNext(in environment: Environment) throws(LMDBError) {
    let number = try state.withLock { state throws(LMDBError) in
      try start(&state, environment)
      state.requested += 1
      return state.requested
    }
    state.notifyAll()
    let failure = state.waiting { state -> LMDBError?? in
      if state.ended >= number { return .some(state.failure) }
      if state.isStopping { return LMDBError(.closed, function: "flush") }
      return .none
    }
    if let failure { throw failure }
  }

  /// Records the end of a checkpoint.
  ///
  /// - Parameter failure: The error if it failed; the thread tries again later.
  func didEnd(_ failure: LMDBError?) {
    state.withLock { state in
      state.failure = failure
      state.ended = state.begun
      // Writers continue and get the error from their own calls.
      if let failure {
        state.waiting = Commits()
        if failure.code != .failedFlush { state.waiting.start = coarseNanoseconds() }
      }
      state.taken = Commits()
    }
    state.notifyAll()
  }
}

/// The pins. The writer lock is held in all these methods.
extension Checkpointer {
  /// A version that a checkpoint is to contain.
  struct Capture {
    let version: UInt64
    let meta: [UInt8]
  }

  /// Pins the version that a write transaction began with; the writer lock excludes other commits.
  ///
  /// - Returns: The version and its meta page; `nil` if it is pinned already.
  func capture(
    _ transaction: borrowing WriteTransaction, _ data: borrowing DataFile,
    _ namespaces: NamespaceGuard?
  ) throws(LMDBError) -> Capture? {
    let writing = unsafe transaction.handle.transaction
    let version = UInt64(unsafe mdb_txn_id(writing)) - 1
    state.withLock { state in
      state.taken = exchange(&state.waiting, with: Commits())
      state.begun = state.requested
    }
    if unsafe pinned == version { return nil }
    if let kept = unsafe nextPin {
      unsafe mdb_txn_reset(kept)  // one that failed has left it as it was
      try check(unsafe mdb_txn_renew(kept), "mdb_txn_renew")
    } else {
      try check(
        unsafe namespaces.beginReader(mdb_txn_env(writing), &nextPin),
        "mdb_txn_begin")
    }
    var pages = MDB_stat()
    let status = unsafe mdb_env_stat(mdb_txn_env(writing), &pages)
    let offset = Int(version & 1) * Int(pages.ms_psize)
    let meta = data.read(PageFormat.metaByteCount, at: offset)
    guard status == 0, let meta, meta.span.number(at: 144) == version,
      unsafe UInt64(mdb_txn_id(nextPin)) == version
    else {
      unsafe mdb_txn_reset(nextPin)
      throw LMDBError(.invalidFile, function: "checkpoint", detail: "the meta page of \(version)")
    }
    return Capture(version: version, meta: meta)
  }

  /// Writes the slot of a version whose pages were flushed, unless a slot has a later version.
  ///
  /// - Parameters:
  ///   - capture: The version.
  ///   - data: The data file.
  ///   - isLast: Whether the environment closes; without other processes, the file is then
  ///     complete.
  /// - Throws: ``LMDBError`` with the system's code.
  func write(
    _ capture: Capture, _ data: borrowing DataFile, isLast: Bool = false
  ) throws(LMDBError) {
    data.lock(.checkpoints, F_WRLCK)
    defer { data.lock(.checkpoints, F_UNLCK) }
    let newest = file.newest()
    var slot = CheckpointSlot(file: data.identity, meta: capture.meta)
    slot.boot = isLast && !data.isLockedElsewhere(.checkpointedWriters) ? .none : boot
    if let newest, newest.boot == boot, slot.boot == boot, newest.version >= capture.version {
      return
    }
    try file.write(slot, after: newest)
  }

  /// Whether the newest slot has this version.
  func isDurable(_ capture: Capture) -> Bool {
    file.newest().map { $0.boot == boot && $0.meta == capture.meta } ?? false
  }

  /// Releases the old pin after the slot of a version was written.
  func keep(_ capture: Capture) {
    guard let next = unsafe nextPin, unsafe UInt64(mdb_txn_id(next)) == capture.version else {
      return  // the environment was opened again meanwhile
    }
    if let pin = unsafe pin { unsafe mdb_txn_reset(pin) }
    unsafe swap(&pin, &nextPin)
    unsafe pinned = capture.version
  }

  /// Releases the pin if this process committed nothing since, so that others reuse pages.
  func rest() {
    guard let pin = unsafe pin, let version = unsafe pinned,
      state.withLock({ $0.newest <= version })
    else { return }
    unsafe mdb_txn_reset(pin)
    unsafe pinned = nil
  }

  /// Ends the pins before the environment is closed.
  func endPins() {
    if let pin = unsafe pin { unsafe mdb_txn_abort(pin) }
    if let pin = unsafe nextPin { unsafe mdb_txn_abort(pin) }
    unsafe pin = nil
    unsafe nextPin = nil
    unsafe pinned = nil
  }
}
