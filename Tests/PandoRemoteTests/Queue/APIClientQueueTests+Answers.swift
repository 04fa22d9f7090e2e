import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// What the queue makes of the answers of a server.
extension APIClientQueueTests {
  @Test(arguments: [
    (400, APIError.Code.badRequest), (403, .refused), (404, .notFound), (409, .conflict),
    (500, .serverFailed),
  ])
  func `a refusal has the text of the server, and the request is kept as failed`(
    status: Int, code: APIError.Code
  ) async throws {
    try await QueueFixture.with { _ in
      .status(status, [:], #"{"error":"no"}"#)
    } _: { fixture in
      let ticket = try await fixture.queue.enqueue(post("/notes"), subjects: ["Note:1"])
      let error = await apiError { try await ticket.confirmation() }
      #expect(error?.code == code)
      #expect(error?.status == status)
      #expect(
        error?.description == #"POST /notes: the server answered \#(status): {"error":"no"}"#)
      #expect(try fixture.rows() == ["failed POST /notes"])
      #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") })
      let number = try #require(try fixture.queue.requests().first?.id)
      #expect(try await fixture.queue.drop(number))
      #expect(try fixture.rows() == [])
      #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") } == false)
    }
  }

  @Test func `a refused request can be sent again`() async throws {
    let isReady = Locked(false)
    try await QueueFixture.with { _ in
      isReady.withLock { $0 } ? .json("{}") : .status(500)
    } _: { fixture in
      let ticket = try await fixture.queue.enqueue(post("/notes"))
      _ = await apiError { try await ticket.confirmation() }
      isReady.withLock { $0 = true }
      let number = try #require(ticket.number)
      #expect(try await fixture.queue.retry(number))
      #expect(try await fixture.queue.retry(number) == false)
      await fixture.server.received(2)
      _ = try await fixture.queue.send(APIRequest(.get, "/behind"))
      #expect(try fixture.rows() == [])
    }
  }

  @Test func `a busy server is left alone for as long as it says, else longer each time`()
    async throws
  {
    let answers = Locked<[TestServer.Answer]>([
      .status(503), .status(429), .status(503, ["Retry-After": "40"]), .json("{}"),
    ])
    try await QueueFixture.with { _ in
      answers.withLock { $0.removeFirst() }
    } _: { fixture in
      let ticket = try await fixture.queue.enqueue(post("/notes"))
      for (attempt, pause) in [(1, 1), (2, 2), (3, 40)] {
        await fixture.clock.slept(attempt)
        #expect(fixture.clock.remaining == [.seconds(pause)])
        fixture.clock.advance(by: .seconds(pause))
      }
      _ = try await ticket.confirmation()
    }
  }

  @Test func `a request whose policy forbids it is not tried again`() async throws {
    try await QueueFixture.with { _ in
      .drop
    } _: { fixture in
      var request = post("/once")
      request.configuration.retryPolicy = .never
      let ticket = try await fixture.queue.enqueue(request)
      let error = await apiError { try await ticket.confirmation() }
      #expect(error?.code == .connectionLost)
      #expect(try fixture.rows() == ["failed POST /once"])
    }
  }

  @Test func `removing an entity that is already removed is a success`() async throws {
    try await QueueFixture.with { _ in
      .status(404)
    } _: { fixture in
      let response = try await fixture.queue.send(APIRequest(.delete, "/notes/1"))
      #expect(response.status == 404)
      #expect(try fixture.rows() == [])
    }
  }

  @Test func `an answer is stored in the transaction that takes the request off the queue`()
    async throws
  {
    try await QueueFixture.with { request in
      .json("\"\(request.number)\"")
    } _: { fixture in
      fixture.queue.setAnswerHandler(named: "note") { response, request, transaction in
        try transaction.setProperty("answer", to: Array(response.body))
        if request.request.path.text == "/bad" { throw CocoaError(.formatting) }
      }
      _ = try await fixture.queue.enqueue(post("/good"), handler: "note").confirmation()
      let property = { try fixture.store.read { try $0.property("answer") } }
      #expect(try property() == Array("\"1\"".utf8))
      let error = await apiError {
        try await fixture.queue.enqueue(post("/bad"), handler: "note").confirmation()
      }
      #expect(error?.code == .malformedAnswer)
      #expect(try property() == Array("\"1\"".utf8), "what a failed handler did is undone")
      #expect(try fixture.rows() == ["failed POST /bad"], "sent once, and not again by itself")
    }
  }

  @Test func `a kept answer is asked about, and used again when it still holds`() async throws {
    let version = Locked(1)
    try await QueueFixture.with { request in
      let tag = version.withLock { "\"v\($0)\"" }
      if request.headers["if-none-match"] == tag { return .status(304) }
      return .json("{\"tag\":\(tag)}", ["ETag": tag])
    } _: { fixture in
      let request = APIRequest(.get, "/books")
      let first = try await fixture.queue.send(request)
      let second = try await fixture.queue.send(request)
      #expect(!first.isUnchanged && second.isUnchanged)
      #expect(second.body == first.body && second.status == 200)
      version.withLock { $0 = 2 }
      let third = try await fixture.queue.send(request)
      #expect(!third.isUnchanged && third.body != first.body)
      #expect(
        fixture.server.requests.map { $0.headers["if-none-match"] } == [nil, "\"v1\"", "\"v1\""])
      let absent = await apiError {
        try await fixture.queue.send(
          APIRequest(.get, "/other", headers: ["If-None-Match": "\"v2\""]))
      }
      #expect(absent?.code == .malformedAnswer, "304 to somebody who has nothing")
    }
  }
}
