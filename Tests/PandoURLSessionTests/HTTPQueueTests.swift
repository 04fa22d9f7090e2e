import Foundation
import FoundationNetworking
import PandoFixtures
import PandoManagers
import PandoStore
import PandoSystem
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

/// Queued requests and a server in another process that fails: nothing is lost, nothing is done twice, and
/// all in order.
@Suite struct HTTPQueueTests {
  private static let faults = [
    "drop", "cut-content", "cut-chunks", "no-http", "bad-head", "429", "503",
  ]

  private func withQueue(
    clock: any Clock<Duration> = ContinuousClock(),
    configure: (inout URLSessionAPIClient.Configuration) -> Void = { _ in },
    _ body: (FaultServer, APIClientQueue, QueueEvents) async throws -> Void
  ) async throws {
    try await FaultServer.with(configure: configure) { server, client in
      let store = try ModelStore.temporary()
      let events = QueueEvents()
      var configuration = QueueConfiguration()
      configuration.clock = clock
      if !(clock is ManualClock) { configuration.retryInterval = .zero }
      configuration.firstBackOff = .zero
      configuration.backOffMaximum = .zero
      configuration.onEvent = events.note
      let queue = APIClientQueue.open(for: store, client: client, configuration: configuration)
      do {
        try await body(server, queue, events)
      } catch {
        await queue.close()
        await store.close()
        throw error
      }
      await queue.close()
      await store.close()
    }
  }

  private func post(_ path: String, _ number: Int) throws -> APIRequest {
    APIRequest(.post, APIPath(path), body: try APIBody(json: number))
  }

  @Test(arguments: faults, ["", "&before"])
  func `a write that meets a fault is applied once and in its turn`(
    fault: String, option: String
  ) async throws {
    try await withQueue { server, queue, events in
      let tickets = [
        try await queue.enqueue(post("/fine", 1)),
        try await queue.enqueue(post("/\(fault)?times=3\(option)", 2)),
        try await queue.enqueue(post("/fine", 3)),
      ]
      for ticket in tickets {
        let got1 = try await ticket.confirmation().status; #expect(got1 == 200)
      }
      let applied = try server.applied()
      #expect(applied.map(\.content) == ["1", "2", "3"])
      #expect(Set(applied.map(\.key)).count == 3)
      #expect(try queue.requests().isEmpty)
      #expect(events.all.contains { $0.hasPrefix("put back POST /\(fault)") })
      // It came four times, always with its own key.
      var lines: [String] = []
      for _ in 0..<6 { lines.append(await server.line() ?? "") }
      #expect(lines.filter { $0.hasSuffix(" \(applied[1].key)") }.count == 4, "\(lines)")
    }
  }

  @Test func `a server killed while it has a request gets it again when it is back`() async throws {
    let clock = ManualClock()
    try await withQueue(clock: clock) { server, queue, _ in
      let first = try await queue.enqueue(post("/hold", 1))
      let second = try await queue.enqueue(post("/fine", 2))
      #expect(await server.line()?.hasPrefix("POST /hold ") == true)
      await server.kill()
      await clock.slept(1)
      try await server.restart()
      clock.advance(by: .seconds(15))
      let got2 = try await first.confirmation().status
      #expect(got2 == 200)
      let got3 = try await second.confirmation().status
      #expect(got3 == 200)
      #expect(try server.applied().map(\.content) == ["1", "2"])
      #expect(try queue.requests().isEmpty)
    }
  }

  @Test func `a write that was moved is set aside and not taken for done`() async throws {
    try await withQueue { server, queue, _ in
      let ticket = try await queue.enqueue(post("/301/~echo", 1))
      let error = await apiError { try await ticket.confirmation() }
      #expect(error?.status == 301)
      #expect(try queue.requests().map(\.state) == [.failed])
    }
  }

  @Test func `a refresh that can't be reached keeps the write`() async throws {
    let count = Locked(0)
    try await withQueue { configuration in
      configuration.authorize = { refused in
        guard refused != nil else { return "Bearer 1" }
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number < 3 { throw URLError(.cannotConnectToHost) }
        return "Bearer 2"
      }
    } _: { server, queue, _ in
      let ticket = try await queue.enqueue(post("/token", 1))
      let got4 = try await ticket.confirmation().status
      #expect(got4 == 200)
      #expect(try queue.requests().isEmpty)
    }
  }
}
