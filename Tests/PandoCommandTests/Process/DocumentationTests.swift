import Foundation
import PandoFixtures
import Testing

/// Runs the examples of docs/command.md and the drills of guides, so that the pages stay true.
@Suite struct DocumentationTests {
  /// A command line and what the page says that it prints.
  private struct Example {
    var line: String
    var output: [String] = []
  }

  private static let docs = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("docs")

  /// The examples in all blocks of a page marked `console`, in order.
  private func examples(of page: String) throws -> [Example] {
    var examples: [Example] = []
    var isInside = false
    let url = DocumentationTests.docs.appendingPathComponent(page)
    for line in try String(contentsOf: url, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    {
      if line == "```console" {
        isInside = true
      } else if line == "```" {
        isInside = false
      } else if isInside, line.hasPrefix("$ ") {
        examples.append(Example(line: String(line.dropFirst(2))))
      } else if isInside, let last = examples.indices.last {
        examples[last].output.append(String(line))
      }
    }
    return examples
  }

  /// Takes out what differs from run to run: times, sizes, rates, pages, the store's identifier,
  /// temporary paths, and the width of columns.
  private func masked(_ line: String) -> String {
    var line = line
    for (pattern, mask) in [
      (#"[0-9.]+ (µs|ms|s|bytes|KiB|MiB)\b"#, "N $1"), (#"[0-9 ]+/s"#, "N/s"),
      (#"[0-9]+ pages"#, "N pages"), (#"\b[0-9a-f]{32}\b"#, "ID"),
      (#"/tmp/[^ ]*"#, "PATH"),
      (#"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"#, "AUTHOR"),
      (#""history":"[0-9a-f]{16}""#, "HISTORY"),
      (#"[0-9-]{10}T[0-9:]{8}Z"#, "DATE"), (#"N (µs|ms|s)\b"#, "TIME"), (#" +"#, " "),
    ] {
      line = line.replacingOccurrences(of: pattern, with: mask, options: .regularExpression)
    }
    return line
  }

  @Test(arguments: [("command.md", 30), ("guides/backup.md", 12), ("guides/upgrading.md", 6)])
  func `the examples of the page print the output of the page`(
    page: String, minimumCount: Int
  ) throws {
    let examples = try examples(of: page)
    #expect(examples.count > minimumCount)
    try withTemporaryDirectory { directory throws in
      if let file = examples.first, file.line == "cat tweets.json" {
        try (file.output.joined(separator: "\n") + "\n").write(
          toFile: directory + "/tweets.json", atomically: true, encoding: .utf8)
      }
      for example in examples {
        let outcome = try PandoProcess.shell("cd \(directory); { \(example.line); } 2>&1")
        let printed = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
          .map(String.init).dropLast()
        #expect(
          printed.map(masked) == example.output.map(masked),
          "\(example.line)\nprinted:\n\(outcome.output)")
      }
    }
  }
}
