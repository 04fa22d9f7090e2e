import Foundation
import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import Testing

/// The procedures of docs/replication.md: their blocks are run as they stand there.
public struct ProcedureChecks {
  private struct Note: Model, Codable, Equatable {
    var id: String
    var text = ""
    var modelIdentifier: String? { "Note:\(id)" }
  }

  private let server: any LogServer
  private let folder: String
  private let log: String

  /// Takes an engine.
  ///
  /// - Parameters:
  ///   - server: An engine without a log.
  ///   - folder: A folder for stores.
  ///   - log: The arguments of `pando replica` that name the log.
  public init(_ server: any LogServer, folder: String, log: String) {
    (self.server, self.folder, self.log) = (server, folder, log)
  }

  /// Whether `pando` lies beside the tests.
  public static var isCommandThere: Bool {
    FileManager.default.isExecutableFile(atPath: "\(ChildProcess.productFolder)/pando")
  }

  // MARK: The page

  /// The `sh` blocks under a heading.
  private func blocks(_ heading: String) throws -> [String] {
    let page = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/replication.md"), encoding: .utf8)
    var blocks: [String] = []
    var (isThere, isInside) = (false, false)
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix("#") && !isInside { isThere = line.hasSuffix("# \(heading)") }
      guard isThere else { continue }
      if line == "```sh" {
        (isInside, blocks) = (true, blocks + [""])
      } else if line == "```" {
        isInside = false
      } else if isInside {
        blocks[blocks.count - 1] += line + "\n"
      }
    }
    return blocks
  }

  /// Runs a block, with services that do nothing, and gives what it prints.
  @discardableResult
  private func run(
    _ heading: String, _ index: Int = 0, name: String = "", status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let all = try blocks(heading)
    try #require(all.indices.contains(index), "\(heading)", sourceLocation: sourceLocation)
    let run = try ChildProcess.run(
      "/bin/bash", ["-euo", "pipefail", "-c", "systemctl() { :; }\n\(all[index])"],
      environment: [
        "PATH": "\(ChildProcess.productFolder):/usr/bin:/bin", "LOG": log, "NAME": name,
      ], directory: folder)
    #expect(run.status == status, "\(heading): \(run)", sourceLocation: sourceLocation)
    return run.output
  }

  // MARK: Machines

  private func open(_ name: String, _ log: (any ReplicationLog)? = nil) throws -> ReplicatedStore {
    try ReplicatedStore(
      path: "\(folder)/\(name)", log: try log ?? server.makeLog(), configuration: .forTests)
  }

  /// The service of a machine, as long as a closure runs.
  private func serving<Result>(
    _ name: String, _ body: (ReplicatedStore) async throws -> Result
  ) async throws -> Result {
    let machine = try open(name)
    do {
      try await machine.caughtUp()
      let result = try await body(machine)
      await machine.close()
      return result
    } catch {
      await machine.close()
      throw error
    }
  }

  private func write(_ ids: ClosedRange<Int>, at name: String) async throws {
    try await serving(name) { machine in
      for id in ids { try await machine.store.write { try $0.set(Note(id: "\(id)")) } }
    }
  }

  /// Expects all machines to have some notes and no other, and to go on.
  private func expect(
    _ ids: ClosedRange<Int>, at names: [String] = ["one", "two", "three"],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let expected = Set(ids.map { "Note:\($0)" })
    for name in names {
      let found = try await serving(name) { machine in
        let text = UUID().uuidString
        try await machine.store.write { try $0.set(Note(id: "last", text: text)) }
        #expect(!machine.status.isStopped, sourceLocation: sourceLocation)
        return try await machine.store.read { Set(try $0.identifiers()) }
      }
      #expect(found == expected.union(["Note:last"]), "\(name)", sourceLocation: sourceLocation)
    }
    for name in names { try await serving(name) { _ in } }
    let dumps = try names.map { try dump($0) }
    for dump in dumps { #expect(dump == dumps[0], sourceLocation: sourceLocation) }
  }

  private func dump(_ name: String) throws -> [String] {
    var configuration = ModelStore.Configuration.forTests
    configuration.isReadOnly = true
    let store = try ModelStore(path: "\(folder)/\(name)", configuration: configuration)
    defer { store.close() }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    return lines.filter { !$0.contains("\"property\"") }
  }

  /// Three machines with ten notes.
  private func begin() async throws {
    try run("Beginning a log")
    try await write(1...10, at: "one")
    try run("Adding a machine")
    try run("Adding a machine", 1)
  }

  // MARK: Procedures

  /// A log is begun once, machines join by a copy and by a file, and one leaves.
  public func checkMachines() async throws {
    try await begin()
    #expect(try run("Beginning a log", status: 3) == "")
    try await expect(1...10)
    #expect(try run("Removing a machine").contains("three has position"))
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/three"))
    try await write(11...12, at: "two")
    try await expect(1...12, at: ["one", "two"])
  }

  /// All machines go back to a backup, wherever they are.
  public func checkRestoring() async throws {
    try await begin()
    try run("Backup")
    try await write(11...20, at: "two")
    // One that is behind, and one that is at the end.
    try await serving("one") { _ in }
    try run("Restore")
    try await expect(1...10)
    #expect(try run("Upgrading programs").contains("position"))
  }

  /// A lost log continues from one machine.
  public func checkLostLog() async throws {
    try await begin()
    try await write(11...15, at: "three")
    try await write(16...18, at: "one")
    try server.remove()
    #expect(
      try run("When the log has lost something", 2).contains("the log continues from position"))
    try await expect(1...18)
    try run("When the log has lost something", 0)
    try run("When the log has lost something", 1)
    try await expect(1...18)
  }

  /// A log that another store has begun is refused, and emptied when that is said.
  public func checkOtherLog() async throws {
    try await begin()
    try server.remove()
    let other = try open("stray")
    try await other.store.write { try $0.set(Note(id: "stray")) }
    try await other.putSnapshot()
    await other.close()
    try run("When the log has lost something", 2, status: 4)
    try run("When the log has lost something", 3)
    try await expect(1...10)
    let stray = try? open("stray")
    let error = await #expect(throws: StoreError.self) {
      guard let stray else { throw StoreError(.logLost, "stray", "it can't be opened") }
      try await stray.caughtUp()
    }
    #expect(error?.code == .logLost || error?.code == .forked, "\(error as Any)")
    await stray?.close()
  }

  /// Machines are compared, and one that has become another is named.
  public func checkComparing() async throws {
    try await begin()
    try await expect(1...10)
    #expect(
      try run("Comparing machines").components(separatedBy: "is what the log says").count == 4)
    try await takeInWhatOthersRefuse("last", at: "two")
    let output = try run("Comparing machines", status: 4)
    #expect(output.contains("\nNote:last\n"), "\(output)")
    try run("When the log has lost something", 1)
    #expect(
      try run("Comparing machines").components(separatedBy: "is what the log says").count == 4)
  }

  /// Writes a note on a machine that does not judge: the others refuse it, because of one that came between.
  private func takeInWhatOthersRefuse(_ id: String, at name: String) async throws {
    let store = try ModelStore(path: "\(folder)/\(name)", configuration: .forTests)
    let log = try server.makeLog()
    var configuration = ReplicaConfiguration()
    configuration.judges = false
    let replica = try Replica(store, log: log, configuration: configuration)
    try replica.catchUp()
    try await serving("one") { machine in
      try await machine.store.write { try $0.set(Note(id: id, text: "one")) }
    }
    try await store.write { try $0.set(Note(id: id, text: name)) }
    await store.close()
    log.close()
    for other in ["one", "two", "three"] { try await serving(other) { _ in } }
  }

  /// What became of a write without an answer is told by its name.
  public func checkOutcome() async throws {
    try await begin()
    let machine = try open("one", try SilentLog(try server.makeLog()))
    let error = await #expect(throws: StoreError.self) {
      try await machine.store.write { try $0.set(Note(id: "11")) }
    }
    await machine.close()
    let name = try #require(error?.writeName, "\(error as Any)")
    #expect(try run("A write without an answer", name: name).hasPrefix("pending"))
    try await serving("one") { _ in }
    #expect(try run("A write without an answer", name: name).hasPrefix("stored at position "))
    try run("A write without an answer", name: "none", status: 1)
  }

  /// Machines get a newer program one after another: the first migrates for all, and older ones read only.
  public func checkUpgrading() async throws {
    try await begin()
    var configuration = ModelStore.Configuration.forTests
    configuration.migrations = [
      Migration(typeName: "Note", version: 2) { $0["text"] = "migrated" }
    ]
    let one = try ReplicatedStore(
      path: "\(folder)/one", log: try server.makeLog(), configuration: configuration)
    #expect(try run("Upgrading programs").contains("end of the log"))
    let two = try open("two")
    try await two.caughtUp()
    #expect(try await two.store.read { try $0.get("Note:7", as: Note.self) }?.text == "migrated")
    let error = await #expect(throws: StoreError.self) {
      try await two.store.write { try $0.set(Note(id: "11")) }
    }
    #expect(error?.code == .newerSchema, "\(error as Any)")
    await two.close()
    let upgraded = try ReplicatedStore(
      path: "\(folder)/two", log: try server.makeLog(), configuration: configuration)
    try await upgraded.store.write { try $0.set(Note(id: "11", text: "newer")) }
    try await one.caughtUp()
    #expect(try await one.store.read { try $0.get("Note:11", as: Note.self) }?.text == "newer")
    for machine in [one, upgraded] { await machine.close() }
    for name in ["one", "two"] { try await serving(name) { _ in } }
    #expect(try dump("one") == dump("two"))
  }

  /// Servers are restarted, and the log answers.
  public func checkServers() async throws {
    try await begin()
    try server.kill()
    try server.start()
    #expect(try run("Upgrading servers").contains("end of the log"))
    try await expect(1...10)
  }
}

/// A connection that takes messages, and tells of none behind its opening.
private final class SilentLog: ReplicationLog {
  private let log: any ReplicationLog
  private let last: UInt64

  init(_ log: any ReplicationLog) throws { (self.log, last) = (log, try log.end()) }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    _ = try log.append(message, named: name, expecting: end)
    throw LogFault.noAnswer
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    if position >= last { return [] }
    return try log.messages(after: position, limit: limit).filter { $0.position <= last }
  }
  func message(at position: UInt64) throws -> LoggedMessage? { try log.message(at: position) }
  func end() throws -> UInt64 { try log.end() }
  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {}
  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? { nil }
  func snapshotPosition() throws -> UInt64? { nil }
  func retentionUsed(since position: UInt64) throws -> Double { 0 }
  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {}
  func close() { log.close() }
}
