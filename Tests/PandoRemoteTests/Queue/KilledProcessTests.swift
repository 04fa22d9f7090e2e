import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Whatever happens to the process, no request is lost, and none is sent again once its
/// acknowledgement is stored.
@Suite struct KilledProcessTests {
  /// A server that gives a book the same number whenever it is asked to make it.
  private static func library() -> TestServer.Handler {
    { request in
      let body = (try? TreeValue(json: request.body)) ?? .null
      guard case .string(let title) = body["title"] else { return .status(400) }
      let named = Int(request.target.split(separator: "/").last ?? "")
      let id = named ?? (title == "Emma" ? 43 : 42)
      return .json(#"{"id":\#(id),"title":"\#(title)"}"#)
    }
  }

  private static let steps = ["queued", "marked", "answered", "acknowledged"]

  @Test(arguments: steps, 1...3)
  func `a process killed at any step of a queued write loses nothing and repeats nothing`(
    step: String, number: Int
  ) async throws {
    let server = try TestServer(handler: Self.library())
    defer { server.stop() }
    let directory = try TemporaryStoreDirectory()
    defer { directory.remove() }
    let killed = try await QueueProcess.run(
      [directory.path, "\(server.port)", "write", step, "\(number)"])
    #expect(killed.status == -SIGKILL, "\(killed)")
    let left = try ModelStore(path: directory.path, configuration: .forTests)
    let rows = try await left.read { try $0.queuedRequests() }
    await left.close()

    let drained = try await QueueProcess.run([directory.path, "\(server.port)", "drain"])
    #expect(drained.output == "rows: 0\n", "\(drained)")
    let writes = server.requests.filter { $0.method != "GET" }
    let sent = writes.compactMap { $0.headers["idempotency-key"] }
    // What the killed process has sent may come to the server later than its end.
    let late = writes.filter { $0.headers["test-action"] == "drain" }
      .compactMap { $0.headers["idempotency-key"] }
    #expect(Set(late) == Set(rows.map(\.token)), "exactly what was left is sent")
    #expect(late.count == rows.count, "and once")
    let repeated = Dictionary(grouping: sent, by: \.self).filter { $0.value.count > 1 }
    // Sent again is only what was on its way and not acknowledged.
    let wasOnItsWay = Set(rows.filter { $0.state == .inFlight }.map(\.token))
    #expect(repeated.allSatisfy { wasOnItsWay.contains($0.key) && $0.value.count == 2 })
    if step == "answered" { #expect(!repeated.isEmpty) }

    let store = try ModelStore(path: directory.path, configuration: .forTests)
    let volumes = try await store.read { snapshot in
      try snapshot.identifiers(ofType: "Volume").map { try snapshot.get($0, as: Volume.self) }
    }
    // The edit and the second book are there if the process lived to write them.
    let writtenCount = step == "queued" ? number : 3
    #expect(volumes.first??.title == (writtenCount > 1 ? "Dune Messiah" : "Dune"))
    #expect(volumes.compactMap { $0?.id.remoteID } == (writtenCount > 2 ? [42, 43] : [42]))
    #expect(
      try await store.read { try $0.currentIdentifier(of: "Volume:local:v") } == "Volume:42")
    #expect(try store.verify().problems.isEmpty)
    await store.close()
  }

  /// What is asked of the server is judged by its content, and the answers count nothing else.
  private static func refusing() -> TestServer.Handler {
    { request in
      let body = (try? TreeValue(json: request.body)) ?? .null
      return .status(request.method == "DELETE" || body["title"] == .string("Refused") ? 422 : 204)
    }
  }

  @Test(arguments: steps, 1...3)
  func `a process killed at any step of a refused write has taken it back, or does so next time`(
    step: String, number: Int
  ) async throws {
    let server = try TestServer(handler: Self.refusing())
    defer { server.stop() }
    let directory = try TemporaryStoreDirectory()
    defer { directory.remove() }
    let dune = Volume(id: .remote(7), title: "Dune")
    let emma = Volume(id: .remote(8), title: "Emma")
    let before = try ModelStore(path: directory.path, configuration: .forTests)
    try await before.write { transaction in
      try transaction.set(dune)
      try transaction.set(emma)
      try transaction.setCollection("shelf", to: [emma, dune])
    }
    await before.close()

    let killed = try await QueueProcess.run(
      [directory.path, "\(server.port)", "change", step, "\(number)"])
    #expect(killed.status == -SIGKILL, "\(killed)")
    let drained = try await QueueProcess.run([directory.path, "\(server.port)", "drain"])
    let store = try ModelStore(path: directory.path, configuration: .forTests)
    let (rows, found, shelf) = try await store.read { snapshot in
      (
        try snapshot.queuedRequests(), try snapshot.get("Volume:7", as: Volume.self),
        try snapshot.collection("shelf", as: Volume.self)
      )
    }
    let editions = step == "queued" && number == 1 ? 1 : 2
    #expect(found == Volume(id: .remote(7), title: "Dune", edition: editions == 2 ? 2 : nil))
    #expect(shelf?.map(\.title) == ["Emma", "Dune"])
    let refused = step == "queued" && number < 3 ? 1 : 2
    #expect(drained.output == "rows: \(refused)\n", "\(drained)")
    #expect(rows.allSatisfy { $0.isUndone && $0.state == .failed })
    #expect(try await !store.read { try $0.hasQueuedRequests(for: "Volume:7") })
    // The second change goes out without the first one, with its own key, however often it is sent.
    let changes = server.requests.filter { $0.method == "PUT" }
    let good = changes.filter { !$0.body.contains("Refused") }
    #expect(good.allSatisfy { $0.body.contains(#""title":"Dune""#) }, "\(good)")
    #expect(Set(good.compactMap { $0.headers["idempotency-key"] }).count == editions - 1)
    #expect(try store.verify().problems.isEmpty)
    await store.close()
  }
}

/// The built program `QueueTestProcess`.
enum QueueProcess {
  /// Runs it to its end.
  static func run(_ arguments: [String]) async throws -> ChildProcess.Run {
    try await blocking { try ChildProcess.run("PandoQueueTestProcess", arguments) }
  }
}
