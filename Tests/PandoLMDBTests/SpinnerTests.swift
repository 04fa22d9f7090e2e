import Testing

@testable import PandoLMDB

/// How a thread waits before it sleeps.
@Suite(.enabled(if: Spinner.isUseful)) struct SpinnerTests {
  /// How often it is looked for what never happens.
  private func lookCount(of spinner: Spinner) -> Int {
    var count = 0
    let hasHappened = spinner.spin {
      count += 1
      return false
    }
    #expect(!hasHappened)
    return count
  }

  @Test func `a spinner that never succeeds tries once at last, and seldom more often`() {
    let spinner = Spinner()
    #expect(lookCount(of: spinner) > 1)
    // Each look in vain halves the time.
    for _ in 0..<5 { _ = lookCount(of: spinner) }
    let counts = (1...Spinner.skippedCountMaximum).map { _ in lookCount(of: spinner) }
    #expect(counts.count { $0 == 1 } == Spinner.skippedCountMaximum - 1)
    #expect(counts.last.map { $0 > 2 } == true)
  }

  @Test func `a spinner that succeeds tries as long the next time`() {
    let spinner = Spinner()
    for _ in 0..<4 { _ = lookCount(of: spinner) }
    for _ in 0..<8 {
      var count = 0
      let hasHappened = spinner.spin {
        count += 1
        return count == 3
      }
      #expect(hasHappened)
    }
    // Otherwise two more looks in vain would have been the last ones.
    for _ in 0..<4 { #expect(lookCount(of: spinner) > 1) }
    #expect(spinner.spin { true })
  }
}
