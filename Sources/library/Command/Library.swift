import ExampleServer
import Foundation
import Glibc

/// The program: reads the command line, then is one of the three processes of the story.
@MainActor
struct Library {
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
    let server = try HTTPServer(port: port) { await library.answer($0) }
    StandardOutput.write("\(server.port)")
    for await line in StandardInput.lines {
      if line == "release" { await library.release() }
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
