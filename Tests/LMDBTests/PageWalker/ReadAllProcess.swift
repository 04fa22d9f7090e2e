import Foundation
import Glibc

/// Runs `LMDBReadAll`, which reads all of an environment through liblmdb in a process of its own.
enum ReadAllProcess {
  struct Outcome {
    let status: Int32
    let isSignal: Bool
    let output: String

    var isSuccess: Bool { status == 0 && !isSignal }
  }

  /// Runs it on an environment and waits for its end.
  static func run(on environment: String) throws -> Outcome {
    let process = Process()
    process.executableURL = try executable
    process.arguments = [environment]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, isSignal: process.terminationReason == .uncaughtSignal,
      output: String(decoding: text, as: UTF8.self))
  }

  /// It is built next to the program that runs the tests.
  private static var executable: URL {
    get throws {
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      return URL(fileURLWithPath: tests).deletingLastPathComponent()
        .appendingPathComponent("LMDBReadAll")
    }
  }
}
