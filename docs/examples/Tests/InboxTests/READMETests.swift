import Foundation
import PandoFixtures
import Testing

@Suite struct READMETests {
  /// The README's section on the service.
  private func section() throws -> String {
    let url = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../README.md")
    let readme = try String(contentsOf: url.standardized, encoding: .utf8)
    let rest = try #require(readme.components(separatedBy: "\n## A service: inbox\n").last)
    return try #require(rest.components(separatedBy: "\n## ").first)
  }

  /// The lines in the blocks of a kind.
  private func lines(of kind: String, in text: String) -> [String] {
    text.components(separatedBy: "```\(kind)\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
      .flatMap { $0.components(separatedBy: "\n") }
  }

  @Test func `the lines in the README are those that the story prints`() async throws {
    let shown = lines(of: "text", in: try section())
    #expect(shown.count > 10)
    let told = try await Shell.run("inbox").lines
    for line in shown { #expect(told.contains(line)) }
  }

  @Test(.enabled(if: Shell.hasCurl))
  func `the commands in the README do what it says`() async throws {
    let commands = lines(of: "sh", in: try section()).filter { $0.hasPrefix("curl ") }
    #expect(commands.count == 6)
    try await withService { service, directory in
      let second = try await ServiceProcess(directory: directory, "--offline")
      for command in commands {
        let here = command.replacingOccurrences(of: ":8034/", with: ":\(service.port)/")
          .replacingOccurrences(of: ":8035/", with: ":\(second.port)/")
        let run = try await Shell.run("\(here) -sS --fail")
        #expect(run.status == 0 && run.errors.isEmpty, "\(command): \(run)")
      }
      let contacts = try await service.ask("GET", "/contacts")
      #expect(contacts.contains("Linus") && !contacts.contains("Grace"))
      try await second.output(containing: "row 1 deleted")
      #expect(try await second.ask("GET", "/contacts") == contacts)
      #expect(try await second.terminate() == 0)
    }
  }
}
