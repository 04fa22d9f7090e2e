import PandoStore
import PandoSystem

/// Applies the writes of other machines, on a thread of its own.
final class Follower: Sendable {
  private struct State {
    /// The last position that the log is known to have.
    var end: UInt64 = 0
    /// The end up to which the thread has tried to apply the log.
    var triedEnd: UInt64 = 0
    /// The time of the next look at the log, with or without a notification.
    var lookTime: Int64 = 0
    /// The earliest time of the next message without writes.
    var markTime: Int64 = 0
    /// The warnings of the log that were reported.
    var warnings: Set<String> = []
    var isEnded = false
    var failure: StoreError?
  }

  private enum Task {
    case look
    case takeIn
  }

  /// In nanoseconds: the pause after a failure.
  private static let pause: Int64 = 1_000_000_000
  /// In nanoseconds: the time between two looks.
  private static let lookInterval: Int64 = 2_000_000_000
  /// In nanoseconds: the pause after a message without writes that could not be appended.
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

  /// Reads the end of the log.
  ///
  /// Notifications name new messages only: not earlier ones, and no lost ones.
  private func look() throws {
    let end = try replica.look()
    state.withLock { $0.end = max($0.end, end) }
  }

  /// Compares the histories of all machines while no machine writes.
  ///
  /// A machine without the right to append leaves it to the others.
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
          .engine, store.path, "applying the writes of other machines", underlying: error)
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

  /// Reports new warnings of the log.
  private func tellOfWarnings(_ store: ModelStore) {
    for warning in log.warnings where state.withLock({ $0.warnings.insert(warning).inserted }) {
      store.report(.weakLog(warning))
    }
  }

  /// Reports that the store can no longer apply the log, or can again.
  ///
  /// The replica itself reports why it stops.
  private func tell(_ failure: StoreError?, _ before: StoreError?, _ store: ModelStore) {
    if replica.halt != nil || failure?.code == .closed { return }
    if let failure, before == nil { store.report(.replicaDisconnected(failure)) }
    if failure == nil, before != nil { store.report(.replicaReconnected) }
  }

  /// Waits for messages to apply, or for the time of the next look.
  ///
  /// The first look is due immediately.
  ///
  /// - Returns: The next task; `nil` at the end.
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
