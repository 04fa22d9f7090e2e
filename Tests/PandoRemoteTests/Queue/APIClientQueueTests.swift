import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

@Suite struct APIClientQueueTests {
  func post(_ path: APIPath, key: String? = nil) -> APIRequest {
    APIRequest(.post, path, configuration: APIRequestConfig(uniquingKey: key))
  }

  @Test func `request, local write and mark are one transaction`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { fixture in
      fixture.queue.start()
      let ticket = fixture.queue.ticket(for: post("/notes"), subjects: ["Note:1"])
      struct Refusal: Error {}
      await #expect(throws: Refusal.self) {
        try await fixture.store.write { transaction in
          try transaction.set(TreeNode("Note:1", type: "Note"))
          try ticket.enqueue(in: &transaction)
          throw Refusal()
        }
      }
      #expect(try fixture.rows() == [])
      #expect(try await fixture.store.read { try $0.contains("Note:1") } == false)
      #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") } == false)

      let commit = try await fixture.store.commit { transaction in
        try transaction.set(TreeNode("Note:1", type: "Note"))
        try ticket.enqueue(in: &transaction)
      }
      let queued = try #require(try fixture.queue.requests().first)
      #expect(queued.commitNumber == commit.changeSet?.commitNumber)
      #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") })
      #expect(fixture.server.requests.isEmpty, "nothing is sent before the commit is told")
      ticket.committed()
      await fixture.server.received(1)
      mayAnswer.signal()
      let answer = try await ticket.confirmation()
      #expect(answer.commitNumber == queued.commitNumber)
      #expect(try fixture.rows() == [])
      #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") } == false)
    }
  }

  @Test func `first in, first out`() async throws {
    try await QueueFixture.with { _ in
      .json("{}")
    } _: { fixture in
      var tickets: [QueueTicket] = []
      for number in 1...20 {
        let ticket = fixture.queue.ticket(for: post("/notes/\(number)"))
        try await fixture.store.write { try ticket.enqueue(in: &$0) }
        tickets.append(ticket)
      }
      fixture.queue.start()
      for ticket in tickets { _ = try await ticket.confirmation() }
      #expect(fixture.server.requests.map(\.target) == (1...20).map { "/notes/\($0)" })
      #expect(try fixture.rows() == [])
    }
  }

  @Test func `reads go side by side, and a write is a barrier between them`()
    async throws
  {
    let (mayAnswerReads, mayAnswerWrite) = (Event(), Event())
    try await QueueFixture.with { request in
      switch request.target {
      case "/a", "/b": mayAnswerReads.wait()
      case "/write": mayAnswerWrite.wait()
      default: break
      }
      return .json("\"\(request.target)\"")
    } _: { fixture in
      let queue = fixture.queue
      let early = [APIPath("/a"), "/b"].map { path in
        Task { try await queue.send(APIRequest(.get, path)) }
      }
      await fixture.server.received(2)  // both are under way: side by side
      let write = try await queue.enqueue(post("/write"))
      let late = Task { try await queue.send(APIRequest(.get, "/a", query: [.init("late", "1")])) }
      let head = Task { try await queue.send(APIRequest(.head, "/c")) }
      #expect(fixture.server.requests.count == 2)
      mayAnswerReads.signal()
      for read in early { _ = try await read.value }
      await fixture.server.received(3)
      #expect(fixture.server.requests.last?.target == "/write")
      mayAnswerWrite.signal()
      _ = try await write.confirmation()
      _ = try await (late.value, head.value)
      #expect(
        Set(fixture.server.requests.dropFirst(3).map(\.description)) == [
          "GET /a?late=1", "HEAD /c",
        ])
    }
  }

  @Test(arguments: [HTTPMethod.get, .head])
  func `a read is not tried again`(method: HTTPMethod) async throws {
    try await QueueFixture.with { _ in
      .drop
    } _: { fixture in
      let error = await apiError { try await fixture.queue.send(APIRequest(method, "/x")) }
      #expect(error?.code == .connectionLost)
      // A lost connection that was kept open may be tried once more beneath, on a new one.
      #expect(fixture.clock.remaining.isEmpty)
    }
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
  func `a write is tried again after a lost connection until it is answered`(
    method: HTTPMethod
  ) async throws {
    let attempts = Locked(0)
    try await QueueFixture.with { _ in
      attempts.withLock { attempts in
        attempts += 1
        return attempts <= 2 ? .drop : .json("{}")
      }
    } _: { fixture in
      let ticket = try await fixture.queue.enqueue(APIRequest(method, "/x"))
      for attempt in 1...2 {
        await fixture.clock.slept(attempt)
        #expect(try fixture.rows() == ["waiting \(method) /x"])
        fixture.clock.advance(by: .seconds(15))
      }
      _ = try await ticket.confirmation()
      let tokens = Set(fixture.server.requests.map { $0.headers["idempotency-key"] })
      #expect(tokens.count == 1 && !tokens.contains(nil), "the server can tell that it is the same")
    }
  }

  @Test func `a write is tried again after a timeout`() async throws {
    /// Another transport: it does not answer in time at first.
    struct SlowClient: APIClient {
      let attempts = Locked(0)

      func send(_ request: APIRequest) async throws -> APIResponse {
        let attempt = attempts.withLock { attempts in
          attempts += 1
          return attempts
        }
        if attempt == 1 { throw APIError(.timedOut, request, "no answer came in time") }
        return APIResponse(status: 200)
      }
    }
    let clock = ManualClock()
    var configuration = QueueConfiguration()
    configuration.clock = clock
    let client = SlowClient()
    let queue = APIClientQueue(client: client, configuration: configuration)
    let ticket = try await queue.enqueue(post("/slow"))
    await clock.slept(1)
    #expect(try queue.requests().map(\.lastFailure) == ["POST /slow: no answer came in time"])
    clock.advance(by: .seconds(15))
    _ = try await ticket.confirmation()
    #expect(client.attempts.withLock { $0 } == 2)
    await queue.close()
  }

  @Test func `offline, a write goes back to the front and waiting reads fail`()
    async throws
  {
    let isOnline = Locked(false)
    let mayDrop = Event()
    try await QueueFixture.with { _ in
      if isOnline.withLock({ $0 }) { return .json("{}") }
      mayDrop.wait()
      return .drop
    } _: { fixture in
      let queue = fixture.queue
      let first = try await queue.enqueue(post("/1"))
      await fixture.server.received(1)
      let second = try await queue.enqueue(post("/2"))
      let read = Task { await apiError { try await queue.send(APIRequest(.get, "/r")) } }
      await fixture.queue.waitForReads(1)
      mayDrop.signal()
      let error = await read.value
      #expect(error?.code == .connectionLost)
      #expect(error?.request == "GET /r")
      await fixture.clock.slept(1)
      #expect(fixture.clock.remaining == [.seconds(15)])
      #expect(try fixture.rows() == ["waiting POST /1", "waiting POST /2"])
      #expect(!fixture.events.all.contains { $0.hasPrefix("failed") })

      isOnline.withLock { $0 = true }
      fixture.clock.advance(by: .seconds(14))
      #expect(fixture.clock.remaining == [.seconds(1)])
      fixture.clock.advance(by: .seconds(1))
      _ = try await first.confirmation()
      _ = try await second.confirmation()
      let sent = fixture.server.requests.map(\.target)
      #expect(sent.last == "/2" && sent.dropLast().allSatisfy { $0 == "/1" })
    }
  }

  @Test(arguments: [true, false])
  func `a waiting request is sent again at once on a new request or a flush`(isFlush: Bool)
    async throws
  {
    let isOnline = Locked(false)
    try await QueueFixture.with { _ in
      isOnline.withLock { $0 } ? .json("{}") : .drop
    } _: { fixture in
      let first = try await fixture.queue.enqueue(post("/1"))
      await fixture.clock.slept(1)
      isOnline.withLock { $0 = true }
      if isFlush {
        fixture.queue.flush()
      } else {
        _ = try await fixture.queue.send(APIRequest(.get, "/now"))
      }
      _ = try await first.confirmation()
    }
  }

  @Test func `the same key replaces the queued request, and the older is aborted`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.target == "/first" { mayAnswer.wait() }
      return .json("{}")
    } _: { fixture in
      let queue = fixture.queue
      let underway = try await queue.enqueue(post("/first", key: "k"))
      await fixture.server.received(1)
      let old = try await queue.enqueue(post("/old", key: "k"))
      let other = try await queue.enqueue(post("/other", key: "l"))
      let new = try await queue.enqueue(post("/new", key: "k"))
      let error = await apiError { try await old.confirmation() }
      #expect(error?.code == .aborted)
      #expect(error?.request == "POST /old")
      mayAnswer.signal()
      for ticket in [underway, other, new] { _ = try await ticket.confirmation() }
      #expect(fixture.server.requests.map(\.target) == ["/first", "/other", "/new"])
    }
  }

  @Test func `an older request of one key is aborted before the newer one is awaited`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.target == "/first" { mayAnswer.wait() }
      return .json("{}")
    } _: { fixture in
      let underway = try await fixture.queue.enqueue(post("/first"))
      await fixture.server.received(1)
      let old = try await fixture.queue.enqueue(post("/old", key: "k"))
      let new = fixture.queue.ticket(for: post("/new", key: "k"))
      try await fixture.store.write { try new.enqueue(in: &$0) }
      // The older one's turn comes while the writer of the newer one is on its way back.
      mayAnswer.signal()
      let error = await apiError { try await old.confirmation() }
      #expect(error?.code == .aborted)
      #expect(error?.request == "POST /old")
      new.committed()
      for ticket in [underway, new] { _ = try await ticket.confirmation() }
      #expect(fixture.server.requests.map(\.target) == ["/first", "/new"])
    }
  }

  @Test func `a durably queued request differs from a confirmed one`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .status(201, [:], "{}")
    } _: { fixture in
      let ticket = fixture.queue.ticket(for: post("/notes"))
      #expect(ticket.number == nil)
      try await fixture.store.write { try ticket.enqueue(in: &$0) }
      ticket.committed()
      #expect(try fixture.queue.requests().map(\.id) == [ticket.number])
      await fixture.server.received(1)
      mayAnswer.signal()
      #expect(try await ticket.confirmation().status == 201)
    }
  }

  @Test func `equal reads in flight are sent once for all callers`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("[1]")
    } _: { fixture in
      let queue = fixture.queue
      let equal = (0..<10).map { _ in
        Task { try await queue.send(APIRequest(.get, "/x", query: [.init("a", "1")])) }
      }
      var own = APIRequest(.get, "/x", query: [.init("a", "1")])
      own.configuration.sharesEqualRequests = false
      let (other, alone) = (APIRequest(.get, "/x", query: [.init("a", "2")]), own)
      let others = [other, alone].map { request in Task { try await queue.send(request) } }
      await fixture.queue.waitForReads(12)
      await fixture.server.received(3)
      mayAnswer.signal()
      for task in equal + others {
        let answer = try await task.value
        #expect(String(decoding: answer.body, as: UTF8.self) == "[1]")
      }
      #expect(fixture.server.requests.count == 3)
    }
  }

  @Test func `a cancelled caller leaves the others their answer`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("[1]")
    } _: { fixture in
      let queue = fixture.queue
      let tasks = (0..<2).map { _ in Task { try await queue.send(APIRequest(.get, "/x")) } }
      await fixture.queue.waitForReads(2)
      tasks[0].cancel()
      await #expect(throws: CancellationError.self) { try await tasks[0].value }
      mayAnswer.signal()
      let answer = try await tasks[1].value
      #expect(answer.status == 200)
    }
  }

  @Test func `an acknowledged entry is removed by its identity`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.target == "/1" { mayAnswer.wait() }
      return .json("{}")
    } _: { fixture in
      let first = try await fixture.queue.enqueue(post("/1"))
      await fixture.server.received(1)
      // Dropped while under way, and another one comes: its number is a new one.
      let number = try #require(first.number)
      try await fixture.store.write { _ = try $0.dropQueuedRequest(number) }
      let second = fixture.queue.ticket(for: post("/2"))
      try await fixture.store.write { try second.enqueue(in: &$0) }
      #expect(second.number == number + 1)
      mayAnswer.signal()
      _ = try await first.confirmation()
      #expect(try fixture.queue.requests().allSatisfy { $0.id == number + 1 })
      second.committed()
      _ = try await second.confirmation()
      #expect(fixture.server.requests.map(\.target) == ["/1", "/2"])
    }
  }

  @Test func `two queues of one store and server are one, and nothing is sent twice`()
    async throws
  {
    try await QueueFixture.with { _ in
      .json("{}")
    } _: { fixture in
      let again = APIClientQueue.open(for: fixture.store, client: fixture.client)
      #expect(again === fixture.queue)
      let other = try URLSessionAPIClient(server: fixture.server) { $0.identifier = "other" }
      let second = APIClientQueue.open(for: fixture.store, client: other)
      #expect(second !== fixture.queue)
      // The other server's request is not in this one's way.
      let waiting = second.ticket(for: post("/other"))
      try await fixture.store.write { try waiting.enqueue(in: &$0) }
      _ = try await fixture.queue.send(post("/this"))
      #expect(try fixture.rows() == ["waiting POST /other"])
      waiting.committed()
      _ = try await waiting.confirmation()
      await second.close()
    }
  }

  @Test func `a queue without a store keeps its requests in memory, by the same rules`()
    async throws
  {
    let attempts = Locked(0)
    let server = try TestServer { request in
      if request.method == "GET" { return .json("[]") }
      return attempts.withLock { attempts in
        attempts += 1
        return attempts == 1 ? .drop : .json("{}")
      }
    }
    defer { server.stop() }
    let clock = ManualClock()
    var configuration = QueueConfiguration()
    configuration.clock = clock
    let queue = APIClientQueue(
      client: try URLSessionAPIClient(server: server), configuration: configuration)
    let first = try await queue.enqueue(post("/1"))
    await clock.slept(1)
    #expect(try queue.requests().map(\.state) == [.waiting])
    clock.advance(by: .seconds(15))
    _ = try await first.confirmation()
    _ = try await queue.send(post("/2"))
    _ = try await queue.send(APIRequest(.get, "/3"))
    #expect(try queue.requests().isEmpty)
    await queue.close()
  }

  @Test func `closing ends waiting callers, and keeps the requests`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { fixture in
      let first = try await fixture.queue.enqueue(post("/1"))
      await fixture.server.received(1)
      let read = Task { await apiError { try await fixture.queue.send(APIRequest(.get, "/2")) } }
      await fixture.queue.waitForReads(1)
      await fixture.queue.close()
      mayAnswer.signal()
      let readError = await read.value
      #expect(readError?.code == .closed)
      let ticketError = await apiError { try await first.confirmation() }
      #expect(ticketError?.code == .closed)
      let lateError = await apiError { try await fixture.queue.send(post("/3")) }
      #expect(lateError?.code == .closed)
      #expect(try await fixture.store.read { try $0.queuedRequests() }.map(\.state) == [.inFlight])
    }
  }
}
