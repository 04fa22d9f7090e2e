import Foundation

/// The library as a process of its own, which does what the lines of its standard input say.
@MainActor
struct SessionCommands {
  private let session: Session

  /// Opens the library.
  init(directory: String, server: URL) throws {
    session = try Session(directory: directory, server: server)
  }

  /// Carries out line after line, and ends with the input.
  func run() async {
    for await line in StandardInput.lines {
      do {
        for answer in try await carryOut(line.split(separator: "|").map(String.init)) {
          say(answer)
        }
      } catch {
        say("Desk|\(error)")
      }
      say(Companion.end)
    }
    await session.close()
  }

  private func carryOut(_ words: [String]) async throws -> [String] {
    switch (words.first ?? "", words.count) {
    case ("fetch", 1): return ["Desk|has \(try await session.fetch())"]
    case ("author", 2): return ["Desk|\(try await session.addAuthor(words[1]))"]
    case ("book", 3): return ["Desk|\(try await session.addBook(words[1], by: words[2]))"]
    case ("lend", 3): return ["Desk|\(try await session.lend(words[1], to: words[2]))"]
    case ("rename", 3): return ["Desk|\(try await session.rename(words[1], to: words[2]))"]
    case ("queue", 1): return ["Queue|\(try session.waiting())"]
    case ("drain", 1): return ["Queue|\(try await session.drain())"]
    case ("verify", 1): return ["Store|\(try session.verify())"]
    case ("views", 1):
      var lines: [String] = []
      for view in session.views { lines.append("\(view.title)|\(try await view.settled())") }
      return lines
    default: throw UsageError("“\(words.joined(separator: "|"))” is no command")
    }
  }

  private func say(_ line: String) { StandardOutput.write(line) }
}
