import PandoSystem

/// Detects that a write waits for the migration of another process; one thread serves all stores of
/// the process.
///
/// It checks four times a second while stores write. The thread ends when no store has written for
/// two seconds, and the next write starts one.
final class MigrationWatch: Sendable {
  private struct State {
    var cores: [Followed] = []
    var isRunning = false

    /// Sets whether the thread runs; while it does not, a write starts it.
    mutating func setRunning(_ isRunning: Bool) {
      self.isRunning = isRunning
      for followed in cores { followed.core?.environment.writerWait.setAsleep(!isRunning) }
    }
  }

  private struct Followed {
    weak var core: StoreCore?
    /// The number of waits at the last check, and the one that was reported.
    var seenCount = 0
    var reportedCount = 0
  }

  private static let interval: Int64 = 250_000_000
  /// The duration after which a wait is reported.
  private static let patience: Int64 = 1_000_000_000
  /// How many checks without a write end the thread.
  private static let idleLooks = 8

  static let shared = MigrationWatch()

  private let state = Monitor(State())

  private init() {}

  /// Watches the writes of a store as long as the store lives.
  func follow(_ core: StoreCore) {
    state.withLock { state in
      state.cores.append(Followed(core: core))
      core.environment.writerWait.setAsleep(!state.isRunning) { [self] in wake() }
    }
  }

  /// Starts the thread when a write begins.
  private func wake() {
    let starts = state.withLock { state in
      if state.isRunning { return false }
      state.setRunning(true)
      return true
    }
    // If the thread can't start, no event is reported.
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

  /// Checks all stores once.
  ///
  /// - Returns: Whether a store has written since; `nil` if no store is left.
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
    for core in waiting {
      if let folder = core.environment.folder, MigrationLock.isTaken(in: folder) {
        core.report(.waitsForMigration)
      }
    }
    return hasWritten
  }

  /// Stops watching until a store writes.
  ///
  /// - Returns: `false` if a store has begun to write meanwhile.
  private func rest() -> Bool {
    state.withLock { state in
      state.setRunning(false)
      // A write may have begun before the flag was set.
      let isCalm = state.cores.allSatisfy { followed in
        followed.core.map { $0.environment.writerWait.count == followed.seenCount } ?? true
      }
      if !isCalm { state.setRunning(true) }
      return isCalm
    }
  }
}
