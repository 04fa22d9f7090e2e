import Foundation
import PandoFixtures
import ServiceFixtures
import Testing

@testable import board

@Suite struct READMETests {
  private func section() throws -> READMESection {
    try READMESection("Many requests at once: board")
  }

  @Test func `the lines in the README are those that the story prints`() async throws {
    let shown = try section().lines(of: "text")
    #expect(shown.count == 7)
    let told = try await blocking { try ChildProcess.run("board") }.lines
    for line in shown { #expect(told.contains(line), "\(line)") }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
  func `the commands in the README do what it says`() async throws {
    let commands = try section().lines(of: "sh")
    #expect(commands.count { $0.contains(" board ") } == 3)
    try await withServer { server in
      var answers = ""
      for command in commands where command.hasPrefix("curl ") {
        let here = command.replacingOccurrences(of: ":8036/", with: ":\(server.port)/")
        let run = try await blocking {
          try ChildProcess.run("/bin/bash", ["-c", "\(here) -sS --fail"])
        }
        #expect(run.status == 0 && run.errors.isEmpty, "\(command): \(run)")
        answers += run.output
      }
      for part in ["On Linux too.", "Crash at start", #""deleted":["Issue:1957""#] {
        #expect(answers.contains(part), "\(part)")
      }
      #expect(try await server.ask("GET", "/issues/1957").hasPrefix("404 "))
      #expect(try await server.ask("GET", "/users/1").contains("Ada King"))
    }
  }
}
