import Foundation
import PandoFixtures
import Testing

@testable import PandoCommand

@Suite struct LineReaderTests {
  private func lines(of bytes: [UInt8]) throws -> [String] {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(bytes).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    var reader = LineReader(try Input(path: path.path))
    var lines: [String] = []
    while let line = try reader.next() {
      lines.append(String(decoding: line, as: UTF8.self))
      #expect(reader.lineNumber == lines.count)
    }
    #expect(reader.byteCount == bytes.count)
    return lines
  }

  @Test(arguments: [
    ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb", ["a", "b"]), ("\n\nx", ["", "", "x"]),
    ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]),
  ])
  func `lines come without their ends`(text: String, expected: [String]) throws {
    #expect(try lines(of: Array(text.utf8)) == expected)
  }

  @Test(arguments: seeds(4))
  func `lines longer than a chunk come whole`(seed: UInt64) throws {
    var random = Linear(state: seed)
    let expected = (0..<40).map { _ in
      String(repeating: "x", count: Int.random(in: 0..<100_000, using: &random))
    }
    #expect(try lines(of: Array(expected.joined(separator: "\n").utf8)) == expected)
  }

  @Test func `a file that is not there is named`() {
    #expect {
      try Input(path: "/nonexistent/file.json")
    } throws: { error in
      let error = error as? CommandError
      return error?.exitCode == .notThere && error?.place == "/nonexistent/file.json"
    }
  }

  /// A generator for sizes only; its quality does not matter.
  private struct Linear: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}
