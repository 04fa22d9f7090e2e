import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// What is about one entity stays in order; the rest goes beside it.
@Suite struct RequestLaneTests {
  func put(
    _ path: APIPath, _ strategy: RequestStrategy = .serial
  ) -> APIRequest {
    var request = APIRequest(.put, path)
    request.configuration.strategy = strategy
    return request
  }

  /// Queues requests in one transaction.
  func enqueue(
    _ requests: [(request: APIRequest, subjects: [String], related: [String])],
    _ fixture: QueueFixture
  ) async throws -> [QueueTicket] {
    let tickets = requests.map {
      fixture.queue.ticket(for: $0.request, subjects: $0.subjects, related: $0.related)
    }
    try await fixture.store.write { for ticket in tickets { try ticket.enqueue(in: &$0) } }
    for ticket in tickets { ticket.committed() }
    return tickets
  }

  @Test func `requests about different entities go side by side, four at a time`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { fixture in
      let tickets = try await enqueue(
        (1...6).map { (put("/notes/\($0)"), ["Note:\($0)"], []) }, fixture)
      await fixture.server.received(4)
      #expect(try fixture.rows().filter { $0.hasPrefix("inFlight") }.count == 4)
      mayAnswer.signal()
      for ticket in tickets { _ = try await ticket.confirmation() }
      #expect(Set(fixture.server.requests.map(\.target)).count == 6)
      #expect(try fixture.rows() == [])
    }
  }

  @Test func `requests about one entity are in order, and with those that name it`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.target == "/people/1" { mayAnswer.wait() }
      return .json("{}")
    } _: { fixture in
      let tickets = try await enqueue(
        [
          (put("/people/1"), ["Person:1"], []),
          (put("/notes/1"), ["Note:1"], ["Person:1"]),
          (put("/notes/2"), ["Note:2"], ["Person:1"]),
          (put("/people/1"), ["Person:1"], []),
          (put("/notes/3"), ["Note:3"], ["Person:2"]),
        ], fixture)
      _ = try await tickets[4].confirmation()
      #expect(Set(fixture.server.requests.map(\.target)) == ["/people/1", "/notes/3"])
      mayAnswer.signal()
      for ticket in tickets { _ = try await ticket.confirmation() }
      let sent = fixture.server.requests.map(\.target).filter { $0 != "/notes/3" }
      // The two notes name the same person and go together.
      #expect(sent.first == "/people/1" && sent.last == "/people/1")
      #expect(Set(sent) == ["/people/1", "/notes/1", "/notes/2"])
    }
  }

  @Test func `a strategy takes a request out of the order, or into one more`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.target == "/slow" { mayAnswer.wait() }
      return .json("{}")
    } _: { fixture in
      let tickets = try await enqueue(
        [
          (put("/slow", .after("k")), [], []),
          (put("/behind", .after("k")), ["Note:1"], []),
          (put("/third"), ["Note:1"], []),
          (put("/beside", .concurrent), ["Note:1"], []),
          (put("/unnamed"), [], []),
        ], fixture)
      _ = try await tickets[3].confirmation()
      _ = try await tickets[4].confirmation()
      #expect(try fixture.rows().count == 3)
      mayAnswer.signal()
      for ticket in tickets { _ = try await ticket.confirmation() }
      let sent = fixture.server.requests.map(\.target)
      let ordered = ["/slow", "/behind", "/third"]
      #expect(sent.filter { ordered.contains($0) } == ordered)
    }
  }

  @Test func `a read waits for writes of its own entities, and for no others`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.method == "PUT" { mayAnswer.wait() }
      switch request.target {
      case "/volumes/7": return .json(#"{"id":7,"title":"Dune"}"#)
      case "/volumes/8": return .json(#"{"id":8,"title":"Emma"}"#)
      case "/volumes": return .json("[]")
      default: return .json(#"{"writer":{"id":"a","name":"Ada"}}"#)
      }
    } _: { fixture in
      let volumes = RemoteStore<Volume>(clientQueue: fixture.queue)
      let writers = RemoteStore<Writer>(clientQueue: fixture.queue)
      let write = try volumes.request(
        toSet: [Volume(id: .remote(7), title: "Dune", writer: .remote("a"))], in: .remote())
      try await write.enqueue()
      write.committed()
      await fixture.server.received(1)
      // What the write only names is read beside it.
      let ada = try await writers.get(withQuery: Query(ids: [.remote("a")]), in: .remote())
      #expect(ada.entities.map(\.name) == ["Ada"])
      let emma = try await volumes.get(withQuery: Query(ids: [.remote(8)]), in: .remote())
      #expect(emma.entities.map(\.title) == ["Emma"])
      var free = APIRequest(.get, "/volumes/7")
      free.configuration.strategy = .concurrent
      #expect(try await fixture.queue.send(free).status == 200)
      let same = Task { try await volumes.get(withQuery: Query(ids: [.remote(7)]), in: .remote()) }
      let all = Task { try await volumes.search(withQuery: .all, in: .remote()) }
      await fixture.queue.waitForReads(2)
      #expect(fixture.server.requests.count == 4)
      mayAnswer.signal()
      #expect(try await same.value.entities.map(\.title) == ["Dune"])
      #expect(try await all.value.entities.isEmpty)
      #expect(
        Set(fixture.server.requests.dropFirst(4).map(\.description)) == [
          "GET /volumes/7", "GET /volumes",
        ])
    }
  }

  @Test func `a busy server puts off one lane, and the others go on`() async throws {
    let isBusy = Locked(true)
    try await QueueFixture.with { request in
      if request.target.hasSuffix("/7"), isBusy.withLock({ $0 }) {
        return .status(503, ["Retry-After": "30"])
      }
      return .json(#"{"id":7,"title":"Dune"}"#)
    } _: { fixture in
      let volumes = RemoteStore<Volume>(clientQueue: fixture.queue)
      let tickets = try await enqueue(
        [
          (put("/volumes/7"), ["Volume:7"], []), (put("/volumes/7"), ["Volume:7"], []),
          (put("/volumes/8"), ["Volume:8"], []),
        ], fixture)
      await fixture.clock.slept(1)
      _ = try await tickets[2].confirmation()
      #expect(try await tickets[1].firstOutcome() == nil, "nobody has to wait for a busy server")
      // What reads the same fails at once, now and later; a write more does not wake the server.
      for _ in 1...2 {
        let error = await apiError {
          try await volumes.get(withQuery: Query(ids: [.remote(7)]), in: .remote())
        }
        #expect(error?.status == 503)
        #expect(error?.request == "GET /volumes/7")
        let search = await apiError { try await volumes.search(withQuery: .all, in: .remote()) }
        #expect(search?.status == 503)
        _ = try await enqueue([(put("/volumes/9"), ["Volume:9"], [])], fixture)[0].confirmation()
      }
      #expect(fixture.server.requests.filter { $0.target == "/volumes/7" }.count == 1)
      #expect(fixture.clock.remaining == [.seconds(30)])
      isBusy.withLock { $0 = false }
      fixture.clock.advance(by: .seconds(30))
      for ticket in tickets { _ = try await ticket.confirmation() }
      #expect(try fixture.rows() == [])
    }
  }

  @Test func `after failures in a row nothing is sent, and then one request tries first`()
    async throws
  {
    let (mayAnswer, isBusy) = (Event(), Locked(true))
    try await QueueFixture.with { request in
      if isBusy.withLock({ $0 }) { return .status(503) }
      mayAnswer.wait()
      return .json("{}")
    } configure: {
      $0.circuitFailureCount = 3
      $0.firstBackOff = .seconds(8)
    } _: { fixture in
      let tickets = try await enqueue(
        (1...6).map { (put("/notes/\($0)"), ["Note:\($0)"], []) }, fixture)
      // Two are put off on their own; the third opens the circuit.
      await fixture.clock.slept(3)
      while try fixture.rows().contains(where: { $0.hasPrefix("inFlight") }) { await Task.yield() }
      let sent = fixture.server.requests.count
      #expect(sent < 6 + 3 && fixture.clock.remaining.count == 3)
      let late = try await enqueue([(put("/notes/7"), ["Note:7"], [])], fixture)
      isBusy.withLock { $0 = false }
      fixture.clock.advance(by: .seconds(8))
      await fixture.server.received(sent + 1)
      #expect(try fixture.rows().filter { $0.hasPrefix("inFlight") }.count == 1)
      mayAnswer.signal()
      for ticket in tickets + late { _ = try await ticket.confirmation() }
      #expect(fixture.server.requests.count == sent + 7)
    }
  }

  @Test(arguments: [
    "inf", "nan", "-1", "soon", "1e999", "Sun, 06 Nov 1994 999999999999999999:49:37 GMT",
  ])
  func `an invalid time to wait is ignored`(text: String) async throws {
    try await QueueFixture.with { _ in
      .status(503, ["Retry-After": text])
    } _: { fixture in
      _ = try await fixture.queue.enqueue(put("/notes/1"))
      await fixture.clock.slept(1)
      #expect(fixture.clock.remaining == [.seconds(1)])
    }
  }

  @Test(arguments: ["1e30", "1e300"])
  func `a time to wait without end is as long as pauses are at most`(text: String) async throws {
    try await QueueFixture.with { _ in
      .status(503, ["Retry-After": text])
    } _: { fixture in
      _ = try await fixture.queue.enqueue(put("/notes/1"))
      await fixture.clock.slept(1)
      #expect(fixture.clock.remaining == [.seconds(300)])
    }
  }

  @Test(arguments: [
    ("Wed, 01 Jan 2120 00:00:00 GMT", 4_733_510_400),
    ("Thu, 29 Feb 2120 23:59:59 GMT", 4_738_694_399),
  ])
  func `a server may name a date before which no request is sent`(
    text: String, seconds: Double
  ) async throws {
    let isBusy = Locked(true)
    try await QueueFixture.with { _ in
      isBusy.withLock { $0 } ? .status(503, ["Retry-After": text]) : .json("{}")
    } configure: {
      $0.backOffMaximum = .seconds(1e10)
    } _: { fixture in
      let ticket = try await fixture.queue.enqueue(put("/notes/1"))
      await fixture.clock.slept(1)
      let pause = try #require(fixture.clock.remaining.first)
      let end = Date(timeIntervalSinceNow: pause / .seconds(1)).timeIntervalSince1970
      // What the test takes itself is less than an hour.
      #expect(abs(end - seconds) < 3600)
      isBusy.withLock { $0 = false }
      fixture.clock.advance(by: pause)
      _ = try await ticket.confirmation()
    }
  }
}
