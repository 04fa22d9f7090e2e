import CPandoLMDB
import PandoSystem

/// When checkpoints are made, and who waits for one.
///
/// Commits go to the system only. A checkpoint begins after half of the interval or 16 MiB; who wants to
/// write waits when the oldest commit that is in none is as old as the interval, or when they come to 24 MiB.
///
/// ```
/// writer      c c c c c c c c c c c c │ waits if that takes too long
/// this thread        pin, meta page ─► flush data ─► write slot ─► let the old pin go
/// ```
@safe
final class Checkpointer: Sendable {
  /// Where a checkpoint begins, and where writers wait for its end, in bytes of pages that commits have
  /// replaced: these can't be used again before it.
  private static let (beginningInBytes, waitingInBytes) = (16 << 20, 24 << 20)
  /// The longest interval, so that no interval has as many commits as a power cut skips numbers.
  static let intervalMax = Duration.seconds(60)

  private struct State {
    /// When the first commit came that no checkpoint has, on the coarse clock; and how much they replace.
    var waiting = Commits()
    /// The same of those that the checkpoint has that is being made.
    var taken = Commits()
    /// The last commit of this process.
    var newest: UInt64 = 0
    /// How many have asked for a checkpoint, for how many one has begun, and for how many it is over.
    var (requested, begun, ended) = (0, 0, 0)
    /// Why the last one has failed.
    var failure: LMDBError?
    var isStopping = false
    var hasEnded = false
  }

  /// Commits that are not on the disk.
  private struct Commits {
    var start: UInt64?
    var byteCount = 0
  }

  /// The slots.
  let file: CheckpointFile
  private let boot: BootIdentifier
  private let interval: UInt64
  private let state = Monitor(State())
  /// The identity of the thread.
  private let thread = Locked<UInt>(0)

  /// The reader that keeps the pages of the last checkpoint, and that of the one being made.
  ///
  /// Used only while the writer lock is held, as the rest is.
  nonisolated(unsafe) private var (pin, nextPin): (OpaquePointer?, OpaquePointer?)
  /// The version that ``pin`` shows; `nil` while it shows none, and nobody may write.
  nonisolated(unsafe) private(set) var pinned: UInt64?

  init(_ file: CheckpointFile, interval: Duration) throws(LMDBError) {
    self.file = file
    boot = try .current()
    self.interval = UInt64(interval / .nanoseconds(1))
  }
}

extension Checkpointer {
  /// Starts the thread, which keeps no environment alive.
  func start(_ environment: Environment) {
    startThread(named: "pando.flush") { [self, weak environment] in
      thread.withLock { $0 = currentThread() }
      while waitUntilDue() { environment?.makeCheckpoint(self) }
      state.withLock { $0.hasEnded = true }
      state.notifyAll()
    }
  }

  /// Ends the thread; nobody waits for a checkpoint any more.
  func stop() {
    state.withLock { $0.isStopping = true }
    state.notifyAll()
    if thread.withLock({ $0 }) == currentThread() { return }
    state.waiting { $0.hasEnded ? () : nil }
  }

  /// Waits until there is a checkpoint to make.
  ///
  /// - Returns: `false` when there will be none.
  private func waitUntilDue() -> Bool {
    state.waiting { state, nanoseconds in
      if state.isStopping { return false }
      if state.requested > state.begun || state.waiting.byteCount >= Self.beginningInBytes {
        return true
      }
      guard let start = state.waiting.start else { return nil }
      let age = coarseNanoseconds() - start
      if age >= interval / 2 { return true }
      nanoseconds = Int64(interval / 2 - age)
      return nil
    }
  }

  /// Waits, before a write begins, while too much is in no checkpoint.
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
  /// - Throws: Why there was none.
  func waitForNext() throws(LMDBError) {
    let number = state.withLock { state in
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

  /// A checkpoint is over.
  ///
  /// - Parameter failure: Why it failed; then it is tried again later.
  func didEnd(_ failure: LMDBError?) {
    state.withLock { state in
      state.failure = failure
      state.ended = state.begun
      // Writers go on and meet the error themselves.
      if let failure {
        state.waiting = Commits()
        if failure.code != .failedFlush { state.waiting.start = coarseNanoseconds() }
      }
      state.taken = Commits()
    }
    state.notifyAll()
  }
}

/// The pins; the writer lock is held in all of it.
extension Checkpointer {
  /// A version that is to become the last checkpoint.
  struct Capture {
    let version: UInt64
    let meta: [UInt8]
  }

  /// Begins the pin of the version that a write transaction began with: nobody commits meanwhile.
  ///
  /// - Returns: The version and its meta page; `nil` if it is pinned already.
  func capture(
    _ transaction: borrowing WriteTransaction, _ data: borrowing DataFile
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
        unsafe mdb_txn_begin(mdb_txn_env(writing), nil, UInt32(MDB_RDONLY), &nextPin),
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

  /// Writes the slot of a version whose pages have been flushed, unless a later one is there.
  ///
  /// - Parameters:
  ///   - capture: The version.
  ///   - data: The data file.
  ///   - isLast: Whether this is the end: if nobody else has the file open, it is whole from then on.
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

  /// Whether a version is the one that the newest slot has.
  func isDurable(_ capture: Capture) -> Bool {
    file.newest().map { $0.boot == boot && $0.meta == capture.meta } ?? false
  }

  /// Lets the old pin go: the slot of a version has been written.
  func keep(_ capture: Capture) {
    guard let next = unsafe nextPin, unsafe UInt64(mdb_txn_id(next)) == capture.version else {
      return  // the environment was opened again meanwhile
    }
    if let pin = unsafe pin { unsafe mdb_txn_reset(pin) }
    unsafe swap(&pin, &nextPin)
    unsafe pinned = capture.version
  }

  /// Lets the pin go if nothing was committed here since: it would keep pages from others.
  func rest() {
    guard let pin = unsafe pin, let version = unsafe pinned,
      state.withLock({ $0.newest <= version })
    else { return }
    unsafe mdb_txn_reset(pin)
    unsafe pinned = nil
  }

  /// Ends the pins; the environment is closed next.
  func endPins() {
    if let pin = unsafe pin { unsafe mdb_txn_abort(pin) }
    if let pin = unsafe nextPin { unsafe mdb_txn_abort(pin) }
    unsafe pin = nil
    unsafe nextPin = nil
    unsafe pinned = nil
  }
}
