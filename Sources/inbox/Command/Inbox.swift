import ExampleServer
import Foundation
import Glibc
import Pando

/// The program: reads the command line, then serves or tells its story.
@MainActor
struct Inbox {
  /// Runs what the arguments say.
  ///
  /// - Parameter arguments: What follows the program's name.
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
        try await serve(directory, port: options.port)
      } else {
        try await Story(directory: directory, port: options.port).tell()
      }
      return 0
    } catch let error as SocketError {
      return fail("127.0.0.1:\(options.port): \(error); choose another port with --port")
    } catch {
      return fail("\(error)")
    }
  }

  /// Serves until a signal says that it is enough.
  private func serve(_ directory: String, port: UInt16) async throws {
    let log = Log()
    let stop = StopSignal.catchFirst()
    let backend = try Backend()
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
    log("Service", .service, number == SIGINT ? "was told to stop" : "got SIGTERM")
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
