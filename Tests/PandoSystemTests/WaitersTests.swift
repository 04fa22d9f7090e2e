import PandoFixtures
import PandoSystem
import Testing

@Suite struct WaitersTests {
  struct Refusal: Error {}

  private struct State {
    var answer: Result<Int, any Error>?
    var waiters = Waiters<Int>()
  }

  /// Begins to wait in a task, and returns when the task waits.
  private static func begin(_ state: some ValueLock<State>) async -> Task<Int, any Error> {
    let count = state.withLock { $0.waiters.count }
    let task = Task { try await state.wait(in: \.waiters) { state, _ in state.answer } }
    while state.withLock({ $0.waiters.count }) == count { await Task.yield() }
    return task
  }

  private static func finish(_ state: some ValueLock<State>, _ answer: Result<Int, any Error>) {
    let waiters = state.withLock { state in
      state.answer = answer
      return state.waiters.takeAll()
    }
    for waiter in waiters { waiter.resume(with: answer) }
  }

  @Test func `tasks that wait get the answer, and later ones get it at once`() async throws {
    let state = Locked(State())
    let tasks = [await Self.begin(state), await Self.begin(state)]
    Self.finish(state, .success(7))
    for task in tasks { #expect(try await task.value == 7) }
    #expect(try await state.wait(in: \.waiters) { state, _ in state.answer } == 7)
    #expect(state.withLock { $0.waiters.count } == 0)
  }

  @Test func `tasks can wait behind a monitor, and get its error`() async throws {
    let state = Monitor(State())
    let task = await Self.begin(state)
    Self.finish(state, .failure(Refusal()))
    await #expect(throws: Refusal.self) { try await task.value }
  }

  @Test func `a cancelled task waits no more, and others go on waiting`() async throws {
    let state = Locked(State())
    let first = await Self.begin(state)
    let second = await Self.begin(state)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(state.withLock { $0.waiters.count } == 1)
    Self.finish(state, .success(1))
    #expect(try await second.value == 1)
  }

  @Test func `a task that is cancelled before it waits does not wait`() async throws {
    let state = Locked(State())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await state.wait(in: \.waiters) { state, _ in state.answer }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(state.withLock { $0.waiters.count } == 0)
  }

  @Test func `a task can be taken out by its number`() async throws {
    let state = Locked(State())
    let number = Locked<UInt64>(0)
    let task = Task {
      try await state.wait(in: \.waiters) { state, own in
        number.withLock { $0 = own }
        return state.answer
      }
    }
    while state.withLock({ $0.waiters.count }) == 0 { await Task.yield() }
    let other = await Self.begin(state)
    let own = number.withLock { $0 }
    state.withLock { $0.waiters.take(own) }?.resume(throwing: Refusal())
    await #expect(throws: Refusal.self) { try await task.value }
    #expect(state.withLock { $0.waiters.take(own) } == nil)
    Self.finish(state, .success(2))
    #expect(try await other.value == 2)
  }

  @Test(arguments: seeds(4))
  func `each of many tasks ends once, whatever comes first`(seed: UInt64) async {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let state = Locked(State())
      let tasks = (0..<8).map { _ in
        Task { try await state.wait(in: \.waiters) { state, _ in state.answer } }
      }
      for task in tasks where Bool.random(using: &random) { task.cancel() }
      let finisher = Task { Self.finish(state, .success(3)) }
      for task in tasks where Bool.random(using: &random) { task.cancel() }
      await finisher.value
      for task in tasks {
        switch await task.result {
        case .success(let answer): #expect(answer == 3)
        case .failure(let error): #expect(error is CancellationError)
        }
      }
      #expect(state.withLock { $0.waiters.count } == 0)
    }
  }
}
