import CPandoLMDB
import PandoSystem

/// When checkpoints are made, and who waits for one.
///
/// Commits go to the system only. A checkpoint begins after half of the interval or 16 MiB; who wants to
/// write waits when the oldest commit that is in none is as old as the interval, or when they come to 24 MiB.
///
/// ```
/// writer       c c c c c c c c c c c c │ waits if that takes too long
/// other thread        pin, meta page ─► flush data ─► write slot ─► let the old pin go
/// ```
/// The other thread is one of those that all stores share. It is there while somebody writes, and until the
/// last commit is in a checkpoint.
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
    /// How many writes are under way.
    var writerCount = 0
    /// Whether there is a thread that makes checkpoints, and its identity once it runs.
    var (hasThread, thread): (Bool, UInt) = (false, 0)
    var isStopping = false
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
  /// Sees to it, before a write begins, that a thread will make its checkpoint.
  ///
  /// - Throws: ``LMDBError`` with the system's code if it has no room for one.
  func beginWrite(in environment: Environment) throws(LMDBError) {
    try state.withLock { state throws(LMDBError) in
      try start(&state, environment)
      state.writerCount += 1
    }
  }

  /// A write has been committed, or has failed.
  func endWrite() {
    let isOver = state.withLock { state in
      state.writerCount -= 1
      return state.writerCount == 0 && state.waiting.start == nil
    }
    if isOver { state.notifyAll() }
  }

  /// Has a thread make checkpoints, which keeps no environment alive.
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

  /// Ends the thread; nobody waits for a checkpoint any more.
  func stop() {
    let thread = state.withLock { state in
      state.isStopping = true
      return state.thread
    }
    state.notifyAll()
    if thread == currentThread() { return }
    state.waiting { $0.hasThread ? nil : () }
  }

  /// Waits until there is a checkpoint to make.
  ///
  /// - Returns: `false` when the thread is not needed any more.
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
