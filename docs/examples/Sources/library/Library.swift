import Foundation
import Glibc
import MicroHTTP

/// The program: reads the command line, then is one of the three processes of the story.
@main
@MainActor
struct Library {
  static func main() async {
    exit(await Library().run(Array(CommandLine.arguments.dropFirst())))
  }

  /// Runs what the arguments say.
  ///
  /// - Parameter arguments: The arguments behind the program's name.
  /// - Returns: The status to exit with: 0 done, 1 failed, 2 wrong arguments.
  func run(_ arguments: [String]) async -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    let options: Options
    do {
      options = try Options(arguments)
    } catch {
      return fail("\(error); see: library --help", status: 2)
    }
    do {
      let directory = options.directory ?? Self.temporaryDirectory
      defer {
        if options.directory == nil { try? FileManager.default.removeItem(atPath: directory) }
      }
      switch options.role {
      case .help: StandardOutput.write(Options.help)
      case .story: try await Story(directory: directory).tell()
      case .session(let port):
        guard let server = URL(string: "http://127.0.0.1:\(port)") else { return 2 }
        try await SessionCommands(directory: directory, server: server).run()
      case .server(let port, let held): try await serve(directory, port, holding: held)
      }
      return 0
    } catch {
      return fail("\(error)")
    }
  }

  /// Serves until standard input ends.
  private func serve(_ directory: String, _ port: UInt16, holding target: String?) async throws {
    let library = try LibraryServer("\(directory)/server.json", holding: target) {
      StandardOutput.write("Server|\($0)")
    }
    let server = try HTTPServer(port: port) { try await library.answer($0) }
    StandardOutput.write("\(server.port)")
    for await line in StandardInput.lines {
      let words = line.split(separator: "|").map(String.init)
      if words == ["release"] { await library.release() }
      if words.count == 2, words[0] == "hold" { await library.hold(words[1]) }
      StandardOutput.write(Companion.end)
    }
    await library.release()
    await server.stop()
  }

  private func fail(_ reason: String, status: Int32 = 1) -> Int32 {
    let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    try? FileHandle.standardError.write(contentsOf: Data("library: \(line)\n".utf8))
    return status
  }

  private static var temporaryDirectory: String {
    FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
      .path
  }
}

/// The options of the command line.
struct Options: Equatable {
  /// The role of the process.
  enum Role: Equatable {
    /// The story, which starts the two others.
    case story
    /// The library at work; the server listens on a port.
    case session(port: UInt16)
    /// The server, on a port; 0 for any free one. It may keep its answer to a request back.
    case server(port: UInt16, held: String?)
    /// The explanation of the options.
    case help
  }

  /// The role of the process.
  var role = Role.story
  /// Where the data is; a temporary directory if nothing is said.
  var directory: String?

  /// Reads a command line.
  ///
  /// - Parameter arguments: The arguments behind the program's name.
  /// - Throws: ``UsageError``.
  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    var held: String?
    while let argument = rest.popFirst() {
      switch argument {
      case "--directory": directory = try Self.value(rest.popFirst(), of: argument)
      case "--session": role = .session(port: try Self.port(rest.popFirst(), of: argument))
      case "--server":
        role = .server(port: try Self.port(rest.popFirst(), of: argument), held: nil)
      case "--hold": held = try Self.value(rest.popFirst(), of: argument)
      case "--help", "-h": role = .help
      default: throw UsageError("“\(argument)” is no option")
      }
    }
    if case .server(let port, _) = role { role = .server(port: port, held: held) }
    switch role {
    case .session, .server:
      if directory == nil { throw UsageError("this needs --directory too") }
    case .story, .help: break
    }
  }

  private static func value(_ text: String?, of option: String) throws(UsageError) -> String {
    guard let text, !text.isEmpty else { throw UsageError("\(option) needs a value") }
    return text
  }

  private static func port(_ text: String?, of option: String) throws(UsageError) -> UInt16 {
    guard let port = UInt16(try value(text, of: option)) else {
      throw UsageError("\(option): a port is a number from 0 to 65535")
    }
    return port
  }

  /// The text of `--help`.
  static let help = """
    usage: library [--directory DIR]
           library --server PORT --directory DIR [--hold REQUEST]
           library --session PORT --directory DIR

    A library whose desk goes on working without its server. By itself it tells a story and checks
    every line of it: it starts a server and a session as processes of their own, takes the server
    away, kills the session in the middle of its work, and looks at what both have in the end.

      --directory DIR  where store and server keep their data; a temporary directory if not given
      --server PORT    only the server, on 127.0.0.1; it ends with its standard input
      --hold REQUEST   keeps the answer to a request back, for example to "POST /books", until its
                       standard input says: release
      --session PORT   only a session, which takes commands on its standard input:
                       fetch, author|NAME, book|TITLE|AUTHOR, lend|TITLE|READER, rename|OLD|NEW,
                       views, queue, drain, verify
    """
}

/// The options make no sense.
struct UsageError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = reason }
}

/// The lines of standard input, as they come.
enum StandardInput {
  /// Reads on a thread of its own, because reading waits.
  static var lines: AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }
}

/// Standard output, line by line and at once, into a pipe too.
enum StandardOutput {
  /// Writes a line; a reader that went away does not end the process.
  static func write(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }
}
