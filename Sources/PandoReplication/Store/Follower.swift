import PandoStore
import PandoSystem

/// Takes in what others write, on a thread of its own.
final class Follower: Sendable {
  private struct State {
    /// The last position that is known to be there.
    var end: UInt64 = 0
    /// Up to where it has been tried.
    var triedEnd: UInt64 = 0
    /// When it looks at the log again, whether or not that tells of something.
    var lookTime: Int64 = 0
    /// When a message without writes may be tried again.
    var markTime: Int64 = 0
    /// What the log does not promise, and was reported.
    var warnings: Set<String> = []
    var isEnded = false
    var failure: StoreError?
  }

  private enum Task {
    case look
    case takeIn
  }

  /// How long it waits behind a failure, in nanoseconds.
  private static let pause: Int64 = 1_000_000_000
  /// In nanoseconds, between two looks.
  private static let lookInterval: Int64 = 2_000_000_000
  /// In nanoseconds, behind a message that could not be appended.
  private static let markPause: Int64 = 60_000_000_000

  private weak let store: ModelStore?
  private let replica: Replica
  private let log: any ReplicationLog
  private let state = Monitor(State())

  init(_ store: ModelStore, _ replica: Replica, _ log: any ReplicationLog) {
    self.store = store
    self.replica = replica
    self.log = log
  }

  var failure: StoreError? { state.withLock { $0.failure } }

  func start() {
    startThread(named: "pando.replica") { self.run() }
    log.follow { [state, replica] position in
      replica.noteEnd(position)
      replica.noteHeard()
      state.withLock { $0.end = max($0.end, position) }
      state.notify()
    }
  }

  /// Looks at the log: it tells of what comes, and neither of what is there nor of what it has lost.
  private func look() throws {
    let end = try replica.look()
    state.withLock { $0.end = max($0.end, end) }
  }

  /// Compares the histories of all machines where nobody writes; who may not write leaves it to others.
  private func markIfQuiet() throws {
    let now = monotonicNanoseconds()
    guard now >= state.withLock(\.markTime) else { return }
    do {
      try replica.markIfQuiet()
    } catch {
      if replica.halt != nil { throw error }
      state.withLock { $0.markTime = now + Self.markPause }
    }
  }

  func end() {
    state.withLock { $0.isEnded = true }
    state.notifyAll()
  }

  private func run() {
    while let task = next() {
      guard let store else { return }
      var found: StoreError?
      do {
        try translatingFaults(store.path) {
          if try replica.looksForCopy(), let halt = replica.halt { throw halt }
          if task == .look { try look() }
          try replica.takeIn(upTo: state.withLock(\.end))
          if task == .look { try markIfQuiet() }
        }
      } catch let error as StoreError {
        found = error
      } catch {
        found = StoreError(
          .engine, store.path, "taking in what others have written", underlying: error)
      }
      let before = state.withLock { state in
        defer { state.failure = found }
        return state.failure
      }
      tell(found, before, store)
      tellOfWarnings(store)
      state.withLock { state in
        if found != nil { state.lookTime = monotonicNanoseconds() + Self.pause }
        if replica.halt != nil && replica.awaitedCopy == nil || found?.code == .closed {
          state.isEnded = true
        }
      }
    }
  }

  /// Reports what the log has said since the last time that it does not promise.
  private func tellOfWarnings(_ store: ModelStore) {
    for warning in log.warnings where state.withLock({ $0.warnings.insert(warning).inserted }) {
      store.report(.weakLog(warning))
    }
  }

  /// Reports that it can't take in any more, or that it can again; the replica reports why it stops.
  private func tell(_ failure: StoreError?, _ before: StoreError?, _ store: ModelStore) {
    if replica.halt != nil || failure?.code == .closed { return }
    if let failure, before == nil { store.report(.replicaDisconnected(failure)) }
    if failure == nil, before != nil { store.report(.replicaReconnected) }
  }

  /// Waits for something to take in, or the time to look; that is there at first.
  ///
  /// - Returns: What to do; `nil` at the end.
  private func next() -> Task? {
    state.waiting { state, pause -> Task?? in
      if state.isEnded { return .some(nil) }
      let now = monotonicNanoseconds()
      if now >= state.lookTime {
        (state.lookTime, state.triedEnd) = (now + Self.lookInterval, state.end)
        return .look
      }
      if state.end > state.triedEnd {
        state.triedEnd = state.end
        return .takeIn
      }
      pause = state.lookTime - now
      return nil
    }
  }
}
