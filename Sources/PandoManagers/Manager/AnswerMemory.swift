import PandoSystem

/// When servers have answered, of what is in memory.
final class AnswerMemory: Sendable {
  private struct State {
    var buckets: [UInt64: AnswerBucket] = [:]
    var removalCount = 0
  }

  private let state = Locked(State())

  /// Grows when everything is forgotten.
  var removalCount: Int { state.withLock { $0.removalCount } }

  subscript(key: UInt64) -> AnswerTime? {
    state.withLock { $0.buckets[AnswerBucket.number(of: key)]?[key] }
  }

  /// Notes answers, unless everything has been forgotten since the server was asked.
  func note(_ times: [AnswerTime], since removalCount: Int) {
    state.withLock { state in
      guard state.removalCount == removalCount else { return }
      for time in times {
        state.buckets[AnswerBucket.number(of: time.key), default: AnswerBucket()].note(time)
      }
    }
  }

  func forget() {
    state.withLock { state in
      state.buckets = [:]
      state.removalCount += 1
    }
  }
}
