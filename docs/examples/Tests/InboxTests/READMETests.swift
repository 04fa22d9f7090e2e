import Foundation
import PandoFixtures
import ServiceFixtures
import Testing

@Suite struct READMETests {
  private func section() throws -> READMESection { try READMESection("A service: inbox") }

  @Test func `the lines in the README are those that the story prints`() async throws {
    let shown = try section().lines(of: "text")
    #expect(shown.count > 10)
    let told = try await Shell.run("inbox").lines
    for line in shown { #expect(told.contains(line)) }
  }

  @Test(.enabled(if: Shell.hasCurl))
  func `the commands in the README do what it says`() async throws {
    let commands = try section().lines(of: "sh").filter { $0.hasPrefix("curl ") }
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
      #expect(await second.terminate() == 0)
    }
  }
}
