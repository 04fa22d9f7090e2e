import PandoSystem

/// When servers have answered, of what is in memory.
final class AnswerMemory: Sendable {
  private struct State {
    var buckets: [UInt64: AnswerBucket] = [:]
    var removalCount = 0
    /// How many reads ask a question behind the back of their callers.
    var asked: [UInt64: Int] = [:]
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

  /// Notes that questions are about to be asked.
  ///
  /// - Returns: Whether one of them is not asked already; then ``didAsk(_:)`` is to follow.
  func ask(_ keys: [UInt64]) -> Bool {
    state.withLock { state in
      if keys.allSatisfy({ state.asked[$0] != nil }) { return false }
      for key in keys { state.asked[key, default: 0] += 1 }
      return true
    }
  }

  /// Notes that questions have been answered, or not.
  func didAsk(_ keys: [UInt64]) {
    state.withLock { state in
      for key in keys {
        let count = state.asked[key, default: 0] - 1
        state.asked[key] = count > 0 ? count : nil
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
