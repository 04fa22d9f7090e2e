import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures
@testable import PandoRemote

/// What callers are told when a request does not take its ordinary way.
extension RequestLaneTests {
  @Test func `a closed queue refuses requests with an error that says so`() async throws {
    try await QueueFixture.with { _ in
      .json("{}")
    } _: { fixture in
      await fixture.queue.close()
      let ticket = fixture.queue.ticket(for: put("/notes/1"), subjects: ["Note:1"])
      try await fixture.store.write { try ticket.enqueue(in: &$0) }
      ticket.committed()
      let error = await apiError { try await ticket.confirmation() }
      #expect(error?.code == .closed)
      #expect(
        try await fixture.store.read { try $0.queuedRequests() }.count == 1, "the next run sends it"
      )
    }
  }

  @Test func `a request dropped in a transaction fails when its turn comes`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { fixture in
      let tickets = try await enqueue(
        [(put("/notes/1"), ["Note:1"], []), (put("/notes/1"), ["Note:1"], [])], fixture)
      await fixture.server.received(1)
      let number = try #require(tickets[1].number)
      try await fixture.store.write { _ = try $0.dropQueuedRequest(number) }
      mayAnswer.signal()
      _ = try await tickets[0].confirmation()
      let error = await apiError { try await tickets[1].confirmation() }
      #expect(error?.code == .dropped)
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test func `a request that another process removed from the queue fails`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { fixture in
      let tickets = try await enqueue(
        [(put("/notes/1"), ["Note:1"], []), (put("/notes/1"), ["Note:1"], [])], fixture)
      await fixture.server.received(1)
      // As the other process does with the answer: when it waits here, and before it is seen here.
      let number = try #require(tickets[1].number)
      try await fixture.store.write { _ = try QueueTable.remove(number, in: QueueRows($0)) }
      let quick = fixture.queue.ticket(for: put("/notes/2"), subjects: ["Note:2"])
      try await fixture.store.write { transaction in
        try quick.enqueue(in: &transaction)
        if let number = quick.number {
          _ = try QueueTable.remove(number, in: QueueRows(transaction))
        }
      }
      quick.committed()
      let first = await apiError { try await quick.confirmation() }
      #expect(first?.code == .answeredElsewhere)
      mayAnswer.signal()
      _ = try await tickets[0].confirmation()
      let second = await apiError { try await tickets[1].confirmation() }
      #expect(second?.code == .answeredElsewhere)
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test func `dropping a request that a busy server postponed frees those behind it`() async throws
  {
    let isBusy = Locked(true)
    try await QueueFixture.with { _ in
      isBusy.withLock { $0 } ? .status(503, ["Retry-After": "30"]) : .json("[]")
    } _: { fixture in
      let volumes = RemoteStore<Volume>(clientQueue: fixture.queue)
      let tickets = try await enqueue(
        [(put("/volumes/7"), ["Volume:7"], []), (put("/volumes/7"), ["Volume:7"], [])], fixture)
      await fixture.clock.slept(1)
      isBusy.withLock { $0 = false }
      let number = try #require(tickets[0].number)
      #expect(try await fixture.queue.drop(number))
      _ = try await tickets[1].confirmation()
      #expect(try await volumes.search(withQuery: .all, in: .remote()).entities.isEmpty)
      #expect(fixture.clock.remaining.isEmpty)
    }
  }

  @Test func `a request queued behind a postponed one reports that it waits`()
    async throws
  {
    try await QueueFixture.with { _ in
      .status(503, ["Retry-After": "30"])
    } _: { fixture in
      let first = try await enqueue([(put("/notes/1"), ["Note:1"], [])], fixture)[0]
      #expect(try await first.firstOutcome() == nil)
      await fixture.clock.slept(1)
      let second = try await enqueue([(put("/notes/1"), ["Note:1"], [])], fixture)[0]
      #expect(try await second.firstOutcome() == nil)
    }
  }

  @Test func `a read by an identifier from before waits for the writes of the entity`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with { request in
      if request.method == "PUT" { mayAnswer.wait() }
      return .json(#"{"id":7,"title":"\#(request.method)"}"#)
    } _: { fixture in
      let volumes = RemoteStore<Volume>(clientQueue: fixture.queue)
      let made = Volume(id: .local("a"), title: "new")
      _ = try await volumes.set([made], in: .remote())
      let write = try volumes.request(
        toSet: [Volume(id: .remote(7), title: "changed")], in: .remote())
      try await write.enqueue()
      write.committed()
      await fixture.server.received(2)
      let read = Task {
        try await volumes.get(withQuery: Query(ids: [.local("a")]), in: .remote())
      }
      await fixture.queue.waitForReads(1)
      #expect(fixture.server.requests.count == 2)
      mayAnswer.signal()
      #expect(try await read.value.entities.map(\.id) == [.remote(7)])
      #expect(fixture.server.requests.map(\.method) == ["POST", "PUT", "GET"])
    }
  }

  @Test func `a request that names a new entity stays in order when that gets its name`()
    async throws
  {
    let (mayMake, mayChange) = (Event(), Event())
    try await QueueFixture.with { request in
      if request.method == "POST" { mayMake.wait() }
      if request.body.contains("first") { mayChange.wait() }
      return .json(#"{"id":7,"title":"x"}"#)
    } _: { fixture in
      let volumes = RemoteStore<Volume>(clientQueue: fixture.queue)
      func queue(_ id: EntityIdentifier<Volume>, _ title: String) async throws
        -> any QueuedWrite<Volume>
      {
        let write = try volumes.request(toSet: [Volume(id: id, title: title)], in: .localAndRemote)
        try await fixture.store.write { transaction in
          _ = try transaction.apply([Volume(id: id, title: title)], asOf: nil)
          try write.enqueue(&transaction)
        }
        write.committed()
        return write
      }
      let made = try await queue(.local("a"), "new")
      // The server's name is used by somebody who knows it already, before it comes here.
      let first = try await queue(.remote(7), "first")
      let second = try await queue(.local("a"), "second")
      await fixture.server.received(2)
      mayMake.signal()
      _ = try await made.answer()
      let third = try await queue(.remote(7), "third")
      #expect(fixture.server.requests.count == 2)
      mayChange.signal()
      for write in [first, second, third] { _ = try await write.answer() }
      let titles = fixture.server.requests.suffix(2).map(\.body)
      #expect(titles[0].contains("second") && titles[1].contains("third"))
    }
  }

  @Test(arguments: [true, false])
  func `an entity has queued requests until the last of them is gone`(isEarlier: Bool)
    async throws
  {
    try await QueueFixture.with { _ in
      .status(422)
    } _: { fixture in
      let tickets = (0..<5).map { _ in
        fixture.queue.ticket(for: put("/notes/1"), subjects: ["Note:1"])
      }
      try await fixture.store.write { for ticket in tickets { try ticket.enqueue(in: &$0) } }
      let numbers = tickets.compactMap(\.number)
      if isEarlier {
        // An earlier version has kept a list of them.
        let list = numbers.flatMap { number in
          (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        try await fixture.store.write { try $0.setProperty("queue-mark/Note:1", to: list) }
      }
      for (index, number) in numbers.enumerated() {
        #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") })
        if index == 2 {
          for ticket in tickets.dropFirst(2) { ticket.committed() }
          _ = await apiError { try await tickets[2].confirmation() }
          #expect(
            try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") }, "refused")
        }
        try await fixture.store.write { _ = try $0.dropQueuedRequest(number) }
      }
      #expect(try await fixture.store.read { try $0.hasQueuedRequests(for: "Note:1") } == false)
    }
  }

  @Test func `a request is not tried again when its time is over`() async throws {
    try await QueueFixture.with { _ in
      .status(503)
    } _: { fixture in
      var request = put("/notes/1")
      request.configuration.retryPolicy.secondsMaximum = 0
      let ticket = try await enqueue([(request, ["Note:1"], [])], fixture)[0]
      let error = await apiError { try await ticket.confirmation() }
      #expect(error?.status == 503)
      #expect(try fixture.rows() == ["failed PUT /notes/1"])
    }
  }

  /// Was: by the time of day, which somebody may set.
  @Test func `a request is given up when the clock of the queue says so`() async throws {
    try await QueueFixture.with { _ in
      .status(503)
    } configure: {
      $0.firstBackOff = .seconds(10)
    } _: { fixture in
      var request = put("/notes/1")
      request.configuration.retryPolicy.secondsMaximum = 25
      let ticket = try await enqueue([(request, ["Note:1"], [])], fixture)[0]
      await fixture.clock.slept(1)
      fixture.clock.advance(by: .seconds(10))
      await fixture.clock.slept(2)
      #expect(try fixture.rows() == ["waiting PUT /notes/1"])
      fixture.clock.advance(by: .seconds(20))
      let error = await apiError { try await ticket.confirmation() }
      #expect(error?.status == 503)
      #expect(try fixture.queue.requests().map(\.attemptCount) == [3])
      #expect(try fixture.rows() == ["failed PUT /notes/1"])
      // It begins anew when somebody asks for that.
      #expect(try await fixture.queue.retry(1))
      await fixture.clock.slept(3)
      #expect(try fixture.rows() == ["waiting PUT /notes/1"])
    }
  }

  @Test func `the time of a request goes on where the process before has left it`() async throws {
    try await QueueFixture.with { _ in
      .status(503)
    } configure: {
      $0.firstBackOff = .seconds(10)
    } _: { fixture in
      var request = put("/notes/1")
      request.configuration.retryPolicy.secondsMaximum = 45
      _ = try await enqueue([(request, ["Note:1"], [])], fixture)
      await fixture.clock.slept(1)
      fixture.clock.advance(by: .seconds(10))
      await fixture.clock.slept(2)
      await fixture.queue.close()
      // However long that takes, nobody sends meanwhile.
      fixture.clock.advance(by: .seconds(1_000_000))
      var configuration = fixture.queue.configuration
      let clock = ManualClock()
      configuration.clock = clock
      let second = APIClientQueue.open(
        for: fixture.store, client: fixture.client, configuration: configuration)
      second.start()
      // After 10 seconds, of another process.
      await clock.slept(1)
      #expect(try fixture.rows() == ["waiting PUT /notes/1"])
      #expect(clock.remaining == [.seconds(40)])
      // After 50.
      clock.advance(by: .seconds(40))
      while try second.requests().first?.state != .failed { await Task.yield() }
      #expect(try second.requests().map(\.attemptCount) == [4])
      await second.close()
    }
  }

  @Test func `pauses are shortened at random, and no more than is said`() async throws {
    try await QueueFixture.with { _ in
      .status(503)
    } configure: {
      $0.firstBackOff = .seconds(100)
      $0.backOffJitter = 0.5
      $0.circuitFailureCount = 100
    } _: { fixture in
      _ = try await enqueue((1...8).map { (put("/notes/\($0)"), ["Note:\($0)"], []) }, fixture)
      await fixture.clock.slept(8)
      let pauses = fixture.clock.remaining
      #expect(pauses.allSatisfy { (.seconds(50) ... .seconds(100)).contains($0) })
      #expect(Set(pauses).count > 1, "they are not all alike")
    }
  }
}
