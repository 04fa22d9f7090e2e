import Foundation
import PandoModels
import Testing

@Suite
struct CommitNumberTests {
  @Test(arguments: [
    (CommitNumber.zero, "0"), (CommitNumber(value: 41), "41"),
    (CommitNumber(value: 41, history: 0x2f), "41.000000000000002f"),
    (CommitNumber(value: .max, history: .max), "18446744073709551615.ffffffffffffffff"),
  ])
  func `a number is read from its text`(number: CommitNumber, text: String) throws {
    #expect(number.description == text && CommitNumber(text) == number)
    let encoded = try JSONEncoder().encode([number])
    #expect(
      String(decoding: encoded, as: UTF8.self)
        == (number.history == 0 ? "[\(text)]" : "[\"\(text)\"]"))
    #expect(try JSONDecoder().decode([CommitNumber].self, from: encoded) == [number])
  }

  @Test(arguments: [
    "", ".", "41.", ".000000000000002f", "41.2f", "041", "+41", "-1", "41.000000000000002F",
    "41.0000000000000000", "41.000000000000002f.1", "18446744073709551616", "41 ",
    "41.00000000000000zz",
  ])
  func `any other text is none`(text: String) throws {
    #expect(CommitNumber(text) == nil)
    let encoded = try JSONEncoder().encode([text])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CommitNumber].self, from: encoded)
    }
  }

  @Test func `numbers are in the order of their values`() {
    let first = CommitNumber(value: 1, history: 9)
    let second = CommitNumber(value: 2, history: 3)
    #expect([second, first].sorted() == [first, second])
  }
}
