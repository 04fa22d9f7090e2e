import Foundation
import MicroHTTP
import Pando

/// Tells what the board does, and checks each line of it.
///
/// The requests are those that clients send, given to the service without a network between. Nothing
/// is left to chance: the data are always the same, and one request is answered before the next.
struct Story {
  let service: BoardService
  let log: Log
  static let data = SampleData(issueCount: 2_000)

  /// Opens a new store, which goes with the story.
  ///
  /// - Parameter log: The log of the story.
  /// - Throws: The reason why the store can't be opened.
  init(log: Log = Log()) throws {
    service = try BoardService(.temporary())
    self.log = log
  }

  /// Tells it from beginning to end.
  ///
  /// - Throws: ``StoryError`` at the first line that is another one.
  func tell() async throws {
    try await ask()
    try await edit()
    try await move()
    try await delete()
    await service.close()
    log.plain("\nThe story holds: \(log.lineCount) lines, each as it should be.")
  }

  /// Sends a request, and tells what came back.
  ///
  /// - Parameters:
  ///   - request: As in the first line of an HTTP message.
  ///   - body: JSON; empty for none.
  ///   - tag: The value of `If-Match`.
  ///   - expected: The expected line.
  ///   - text: Makes the line from an answer that is a success.
  /// - Throws: ``StoryError`` if it is another line.
  func tell<Answer: Decodable>(
    _ request: String, body: String = "", ifMatch tag: String? = nil, expecting expected: String,
    _ text: (Answer) -> String
  ) async throws {
    let response = try await service.send(request, body, ifMatch: tag)
    let content = Data(response.body)
    let answer =
      response.status < 300
      ? text(try JSONDecoder().decode(Answer.self, from: content))
      : try JSONDecoder().decode(Failure.self, from: content).error
    let condition = tag.map { "  If-Match: \($0)" } ?? ""
    log.plain("     \(request)\(condition)\(body.isEmpty ? "" : "  \(body)")")
    try log.tell("\(response.status)  \(answer)", expected)
  }

  /// An answer that is no success.
  private struct Failure: Decodable { let error: String }
}

extension BoardService {
  /// Sends a request.
  func send(
    _ request: String, _ body: String = "", ifMatch tag: String? = nil
  ) async throws -> HTTPResponse {
    let words = request.split(separator: " ").map(String.init)
    let target = URLComponents(string: words[1])
    let query = target?.queryItems ?? []
    do {
      return try await answer(
        HTTPRequest(
          method: words[0], path: (target?.path ?? "").split(separator: "/").map(String.init),
          query: query.map { HTTPField(name: $0.name, value: $0.value ?? "") },
          fields: tag.map { [HTTPField(name: "if-match", value: $0)] } ?? [],
          body: Array(body.utf8)))
    } catch let error as HTTPError {
      return HTTPResponse(error)
    }
  }
}

/// The lines of the story, each checked.
final class Log {
  private let prints: Bool
  private var title = ""
  private(set) var lineCount = 0

  /// Begins with line 1.
  ///
  /// - Parameter prints: Whether lines go to standard output.
  init(prints: Bool = true) { self.prints = prints }

  /// Begins a step.
  func step(_ title: String) {
    self.title = title
    plain("\n● \(title)")
  }

  /// Tells a line.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - expected: The same, as it should be.
  /// - Throws: ``StoryError`` if it is another one.
  func tell(_ line: String, _ expected: String) throws(StoryError) {
    lineCount += 1
    plain("\(lineCount < 10 ? "  " : " ")\(lineCount)  \(line)")
    guard line == expected else {
      throw StoryError("“\(title)”: line \(lineCount) should be: \(expected)")
    }
  }

  /// Says something without a number.
  func plain(_ text: String) {
    if prints { Board.say(text) }
  }
}

/// A line of the story that differs from the expected one.
struct StoryError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = "the story does not hold: \(reason)" }
}
