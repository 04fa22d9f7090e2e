import PandoSystem

/// The times of server answers, for types whose entities are in memory.
final class AnswerMemory: Sendable {
  private struct State {
    var buckets: [UInt64: AnswerBucket] = [:]
    var removalCount = 0
    /// The number of running background reads of each question.
    var asked: [UInt64: Int] = [:]
  }

  private let state = Locked(State())

  /// Grows with each ``forget()``.
  var removalCount: Int { state.withLock { $0.removalCount } }

  subscript(key: UInt64) -> AnswerTime? {
    state.withLock { $0.buckets[AnswerBucket.number(of: key)]?[key] }
  }

  /// Stores the times of answers, unless ``forget()`` ran after the request.
  func note(_ times: [AnswerTime], since removalCount: Int) {
    state.withLock { state in
      guard state.removalCount == removalCount else { return }
      for time in times {
        state.buckets[AnswerBucket.number(of: time.key), default: AnswerBucket()].note(time)
      }
    }
  }

  /// Begins a background read of questions.
  ///
  /// - Returns: `false` if each of them is being read already; after `true` the caller calls
  ///   ``didAsk(_:)``.
  func ask(_ keys: [UInt64]) -> Bool {
    state.withLock { state in
      if keys.allSatisfy({ state.asked[$0] != nil }) { return false }
      for key in keys { state.asked[key, default: 0] += 1 }
      return true
    }
  }

  /// Ends a background read of questions.
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
