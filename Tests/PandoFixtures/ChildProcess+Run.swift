import CPandoSpawn
import Foundation
import Glibc

extension ChildProcess {
  /// A run of a program to its end.
  public struct Run: Sendable {
    /// Its status, negative for the signal that ended it.
    public let status: Int32
    /// What it printed.
    public let output: String
    /// What it printed as errors.
    public let errors: String

    /// The lines of the output that are not empty.
    public var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Runs a program and waits for its end.
  ///
  /// - Parameters:
  ///   - program: A path, or the name of a program that was built beside the tests.
  ///   - arguments: What follows the program's name.
  ///   - environment: What differs from the environment of the tests.
  ///   - directory: Where it runs; by default where the tests do.
  ///   - input: What it reads.
  ///   - file: Where; the watchdog names it when the end never comes.
  ///   - line: Where.
  /// - Returns: What it printed and how it ended.
  /// - Throws: ``Failure`` when it cannot be started.
  public static func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
    directory: String? = nil, input: String = "", file: StaticString = #fileID, line: UInt = #line
  ) throws -> Run {
    // Files in memory instead of pipes: nothing blocks, however much is printed.
    let files = try ["input", "output", "errors"].map(makeFile)
    try files[0].write(contentsOf: Data(input.utf8))
    try files[0].seek(toOffset: 0)
    let life = try Life(
      program, arguments, environment, directory, files.map(\.fileDescriptor))
    let status = life.wait(file, line)
    let texts = try files.map { file in
      try file.seek(toOffset: 0)
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
    return Run(status: status, output: texts[1], errors: texts[2])
  }

  private static func makeFile(_ name: String) throws -> FileHandle {
    let closeOnExecution: CUnsignedInt = 1
    let descriptor = memfd_create(name, closeOnExecution)
    guard descriptor >= 0 else { throw Failure("memfd_create", errno) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }
}
