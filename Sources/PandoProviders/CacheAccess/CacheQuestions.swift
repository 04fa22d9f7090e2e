import Dispatch
import PandoSystem

/// Runs many reads of a cache at a time, in few tasks if the cache answers at once.
///
/// A task runs one read after another. While reads wait, a further task is ready to start when a
/// thread is free. So a read that suspends or blocks its thread delays no other read.
final class CacheQuestions: Sendable {
  typealias Question = @Sendable () async -> Void

  fileprivate struct State {
    var questions = Deque<Question>()
    /// True if a task was made that has not started; always true while reads wait.
    var isTaskDue = false
  }

  private let state = Locked(State())
  private let executor = QueueExecutor("pando.cache.reading", attributes: .concurrent)

  /// Runs a read.
  ///
  /// For a caller inside a task, the read has the task's priority and task-local values.
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
  /// Removes the first read.
  ///
  /// - Returns: The read, and true if another task must be made.
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
