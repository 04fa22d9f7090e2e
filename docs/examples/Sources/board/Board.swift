import Foundation
import Glibc
import MicroHTTP
import Pando

/// The program: reads the command line, then makes data, asks it, serves it or tells its story.
@main
struct Board {
  static func main() async {
    exit(await run(Array(CommandLine.arguments.dropFirst())))
  }

  /// Runs what the arguments say.
  ///
  /// - Parameter arguments: The arguments behind the program's name.
  /// - Returns: The status to exit with: 0 done, 1 failed, 2 wrong arguments.
  static func run(_ arguments: [String]) async -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    do {
      let options = try Options(arguments)
      switch options.task {
      case .help: say(Options.help)
      case .story: try await Story().tell()
      case .make: try await make(options.issueCount, in: options.path)
      case .ask: try await ask(options.path)
      case .serve: try await serve(options.path, port: options.port)
      }
      return 0
    } catch let error as UsageError {
      return fail("\(error); see: board --help", status: 2)
    } catch {
      return fail("\(error)")
    }
  }

  private static func make(_ issueCount: Int, in path: String) async throws {
    let service = try BoardService(ModelStore(path: path))
    let data = SampleData(issueCount: issueCount)
    let clock = ContinuousClock()
    let began = clock.now
    try data.make(in: service.store) { count in
      if count % 10_000 == 0 { say("\(count) issues after \(seconds(clock.now - began)) s") }
    }
    let time = clock.now - began
    let rate = Int(Double(issueCount) / Double(max(time / .seconds(1), 0.001)))
    let counts = try service.store.statistics().recordCounts
    let made = ["Issue", "Comment", "User"].map { "\(counts[$0] ?? 0) \($0.lowercased())s" }
    say("made \(made.joined(separator: ", ")) in \(seconds(time)) s: \(rate) issues a second")
    await service.close()
  }

  private static func ask(_ path: String) async throws {
    let service = try BoardService(ModelStore(path: path))
    try await Measurement(service: service).run(say)
    await service.close()
  }

  /// Serves until a signal says that it is enough.
  private static func serve(_ path: String, port: UInt16) async throws {
    let stop = StopSignal.catchFirst()
    let service = try BoardService(ModelStore(path: path))
    let server: HTTPServer
    do {
      server = try HTTPServer(port: port) { try await service.answer($0) }
    } catch {
      await service.close()
      throw error
    }
    say("listens on http://127.0.0.1:\(server.port), process \(getpid()), store in \(path)")
    let number = await stop.value
    say(number == SIGINT ? "got SIGINT" : "got SIGTERM")
    // A client that waits for a change gets an answer now; then all that is under way ends; then the store.
    await service.endWatching()
    await server.stop()
    await service.close()
    say("has closed its store in order")
  }

  private static func seconds(_ time: Duration) -> String {
    (time / .seconds(1)).formatted(.number.precision(.fractionLength(1)))
  }

  /// Prints a line at once, into a pipe too; a reader that went away does not end the service.
  static func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }

  private static func fail(_ reason: String, status: Int32 = 1) -> Int32 {
    let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    try? FileHandle.standardError.write(contentsOf: Data("board: \(line)\n".utf8))
    return status
  }
}

/// The options of the command line.
struct Options: Equatable {
  /// The task of the program.
  enum Task: String { case story, make, ask, serve, help }

  var task = Task.story
  /// Where the store is.
  var path = ""
  /// Where the service listens; 0 for any free port.
  var port: UInt16 = 0
  var issueCount = 100_000

  /// Reads a command line.
  ///
  /// - Parameter arguments: The arguments behind the program's name.
  /// - Throws: ``UsageError``.
  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    if let word = rest.first, !word.hasPrefix("-") {
      guard let task = Task(rawValue: word) else { throw UsageError("“\(word)” is no command") }
      self.task = task
      rest = rest.dropFirst()
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--store": path = try Self.value(rest.popFirst(), of: argument)
      case "--port":
        guard let port = UInt16(try Self.value(rest.popFirst(), of: argument)) else {
          throw UsageError("--port: a port is a number from 0 to 65535")
        }
        self.port = port
      case "--issues":
        guard let count = Int(try Self.value(rest.popFirst(), of: argument)), count > 0 else {
          throw UsageError("--issues: how many there are is a number, at least 1")
        }
        issueCount = count
      case "--help", "-h": task = .help
      default: throw UsageError("“\(argument)” is no option")
      }
    }
    switch task {
    case .make, .ask, .serve:
      if path.isEmpty { throw UsageError("\(task.rawValue) needs --store too") }
    case .story, .help: break
    }
  }

  private static func value(_ text: String?, of option: String) throws(UsageError) -> String {
    guard let text, !text.isEmpty else { throw UsageError("\(option) needs a value") }
    return text
  }

  /// The text of `--help`.
  static let help = """
    usage: board
           board make --store PATH [--issues N]
           board ask --store PATH
           board serve --store PATH [--port N]

    A work board: projects, issues, users, labels, comments, and columns of cards, in a Pando store.
    By itself it tells a story and checks every line of it.

      make        makes data, always the same, in transactions of \(SampleData.batchCount) issues
      ask         asks each question of the service, and says how long the answer takes
      serve       stays and answers curl, until SIGTERM or Ctrl-C; GET / lists what there is
      --store     where the store is
      --issues    how many issues; 100000 unless given, with a user for every 20 and 2 comments each
      --port      where the service listens on 127.0.0.1; any free port unless given
    """
}

/// The options make no sense.
struct UsageError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = reason }
}
