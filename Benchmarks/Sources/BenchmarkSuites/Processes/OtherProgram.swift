import Foundation

/// This program in another process, as a ``Worker``.
///
/// It ends when this object is released, and so when this process ends.
final class OtherProgram {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  /// Starts it, and waits until it is ready.
  init(_ role: Worker.Role, _ directory: WorkingDirectory, _ number: Int) throws {
    process.executableURL = Self.program
    process.arguments = [Worker.option, role.rawValue, directory.path, String(number)]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit { end() }

  /// The program itself; the tests, which are another one, find it beside them.
  private static var program: URL {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    guard own.pathExtension == "xctest" else { return own }
    return own.deletingLastPathComponent().appendingPathComponent("pando-bench")
  }

  /// Waits until it says so.
  func wait(for text: String) throws {
    guard try line() == text else { throw Self.ended }
  }

  /// The processor time that it has taken so far, in nanoseconds.
  func processorTime() throws -> UInt64 {
    try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    guard let time = UInt64(try line()) else { throw Self.ended }
    return time
  }

  /// Waits for what it has seen.
  func sightings() throws -> [Sighting] {
    var sightings: [Sighting] = []
    while case let text = try line(), !text.isEmpty {
      guard let sighting = Sighting(text) else { throw Self.ended }
      sightings.append(sighting)
    }
    return sightings
  }

  /// Has it end, and waits for that.
  func end() {
    try? input.fileHandleForWriting.close()
    while !output.fileHandleForReading.availableData.isEmpty {}
  }

  private func line() throws -> String {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(end + 1)...]) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Self.ended }
      rest += more
    }
  }

  private static var ended: BenchmarkError {
    BenchmarkError(.system, "another process has ended too early")
  }
}
