import PandoFixtures
import PandoSystem
import Testing

@Suite struct LimitedThreadsTests {
  struct Refusal: Error {}

  /// Keeps the threads that pass here until it is opened.
  private final class Gate: Sendable {
    private struct State {
      var isOpen = false
      var arrived = 0
    }

    private let state = Monitor(State())

    func pass() {
      state.withLock { $0.arrived += 1 }
      state.notifyAll()
      state.waiting { $0.isOpen ? () : nil }
    }

    func open() {
      state.withLock { $0.isOpen = true }
      state.notifyAll()
    }

    /// Waits until this many threads have arrived.
    func arrived(_ count: Int) async {
      await blocking { self.state.waiting { $0.arrived >= count ? () : nil } }
    }
  }

  /// Returns when this many tasks wait for a thread.
  private static func waiting(_ count: Int, in threads: LimitedThreads) async {
    while threads.waitingCount < count { await Task.yield() }
  }

  @Test func `a result and an error reach the caller`() async throws {
    let threads = LimitedThreads(atMost: 1)
    #expect(try await threads.run { 7 } == 7)
    #expect(try await threads.run { LargeStack.isCurrent })
    await #expect(throws: Refusal.self) { try await threads.run { throw Refusal() } }
  }

  @Test(arguments: [1, 2, 3])
  func `as many jobs run at a time as the limit says, and no more`(limit: Int) async {
    let threads = LimitedThreads(atMost: limit)
    let gate = Gate()
    let counts = Locked((running: 0, most: 0))
    let ended = Monitor(0)
    for _ in 0..<20 {
      threads.submit {
        counts.withLock { counts in
          counts.running += 1
          counts.most = max(counts.most, counts.running)
        }
        gate.pass()
        counts.withLock { $0.running -= 1 }
      } ended: {
        ended.withLock { $0 += 1 }
        ended.notifyAll()
      }
    }
    await gate.arrived(limit)
    gate.open()
    await blocking { ended.waiting { $0 == 20 ? () : nil } }
    #expect(counts.withLock { $0.most } == limit)
  }

  @Test func `jobs begin in the order in which they were queued`() async throws {
    let threads = LimitedThreads(atMost: 1)
    let gate = Gate()
    let order = Locked<[Int]>([])
    threads.submit { gate.pass() }
    for number in 0..<10 { threads.submit { order.withLock { $0.append(number) } } }
    gate.open()
    try await threads.run {}
    #expect(order.withLock { $0 } == Array(0..<10))
  }

  @Test func `a task that is cancelled while it waits gets an error, and its job never runs`()
    async throws
  {
    let threads = LimitedThreads(atMost: 1)
    let gate = Gate()
    let hasRun = Locked(false)
    threads.submit { gate.pass() }
    let cancelled = Task { try await threads.run { hasRun.withLock { $0 = true } } }
    await Self.waiting(1, in: threads)
    let other = Task { try await threads.run { 2 } }
    await Self.waiting(2, in: threads)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    gate.open()
    #expect(try await other.value == 2)
    #expect(!hasRun.withLock { $0 })
  }

  @Test func `a task that was cancelled before it asks runs nothing`() async {
    let threads = LimitedThreads(atMost: 1)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await threads.run { _ = Issue.record("it runs") }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `a job that runs is not interrupted by a cancellation`() async throws {
    let threads = LimitedThreads(atMost: 1)
    let gate = Gate()
    let task = Task {
      try await threads.run {
        gate.pass()
        return 3
      }
    }
    await gate.arrived(1)
    task.cancel()
    gate.open()
    #expect(try await task.value == 3)
  }

  @Test func `a job is released before its caller goes on`() async throws {
    final class Holder: Sendable {}

    let threads = LimitedThreads(atMost: 1)
    for _ in 0..<100 {
      weak var known: Holder?
      func run() async throws {
        let holder = Holder()
        known = holder
        try await threads.run { [holder] in withExtendedLifetime(holder) {} }
      }
      try await run()
      #expect(known == nil)
    }
  }

  @Test(arguments: seeds(4))
  func `each of many tasks runs its job or is cancelled`(seed: UInt64) async {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let threads = LimitedThreads(atMost: Int.random(in: 1...3, using: &random))
      let hasRun = Locked<Set<Int>>([])
      let tasks = (0..<20).map { number in
        Task { try await threads.run { _ = hasRun.withLock { $0.insert(number) } } }
      }
      for task in tasks where Bool.random(using: &random) { task.cancel() }
      for (number, task) in tasks.enumerated() {
        let result = await task.result
        let ran = hasRun.withLock { $0.contains(number) }
        switch result {
        case .success: #expect(ran)
        case .failure(let error): #expect(error is CancellationError && !ran)
        }
      }
      #expect(threads.waitingCount == 0)
    }
  }

  @Test func `at least one thread is needed`() async {
    await #expect(processExitsWith: .failure) { _ = LimitedThreads(atMost: 0) }
  }
}
