import FoundationEssentials
import PandoFixtures
import Testing

@testable import PandoCommand

@Suite struct DateTextTests {
  @Test(arguments: 0..<UInt64(4))
  func `a printed date is read as the same date`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let milliseconds = Int64.random(in: -60_000_000_000_000..<200_000_000_000_000, using: &random)
      let seconds = Double(milliseconds) / 1000
      let text = try #require(DateText.text(seconds), "\(seconds)")
      #expect(try FilterDate(text).date.timeIntervalSinceReferenceDate == seconds, "\(text)")
    }
    #expect(DateText.text(1e13) == nil)
    #expect(DateText.text(.nan) == nil)
    #expect(DateText.text(-1e11) == nil)
  }

  @Test(arguments: [("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("ｱ", 1)])
  func `wide characters take two columns`(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }
}
