import Testing

@testable import PandoCommand

@Suite struct OutputTests {
  @Test func `columns line up and lines end without blanks`() {
    var table = TextTable([.left, .right, .left])
    table.row("type", "nodes", "")
    table.row("User", "115", "x")
    #expect(table.lines == ["type  nodes", "User    115  x"])
  }

  @Test func `control characters cannot break a line`() {
    #expect("a\nb\u{1B}[2J\t\u{7F}é".escapingControlCharacters == "a\\nb\\u{1b}[2J\\t\\u{7f}é")
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1 000"), (1_234_567, "1 234 567"), (-1000, "-1 000"),
  ])
  func `thousands are set apart`(number: Int, text: String) {
    #expect(Figures.count(number) == text)
  }

  @Test(arguments: [
    (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"),
  ])
  func `sizes have a unit`(number: Int, text: String) {
    #expect(Figures.bytes(number) == text)
  }

  @Test(arguments: [
    (Duration.microseconds(850), "850 µs"), (.milliseconds(12), "12.0 ms"),
    (.milliseconds(4560), "4.56 s"), (.seconds(200), "3 min 20 s"), (.seconds(7500), "2 h 5 min"),
  ])
  func `durations have the unit that fits`(duration: Duration, text: String) {
    #expect(Figures.duration(duration) == text)
  }

  @Test func `a rate keeps three digits`() {
    #expect(Figures.rate(184_312, in: .seconds(1)) == "184 000/s")
    #expect(Figures.rate(12, in: .seconds(1)) == "12/s")
  }

  @Test func `the bar shows share, rate and time left`() {
    let text = ProgressBar.text(
      "importing", "bytes", done: 1 << 20, total: 4 << 20, elapsed: .seconds(2))
    #expect(
      text == "importing ██████░░░░░░░░░░░░░░░░░░ 25 %, 1.0 MiB, 512.0 KiB/s, 6.00 s left")
  }

  @Test func `a bar of unknown length shows count and rate`() {
    let text = ProgressBar.text(
      "importing", "lines", done: 5000, total: nil, elapsed: .seconds(1))
    #expect(text == "importing 5 000 lines, 5 000/s")
  }

  @Test func `an error is one line of operation, place, reason and remedy`() {
    let error = CommandError(.badInput, at: "a.json", "no\nsense", remedy: "write sense")
    #expect(error.line(for: "pando import") == "pando import: a.json: no\\nsense; write sense")
    #expect(error.placed(in: "line 3").place == "line 3, a.json")
  }
}
