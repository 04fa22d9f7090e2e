import Glibc
import Synchronization

/// One process of a machine, from its start until it is killed.
final class OriginLife: Sendable {
  /// When it is to be killed.
  struct Plan: Sendable {
    let step: OriginStep
    /// At which time of coming to that step.
    let count: Int
    /// How long behind it.
    let microseconds: UInt32

    init(_ step: OriginStep, using random: inout SeededGenerator) {
      self.step = step
      switch step {
      case .opening:
        count = 1
        microseconds = random.chance(50) ? 0 : .random(in: 0..<6_000, using: &random)
      case .anyTime:
        count = 1
        microseconds = .random(in: 0..<(random.chance(30) ? 5_000 : 60_000), using: &random)
      case .betweenParts:
        count = .random(in: 1...3, using: &random)
        microseconds = 0
      case .takingIn, .committing:
        count = .random(in: 1...4, using: &random)
        microseconds = .random(in: 0..<600, using: &random)
      default:
        count = .random(in: 1...4, using: &random)
        microseconds = 0
      }
    }
  }

  private struct State {
    var process: pid_t?
    var count = 0
    var killedAt: OriginStep?
    var isOver = false
  }

  let machine: Int
  /// Which one of its machine.
  let number: Int
  /// `nil` for one that lives on.
  let plan: Plan?
  private let state = Mutex(State())

  init(_ number: Int, of machine: Int, plan: Plan?) {
    self.machine = machine
    self.number = number
    self.plan = plan
  }

  func begin(_ process: pid_t) { state.withLock { $0.process = process } }

  /// Kills it if this is the planned step, and time.
  ///
  /// - Returns: Whether it has been killed, here or before.
  func reach(_ step: OriginStep) -> Bool {
    guard let plan else { return false }
    let isDue = state.withLock { state in
      guard plan.step == step else { return false }
      state.count += 1
      return state.count == plan.count
    }
    if isDue {
      if plan.microseconds > 0 { usleep(plan.microseconds) }
      kill(step)
    }
    return state.withLock { $0.killedAt != nil }
  }

  func kill(_ step: OriginStep) {
    state.withLock { state in
      // The number of a process that was waited for may be another one's.
      guard let process = state.process, state.killedAt == nil, !state.isOver else { return }
      state.killedAt = step
      Glibc.kill(process, SIGKILL)
    }
  }

  /// Its process has ended, and is about to be waited for.
  ///
  /// - Returns: Where it was killed; `nil` if it was not.
  func end() -> OriginStep? {
    state.withLock { state in
      state.isOver = true
      return state.killedAt
    }
  }
}
