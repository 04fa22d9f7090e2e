import Synchronization

/// The record of a run, in a process that outlives all that are killed.
final class OriginsLedger: Sendable {
  /// The record of a process that was killed.
  struct Record: Sendable {
    let machine: Int
    let life: Int
    /// How many writes of each task have ended, one way or the other: of the next one nothing is known.
    var endedCounts = [Int](repeating: 0, count: OriginsWriter.taskCount)
    var refused: Set<OriginsWrite> = []
    var killedAt: OriginStep?
    /// Whether its store had an unreported write; `nil` if that was not checked.
    var hadUntold: Bool?

    /// The write of a task that may have been under way.
    func untold(task: Int) -> OriginsWrite {
      OriginsWrite(machine: machine, life: life, task: task, step: endedCounts[task] + 1)
    }
  }

  private struct State {
    var claimedCount = 0
    var records: [Record] = []
    var failure: (any Error)?
  }

  private let killCount: Int
  private let state = Mutex(State())

  init(killCount: Int) { self.killCount = killCount }

  /// - Returns: The number of the next kill; `nil` if that was the last, or something was found.
  func claim() -> Int? {
    state.withLock { state in
      guard state.claimedCount < killCount, state.failure == nil else { return nil }
      state.claimedCount += 1
      return state.claimedCount - 1
    }
  }

  func note(_ record: Record) { state.withLock { $0.records.append(record) } }

  func note(_ failure: any Error) {
    state.withLock { if $0.failure == nil { $0.failure = failure } }
  }

  /// - Throws: The first thing that was found.
  func records() throws -> [Record] {
    let (records, failure) = state.withLock { ($0.records, $0.failure) }
    if let failure { throw failure }
    return records
  }
}
