import Dispatch
import PandoSystem

/// Asks a cache many questions at a time, in few tasks where the answers come at once.
///
/// A task goes on from one question to the next. As long as questions wait, there is another task that
/// begins when a thread is free: so one that waits for its cache, or blocks its thread, holds up nobody.
final class CacheQuestions: Sendable {
  typealias Question = @Sendable () async -> Void

  fileprivate struct State {
    var questions = Deque<Question>()
    /// Whether a task has been made that has not begun; so it is as long as there are questions.
    var isTaskDue = false
  }

  private let state = Locked(State())
  private let executor = QueueExecutor("pando.cache.reading", attributes: .concurrent)

  /// Asks a question; a caller that is a task has it asked with its own priority and values.
  func ask(_ question: @escaping Question) {
    if unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) {
      Task(executorPreference: executor) { await question() }
      return
    }
    let starts = state.withLock { state in
      state.questions.append(question)
      defer { state.isTaskDue = true }
      return !state.isTaskDue
    }
    if starts { startTask() }
  }

  private func startTask() {
    Task.detached(executorPreference: executor) { [self] in
      var question = takeNext(begins: true)
      while let asked = question {
        await asked()
        question = takeNext(begins: false)
      }
    }
  }

  private func takeNext(begins: Bool) -> Question? {
    let (question, starts) = state.withLock { $0.takeNext(begins: begins) }
    if starts { startTask() }
    return question
  }
}

extension CacheQuestions.State {
  /// Takes the first question.
  ///
  /// - Returns: Also whether another task has to be made.
  fileprivate mutating func takeNext(
    begins: Bool
  ) -> (question: CacheQuestions.Question?, starts: Bool) {
    if begins { isTaskDue = false }
    guard let question = questions.popFirst() else { return (nil, false) }
    let starts = !questions.isEmpty && !isTaskDue
    if starts { isTaskDue = true }
    return (question, starts)
  }
}
