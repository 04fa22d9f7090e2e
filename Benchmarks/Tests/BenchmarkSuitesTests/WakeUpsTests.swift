import Foundation
import Testing

@testable import BenchmarkSuites

@Suite struct WakeUpsTests {
  @Test func `going to sleep and waking up is counted`() throws {
    let count = 50
    // No thread waits for another: the sleeps are counted.
    let (result, wakeUps) = WakeUps.count(per: count) {
      for _ in 0..<count { usleep(1) }
      return "done"
    }
    #expect(result == "done")
    let counted = try #require(wakeUps)
    // Threads of other tests wake up meanwhile.
    #expect(counted.threadCount >= 1)
    #expect(counted.countPerOperation >= 1)
  }

  @Test func `a thread that sleeps in less than every tenth operation does not count as one`() {
    let before = ["7": 100, "8": 5, "9": 40]
    let after = ["7": 200, "8": 14, "10": 10]
    let wakeUps = WakeUps(from: before, to: after, per: 100)
    #expect(wakeUps == WakeUps(threadCount: 2, countPerOperation: 1.19))
    #expect(WakeUps(from: [:], to: after, per: 100) == nil)
  }
}
