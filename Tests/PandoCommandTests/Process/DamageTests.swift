import Foundation
import PandoFixtures
import Testing

/// Files that are no store, or no longer a whole one: an error line and status 4, never a signal.
@Suite struct DamageTests {
  private static let commands = [
    ["get", "STORE", "N:7"], ["ls", "STORE"], ["stat", "STORE"], ["dump", "STORE"],
    ["verify", "STORE"], ["set", "STORE", "N:7", #"{"id":7,"x":1}"#], ["delete", "STORE", "N:7"],
    ["import", "STORE", "-", "--root", "N:id"], ["kv", "STORE", "nodes", "scan", "--count"],
    ["collections", "STORE"], ["changes", "STORE"], ["parents", "STORE", "N:7"],
  ]

  /// The file of a store of some hundred pages.
  private static let soundFile = Result<Data, any Error> {
    try withTemporaryDirectory { directory in
      let store = directory + "/store"
      let lines = (0..<3000).map {
        #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 99))"}"#
      }
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "N:id", input: lines.joined(separator: "\n"))
      return try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
    }
  }

  /// Runs a command on a store after its file was changed.
  private func run(
    _ arguments: [String], after damage: (inout Data) -> Void
  ) throws -> PandoProcess.Outcome {
    try withTemporaryDirectory { directory in
      let store = directory + "/store"
      try FileManager.default.createDirectory(
        atPath: store, withIntermediateDirectories: false)
      var file = try DamageTests.soundFile.get()
      damage(&file)
      try file.write(to: URL(fileURLWithPath: store + "/data.mdb"))
      return try PandoProcess.run(
        arguments.map { $0 == "STORE" ? store : $0 }, input: #"{"id":5}"#)
    }
  }

  private func expectOneLine(_ outcome: PandoProcess.Outcome, _ arguments: [String]) {
    #expect(outcome.status == 4, "\(arguments): \(outcome)")
    let lines = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("pando ") }
    #expect(lines.count == 1, "\(arguments): \(outcome.errors)")
  }

  @Test(arguments: commands)
  func `a truncated file is an error line`(arguments: [String]) throws {
    let outcome = try run(arguments) { $0.removeLast($0.count / 3 * 2) }
    expectOneLine(outcome, arguments)
  }

  @Test(arguments: commands)
  func `a file of something else is an error line`(arguments: [String]) throws {
    let outcome = try run(arguments) { $0 = Data(repeating: 0x41, count: $0.count) }
    expectOneLine(outcome, arguments)
  }

  @Test(arguments: [0xFF, 0x00, 0x7F] as [UInt8])
  func `pages of garbage never end a command with a signal`(byte: UInt8) throws {
    for arguments in DamageTests.commands {
      let outcome = try run(arguments) { file in
        let rest = 2 * 4096..<file.count
        file.replaceSubrange(rest, with: Data(repeating: byte, count: rest.count))
      }
      expectOneLine(outcome, arguments)
    }
  }

  @Test(arguments: seeds(24))
  func `random damage never ends a command with a signal`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let arguments = DamageTests.commands[Int(seed) % DamageTests.commands.count]
    let outcome = try run(arguments) { file in
      for _ in 0..<40 {
        let start = Int.random(in: 2 * 4096..<file.count - 64, using: &random)
        for index in start..<start + 64 { file[index] = .random(in: 0...255, using: &random) }
      }
    }
    // The command may not meet the damage; when it does, it says so and ends in order.
    #expect([0, 1, 3, 4].contains(outcome.status), "\(arguments): \(outcome)")
    #expect(outcome.status == 0 || outcome.errors.contains("pando "), "\(outcome)")
  }

  @Test func `verify names the damage and ends with status 4`() throws {
    let outcome = try run(["verify", "STORE"]) { file in
      let middle = file.count / 2 + 1000
      for index in middle..<middle + 3 { file[index] ^= 0x5A }
    }
    #expect(outcome.status == 4, "\(outcome)")
    #expect(!outcome.output.isEmpty)
    #expect(outcome.errors.contains("the store is damaged: "), "\(outcome)")
  }

  @Test func `a directory is no store`() throws {
    try withTemporaryDirectory { directory throws in
      try PandoProcess.failure(1, "ls", directory)
      let file = directory + "/file"
      try "x".write(toFile: file, atomically: true, encoding: .utf8)
      try PandoProcess.failure(1, "ls", file)
      try PandoProcess.failure(4, "import", file, "-", "--root", "N:id", input: "{\"id\":1}")
    }
  }

  @Test func `another LMDB file is no store and stays as it is`() throws {
    try withTemporaryDirectory { directory throws in
      let path = directory + "/e"
      try PandoProcess.output("kv", path, "settings", "put", "k", "v")
      let before = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
      for arguments in [["ls", path], ["import", path, "-", "--root", "N:id"]] {
        let outcome = try PandoProcess.run(arguments, input: "{\"id\":1}")
        #expect(outcome.status == 4, "\(outcome)")
        #expect(outcome.errors.contains("no Pando store"), "\(outcome.errors)")
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) == before)
    }
  }
}

/// What limits of the process do; they were told as damage of the file.
@Suite(.disabled(if: isSanitized, "a sanitizer has signals and address space of its own"))
struct LimitTests {
  @Test func `a process with too few open files gets an error that says so`() throws {
    try withTemporaryDirectory { directory in
      try PandoProcess.output("set", "\(directory)/store", "Person:1", "{}", "--type", "Person")
      // With 8 files several threads fail at once.
      for count in [5, 6, 7, 8, 8, 8, 8, 8] {
        let run = try PandoProcess.shell("cd \(directory); ulimit -n \(count); pando watch store")
        #expect(run.status == 4 && !run.errors.contains("damaged"), "\(count): \(run)")
        #expect(run.errors.contains("open files"), "\(count): \(run)")
      }
    }
  }

  @Test func `a limit of the file size is reported, and nothing is changed`()
    throws
  {
    try withTemporaryDirectory { directory in
      let text = String(repeating: "x", count: 200)
      let lines = (0..<3_000).map { #"{"id":"\#($0)","text":"\#(text)"}"# }
      try "[\(lines.joined(separator: ","))]".write(
        toFile: "\(directory)/notes.json", atomically: false, encoding: .utf8)
      let run = try PandoProcess.shell(
        "cd \(directory); ulimit -f 100; pando import store notes.json --root Note:id")
      #expect(run.status == 4 && run.errors.contains("at the limit of this process"), "\(run)")
      #expect(run.errors.contains("ulimit -f"), "\(run)")
      #expect(try PandoProcess.output("ls", "\(directory)/store", "--count") == "0\n")
    }
  }
}
