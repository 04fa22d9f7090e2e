import Foundation
import Glibc
import MicroHTTP
import Pando

/// The program: reads the command line, then serves or tells its story.
@main
@MainActor
struct Inbox {
  static func main() async {
    exit(await Inbox().run(Array(CommandLine.arguments.dropFirst())))
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
      return fail("\(error.reason); see: inbox --help", status: 2)
    }
    if options.wantsHelp {
      Log().plain(Options.help)
      return 0
    }
    let directory = options.directory ?? Self.temporaryDirectory
    defer { if options.directory == nil { try? FileManager.default.removeItem(atPath: directory) } }
    do {
      if options.serves {
        try await serve(directory, port: options.port, isOffline: options.isOffline)
      } else {
        try await Story(directory: directory, port: options.port).tell()
      }
      return 0
    } catch let error as PortError {
      return fail("\(error); choose another port with --port")
    } catch {
      return fail("\(error)")
    }
  }

  /// Serves until a signal says that it is enough.
  private func serve(_ directory: String, port: UInt16, isOffline: Bool) async throws {
    let log = Log()
    let stop = StopSignal.catchFirst()
    let backend = try Backend(isAway: isOffline)
    let service = try InboxService(directory: directory, backendPort: backend.port, log)
    do {
      try service.listen(onPort: port)
    } catch {
      await service.close()
      throw error
    }
    log(
      "Service", .service,
      "listens on http://127.0.0.1:\(service.port), process \(getpid()), store in \(directory)")
    await service.messageView.open()
    await service.contactsView.open()
    await service.dataModelManager.drain()
    log("Service", .service, "has fetched everything")
    let number = await stop.value
    log("Service", .service, number == SIGINT ? "got SIGINT" : "got SIGTERM")
    await service.close()
    await backend.stop()
  }

  private func fail(_ reason: String, status: Int32 = 1) -> Int32 {
    let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
    try? FileHandle.standardError.write(contentsOf: Data("inbox: \(line)\n".utf8))
    return status
  }

  private static var temporaryDirectory: String {
    FileManager.default.temporaryDirectory.appendingPathComponent("inbox-\(UUID().uuidString)").path
  }
}

/// The options of the command line.
struct Options: Equatable {
  /// Where the store is; a temporary directory if nothing is said.
  var directory: String?
  /// Where the service listens; 0 for any free port.
  var port: UInt16 = 0
  /// Whether the service stays, instead of telling its story.
  var serves = false
  /// Whether the network is away, so that only the store is shown.
  var isOffline = false
  /// Whether the help is wanted.
  var wantsHelp = false

  /// Reads a command line.
  ///
  /// - Parameter arguments: The arguments behind the program's name.
  /// - Throws: A ``UsageError``.
  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : nil
      switch (String(parts.first ?? ""), value) {
      case ("--directory", _):
        directory = try Self.value(value ?? rest.popFirst(), of: "--directory")
      case ("--port", _):
        let text = try Self.value(value ?? rest.popFirst(), of: "--port")
        guard let number = UInt16(text) else {
          throw UsageError("--port \(text): a port is a number from 0 to 65535")
        }
        port = number
      case ("--serve", nil): serves = true
      case ("--offline", nil): isOffline = true
      case ("--help", nil), ("-h", nil): wantsHelp = true
      default: throw UsageError("“\(argument)” is no option")
      }
    }
  }

  private static func value(_ text: String?, of option: String) throws(UsageError) -> String {
    guard let text, !text.isEmpty else { throw UsageError("\(option) needs a value") }
    return text
  }

  /// The text of `--help`.
  static let help = """
    usage: inbox [--directory DIR] [--port N] [--serve [--offline]]

    A service with messages, people and contacts, all kept in a Pando store. It tells by itself
    how data flow from cache and network to the views, and checks what it tells: it ends with
    status 1 if the story does not hold.

      --directory DIR  where the store is; a temporary directory unless given
      --port N         where the service listens on 127.0.0.1; any free port unless given
      --serve          stay and answer curl, until SIGTERM or Ctrl-C
      --offline        show what the store has, without the network

    """
}

/// A command line that makes no sense.
struct UsageError: Error, Equatable {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
