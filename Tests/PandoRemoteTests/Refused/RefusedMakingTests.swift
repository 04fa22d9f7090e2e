import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What becomes of entities that a server refuses to make, where other writes are about them.
@Suite struct RefusedMakingTests {
  @Test func `a refused entity that was changed locally and removed stays removed`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.post, "/jobs", with: APIResponse(status: 422))
      let made = RefusedJob(id: .local("a"), title: "New")
      try await run.queue {
        try await run.jobs.set(made, in: .localAndRemote)
        try await run.jobs.updateIfPresent(byID: made.id) { $0.title = "Newer" }
        try await run.jobs.remove(atID: made.id, in: .localAndRemote)
      }
      #expect(try await run.jobs.all().entities.isEmpty)
    }
  }

  @Test func `a field gets its former node when the new one is refused`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.post, "/jobs", with: APIResponse(status: 422))
      let team = RefusedTeam(id: .remote("t"), lead: .numbered("2"))
      try await run.teams.set(team)
      let made = RefusedJob(id: .local("a"), title: "New")
      try await run.queue {
        try await run.jobs.set(made, in: .localAndRemote)
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) { $0.lead = made }
      }
      #expect(try await run.teams.get(byID: team.id) == team)
      #expect(!run.server.requests.contains { $0.method == .put })
    }
  }

  @Test func `an identifier is checked before anything is removed`() async throws {
    try await RefusedJobs.run { run in
      for identifier in [EntityIdentifier<RefusedJob>.remote(""), .remote("local:a")] {
        await #expect(throws: QueryError.self) {
          try await run.jobs.remove(atID: identifier, in: .localAndRemote)
        }
        await #expect(throws: (any Error).self) {
          try await run.container.write { try $0.remove(RefusedJob.self, identifier) }
        }
        await #expect(throws: QueryError.self) {
          try await run.jobs.updateIfPresent(byID: identifier) { $0.title = "" }
        }
      }
      #expect(run.server.requests.isEmpty)
    }
  }

  @Test func `all that one request would have made is gone`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/jobs", with: APIResponse(status: 422))
      let both = [RefusedJob.numbered("1"), .numbered("2")]
      let request = APIRequest(.put, "/jobs", body: try APIBody(json: both))
      try await run.queue {
        try await run.jobs.set(both, in: .localAndRemote(endpoint: .request(request)))
        try await run.jobs.updateIfPresent(byID: .remote("2")) { $0.title = "changed here" }
      }
      #expect(try await run.jobs.all().entities.isEmpty)
    }
  }

  /// The server refuses the first of two, and the second one as well where that is said.
  @Test(arguments: [false, true])
  func `a node that a later write makes too stays until that one is refused`(all: Bool) async throws
  {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/jobs/1") { request in
        let job = try JSONDecoder().decode(
          RefusedJob.self, from: request.body?.bytes ?? Data())
        return APIResponse(status: job.step == 0 || all ? 422 : 204)
      }
      let first = RefusedJob(
        id: .remote("1"), title: "new", part: RefusedPart(id: "a"))
      var second = first
      second.step = 1
      try await run.queue {
        try await run.jobs.set(first, in: .localAndRemote)
        try await run.jobs.set(second, in: .localAndRemote)
      }
      #expect(try await run.jobs.all().entities == (all ? [] : [second]))
      #expect(try await run.store.read { try $0.contains("RefusedPart:a") } == !all)
      #expect(try await !run.store.read { try $0.hasQueuedRequests(for: "RefusedJob:1") })
    }
  }

  @Test func `an entity made again after a removal is not the refused one`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1], removals: []) {
        try await run.remove()
        try await run.set(1, "refused")
        try await run.remove()
        try await run.set(2, "new")
      }
    }
  }

  @Test func `an entity made again is made by its next sent write`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1, 2], removals: []) {
        try await run.remove()
        try await run.set(1, "refused")
        try await run.set(2, "refused, too")
        try await run.jobs.updateIfPresent(byID: .remote("1"), in: .localAndRemote) { $0.step = 3 }
      }
    }
  }

  @Test func `a change of an entity restored by undo is sent without the refused value`()
    async throws
  {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1], removals: [403]) {
        try await run.remove()
        try await run.set(1, "refused")
        try await run.jobs.updateIfPresent(byID: .remote("1"), in: .localAndRemote) {
          $0.part = RefusedPart(id: "a")
          $0.step = 2
        }
      }
    }
  }

  @Test func `a removal that was taken stays though the one before was not`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1], removals: [403, 204]) {
        try await run.remove()
        try await run.remove()
        try await run.set(1, "refused")
      }
    }
  }

  @Test func `undo of a removal restores the removed state and nothing older`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [], removals: [403, 204, 403]) {
        try await run.remove()
        try await run.set(1, "new")
        try await run.remove()
        try await run.remove()
      }
    }
  }

  @Test func `a node of an entity made again is there when its removal is refused`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1, 3], removals: []) {
        try await run.remove()
        let first = RefusedJob(id: .remote("1"), step: 1, part: RefusedPart(id: "a"))
        try await run.jobs.set(first, in: .localAndRemote)
        try await run.jobs.updateIfPresent(byID: first.id, in: .localAndRemote) { $0.step = 2 }
        try await run.jobs.updateIfPresent(byID: first.id, in: .localAndRemote) {
          ($0.step, $0.part) = (3, nil)
        }
      }
    }
  }

  @Test func `an entity made by a repeated write stays when the next one is refused`()
    async throws
  {
    try await RefusedJobs.run { run in
      let statuses = Locked([422, 204, 422])
      run.server.answer(.put, "/jobs/1") { _ in
        APIResponse(status: statuses.withLock { $0.removeFirst() })
      }
      let made = RefusedJob.numbered("1", "new")
      try await run.queue {
        try await run.jobs.set(made, in: .localAndRemote)
        try await run.jobs.set(made, in: .localAndRemote)
        try await run.jobs.updateIfPresent(byID: made.id, in: .localAndRemote) {
          $0.title = "newer"
        }
      }
      #expect(try await run.jobs.all().entities == [made])
    }
  }

  @Test func `a removal by the former name is taken back`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(
        .post, "/jobs", with: APIResponse(status: 201, headers: ["Location": "/jobs/7"]))
      run.server.answer(.delete, "/jobs/7", with: APIResponse(status: 403))
      let made = RefusedJob(id: .local("a"), title: "New")
      try await run.jobs.set(made, in: .localAndRemote).confirmed()
      let removal = try await run.jobs.remove(atID: made.id, in: .localAndRemote)
      await #expect(throws: APIError.self) { try await removal.confirmed() }
      #expect(try await run.jobs.all().entities == [.numbered("7", "New")])
    }
  }

  /// A job that was made and changed, all refused.
  private func withRefused(
    _ body: (RefusedJobs, _ numbers: [UInt64]) async throws -> Void
  ) async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.post, "/jobs", with: APIResponse(status: 422))
      let made = RefusedJob(id: .local("a"), title: "made", part: RefusedPart(id: "p", text: "x"))
      try await run.queue {
        try await run.jobs.set(made, in: .localAndRemote)
        try await run.jobs.updateIfPresent(byID: made.id, in: .localAndRemote) {
          $0.title = "first"
        }
        try await run.jobs.updateIfPresent(byID: made.id, in: .localAndRemote) { $0.step = 2 }
      }
      #expect(try await run.jobs.all().entities.isEmpty)
      run.server.answer(.post, "/jobs") { request in
        var job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
        job.id = .remote("7")
        return APIResponse(status: 200, body: try JSONEncoder().encode(job))
      }
      run.server.answer(.put, "/jobs/7") {
        APIResponse(status: 200, body: $0.body?.bytes ?? Data())
      }
      let queue = try #require(run.container.clientQueue)
      try await body(run, try queue.requests().map(\.id))
    }
  }

  @Test(arguments: [true, false])
  func `a refused creation and its change are both repeated`(isAtOnce: Bool) async throws {
    try await withRefused { run, numbers in
      let queue = try #require(run.container.clientQueue)
      if isAtOnce {
        try await run.queue { for number in numbers { try await queue.retry(number) } }
      } else {
        for number in numbers { try await run.queue { try await queue.retry(number) } }
      }
      let all = RefusedJob(
        id: .remote("7"), title: "first", step: 2, part: RefusedPart(id: "p", text: "x"))
      let here = try await run.jobs.all().entities
      #expect(here == [all])
      let sent = try #require(run.server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(RefusedJob.self, from: sent) == all)
      #expect(try queue.requests().isEmpty)
    }
  }

  @Test func `a repeated change is sent after the request that makes the entity`() async throws {
    try await withRefused { run, numbers in
      let queue = try #require(run.container.clientQueue)
      let before = run.server.requests.count
      try await run.queue { try await queue.retry(numbers[1]) }
      #expect(run.server.requests.dropFirst(before).map(\.method) == [.post, .put])
      let job = RefusedJob(
        id: .remote("7"), title: "first", part: RefusedPart(id: "p", text: "x"))
      #expect(try await run.jobs.all().entities == [job])
      #expect(try await queue.retry(numbers[0]) == false)
      try await run.queue { try await queue.retry(numbers[2]) }
      #expect(try await run.jobs.all().entities.map(\.step) == [2])
      #expect(try queue.requests().isEmpty)
    }
  }

  @Test func `a request in flight can't be dropped, and its entity gets its name`() async throws {
    try await withRefused { run, numbers in
      let queue = try #require(run.container.clientQueue)
      run.server.hold()
      let count = run.server.requests.count
      #expect(try await queue.retry(numbers[0]))
      await run.server.received(count + 1)
      let sent = try #require(try queue.requests().first { $0.state == .inFlight }?.id)
      #expect(try await queue.drop(sent) == false)
      run.server.release()
      try await run.queue {}
      #expect(try await run.jobs.all().entities.map(\.id) == [.remote("7")])
    }
  }
}
