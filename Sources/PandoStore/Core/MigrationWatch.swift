import PandoSystem

/// Looks whether a write waits for the migration of another process: on one thread for all stores of the
/// process.
///
/// It looks four times a second while stores write. The thread ends when none has written for two seconds, and
/// the next write starts one.
final class MigrationWatch: Sendable {
  private struct State {
    var cores: [Followed] = []
    var isRunning = false

    /// Notes whether the thread runs; as long as it does not, a write starts it.
    mutating func setRunning(_ isRunning: Bool) {
      self.isRunning = isRunning
      for followed in cores { followed.core?.environment.writerWait.setAsleep(!isRunning) }
    }
  }

  private struct Followed {
    weak var core: StoreCore?
    /// How many waits had begun when they were last looked at, and which of them is reported.
    var seenCount = 0
    var reportedCount = 0
  }

  private static let interval: Int64 = 250_000_000
  /// After how long a wait is an event.
  private static let patience: Int64 = 1_000_000_000
  /// How often nothing is seen before the thread ends.
  private static let idleLooks = 8

  static let shared = MigrationWatch()

  private let state = Monitor(State())

  private init() {}

  /// Follows the writes of a store for as long as that lives.
  func follow(_ core: StoreCore) {
    state.withLock { state in
      state.cores.append(Followed(core: core))
      core.environment.writerWait.setAsleep(!state.isRunning) { [self] in wake() }
    }
  }

  /// Starts the thread, for a write that begins.
  private func wake() {
    let starts = state.withLock { state in
      if state.isRunning { return false }
      state.setRunning(true)
      return true
    }
    // Without room for a thread there are no events.
    if starts, tryStartingThread(named: "pando.waits", { self.run() }) != 0 {
      state.withLock { $0.setRunning(false) }
    }
  }

  private func run() {
    var idle = 0
    while true {
      var isFirst = true
      state.waiting { (_, nanoseconds) -> Void? in
        defer { isFirst = false }
        nanoseconds = Self.interval
        return isFirst ? nil : ()
      }
      guard let hasWritten = look() else { return }
      idle = hasWritten ? 0 : idle + 1
      if idle >= Self.idleLooks {
        if rest() { return }
        idle = 0
      }
    }
  }

  /// Looks at all stores once.
  ///
  /// - Returns: Whether one of them has written since; `nil` if there are none left.
  private func look() -> Bool? {
    var waiting: [StoreCore] = []
    let hasWritten = state.withLock { state -> Bool? in
      state.cores.removeAll { $0.core == nil }
      guard !state.cores.isEmpty else {
        state.isRunning = false
        return nil
      }
      var hasWritten = false
      for index in state.cores.indices {
        guard let core = state.cores[index].core else { continue }
        let wait = core.environment.writerWait
        let count = wait.count
        if count != state.cores[index].seenCount { hasWritten = true }
        state.cores[index].seenCount = count
        guard let nanoseconds = wait.nanoseconds else { continue }
        hasWritten = true
        if nanoseconds >= Self.patience, state.cores[index].reportedCount != count {
          state.cores[index].reportedCount = count
          waiting.append(core)
        }
      }
      return hasWritten
    }
    for core in waiting where MigrationLock.isTaken(in: core.environment.folder) {
      core.report(.waitsForMigration)
    }
    return hasWritten
  }

  /// Ends the watching until a store writes.
  ///
  /// - Returns: `false` if one has begun to meanwhile.
  private func rest() -> Bool {
    state.withLock { state in
      state.setRunning(false)
      // A write may have begun before it could know.
      let isCalm = state.cores.allSatisfy { followed in
        followed.core.map { $0.environment.writerWait.count == followed.seenCount } ?? true
      }
      if !isCalm { state.setRunning(true) }
      return isCalm
    }
  }
}
