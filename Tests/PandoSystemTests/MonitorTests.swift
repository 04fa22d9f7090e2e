import Testing

@testable import PandoSystem

@Suite struct MonitorTests {
  @Test func `a wait until a time ends with the answer of another thread`() {
    let monitor = Monitor(0)
    startThread(named: "pando.test") {
      monitor.withLock { $0 = 7 }
      monitor.notifyAll()
    }
    #expect(monitor.waiting(until: .max) { $0 > 0 ? $0 : nil } == 7)
  }

  @Test func `a wait until a time that has passed looks once, and has no answer`() {
    let monitor = Monitor(0)
    let answer: Int? = monitor.waiting(until: 0) {
      $0 += 1
      return nil
    }
    #expect(answer == nil)
    #expect(monitor.withLock(\.self) == 1)
    #expect(monitor.waiting(until: 0) { $0 } == 1)
  }

  @Test func `a wait until a time looks again after each interval`() {
    let monitor = Monitor(0)
    // No thread calls `notify`.
    let answer = monitor.waiting(until: .max, checkingEach: 1) { count -> Int? in
      count += 1
      return count == 3 ? count : nil
    }
    #expect(answer == 3)
  }
}
