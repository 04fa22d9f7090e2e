import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Writes in the context `.remote()`, which change nothing locally before the answer.
@Suite struct ServerOnlyWritesTests {
  private let id = EntityIdentifier<RefusedJob>.remote("1")
  private let new = RefusedJob(id: .remote("1"), title: "new", step: 2)

  /// Runs `body` with a job that the server has sent, and the titles that the server was sent.
  private func with(
    _ body: (RefusedJobs, APIClientQueue, Locked<[String]>) async throws -> Void
  ) async throws {
    try await RefusedJobs.run { fixture in
      let old = try JSONEncoder().encode(RefusedJob.numbered("1", "old"))
      fixture.server.answer(.get, "/jobs/1", with: APIResponse(status: 200, body: old))
      _ = try await fixture.jobs.get(byID: id, in: .remote())
      try await body(fixture, try #require(fixture.container.clientQueue), Locked([]))
    }
  }

  private func state(_ fixture: RefusedJobs) async throws -> SynchronizationState {
    try await fixture.store.read { try $0.synchronizationState(of: id) }
  }

  /// Waits until the queue sends nothing more.
  private func settle(_ queue: APIClientQueue) async throws {
    while try queue.requests().contains(where: { $0.state != .failed }) { await Task.yield() }
  }

  /// The request was made again of the stored job, which lacks the write, and was confirmed as if it had it.
  @Test func `a write behind a refused one is sent as the caller made it`() async throws {
    try await with { fixture, queue, sent in
      fixture.server.answer(.put, "/jobs/1") { request in
        let job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
        sent.withLock { $0.append(job.title) }
        if job.title == "bad" { return APIResponse(status: 422) }
        return APIResponse(status: 200, body: request.body?.bytes ?? Data())
      }
      fixture.server.hold()
      try await fixture.jobs.updateIfPresent(byID: id, in: .localAndRemote) { $0.title = "bad" }
      async let written = fixture.jobs.set(new, in: .remote())
      while try queue.requests().count < 2 { await Task.yield() }
      fixture.server.release()
      #expect(try await written.confirmed() == new)
      #expect(sent.withLock { $0 } == ["bad", "new"])
      #expect(try await fixture.jobs.get(byID: id) == new)
    }
  }

  /// The removal that waited counted as a local one, which keeps the undo from restoring the job.
  @Test func `a removal that waits leaves the undo of an earlier write`() async throws {
    try await with { fixture, queue, _ in
      fixture.server.answer(.put, "/jobs/1", with: APIResponse(status: 422))
      fixture.server.answer(.delete, "/jobs/1", with: APIResponse(status: 409))
      fixture.server.hold()
      try await fixture.jobs.updateIfPresent(byID: id, in: .localAndRemote) { $0.title = "bad" }
      let removal = Task { try await fixture.jobs.remove(atID: id, in: .remote()).confirmed() }
      while try queue.requests().count < 2 { await Task.yield() }
      fixture.server.release()
      await #expect(throws: APIError.self) { try await removal.value }
      #expect(try await fixture.jobs.get(byID: id)?.title == "old")
      #expect(try await state(fixture) == .synced)
    }
  }

  /// The refused request marked the job, which no answer could replace or remove any more.
  @Test func `a refused write leaves the entity as the server has sent it`() async throws {
    try await with { fixture, queue, _ in
      fixture.server.answer(.put, "/jobs/1", with: APIResponse(status: 409))
      await #expect(throws: APIError.self) { try await fixture.jobs.set(new, in: .remote()) }
      #expect(try await state(fixture) == .synced)
      #expect(try queue.requests().map(\.isUndone) == [true])
      fixture.server.answer(.get, "/jobs", with: APIResponse(status: 200, body: Data("[]".utf8)))
      _ = try await fixture.jobs.all(in: .remote(persistenceStrategy: .discardExtraLocalData))
      #expect(try await fixture.jobs.all().isEmpty)
    }
  }

  /// The repeated request sent the stored job, which lacks the write.
  @Test func `a refused write is sent again as the caller made it`() async throws {
    try await with { fixture, queue, sent in
      fixture.server.answer(.put, "/jobs/1") { request in
        let job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
        let count = sent.withLock { sent in
          sent.append(job.title)
          return sent.count
        }
        if count == 1 { return APIResponse(status: 409) }
        return APIResponse(status: 200, body: request.body?.bytes ?? Data())
      }
      await #expect(throws: APIError.self) { try await fixture.jobs.set(new, in: .remote()) }
      // The answer to the repeated request is newer than this one.
      _ = try await fixture.jobs.get(byID: id, in: .remote())
      fixture.server.hold()
      #expect(try await queue.retry(try #require(try queue.requests().first).id))
      #expect(try await fixture.jobs.get(byID: id)?.title == "old")
      fixture.server.release()
      try await settle(queue)
      #expect(sent.withLock { $0 } == ["new", "new"])
      #expect(try await fixture.jobs.get(byID: id) == new)
    }
  }

  /// The repeated request removed the job at once, and its second refusal did not restore it.
  @Test func `a refused removal that is sent again removes nothing before the answer`() async throws
  {
    try await with { fixture, queue, _ in
      let left = Locked([409, 409, 204])
      fixture.server.answer(.delete, "/jobs/1") { _ in
        APIResponse(status: left.withLock { $0.removeFirst() })
      }
      await #expect(throws: APIError.self) {
        try await fixture.jobs.remove(atID: id, in: .remote())
      }
      for isThere in [true, false] {
        fixture.server.hold()
        #expect(try await queue.retry(try #require(try queue.requests().first).id))
        #expect(try await fixture.jobs.get(byID: id)?.title == "old")
        fixture.server.release()
        try await settle(queue)
        #expect(try await (fixture.jobs.get(byID: id) != nil) == isThere)
        if isThere { #expect(try await state(fixture) == .synced) }
      }
    }
  }

  /// The stored job kept its former value, and was still synced.
  @Test(arguments: [false, true])
  func `the sent entity is stored if the answer has none`(isRestarted: Bool) async throws {
    try await with { fixture, queue, _ in
      fixture.server.answer(.put, "/jobs/1", with: APIResponse(status: 204))
      guard isRestarted else {
        #expect(try await fixture.jobs.set(new, in: .remote()).confirmed() == new)
        #expect(try await fixture.jobs.get(byID: id) == new)
        #expect(try await state(fixture) == .synced)
        return
      }
      fixture.server.isOffline = true
      _ = try await fixture.jobs.set(new, in: .remote())
      #expect(try await fixture.jobs.get(byID: id)?.title == "old")
      await fixture.container.close()
      fixture.server.isOffline = false
      let container = try CoreManagerContainer(
        entities: RefusedJob.self, RefusedTeam.self, client: fixture.server,
        diskStoreConfig: .store(fixture.store))
      try await settle(try #require(container.clientQueue))
      #expect(try await container[RefusedJob.self].get(byID: id) == new)
      #expect(try await state(fixture) == .synced)
      await container.close()
    }
  }

  /// Nothing was stored, and the caller got nothing.
  @Test func `a created entity is stored if the answer has only its identifier`() async throws {
    try await with { fixture, _, _ in
      fixture.server.answer(
        .post, "/jobs", with: APIResponse(status: 201, headers: ["Location": "/jobs/7"]))
      let made = RefusedJob(id: .local("a"), title: "new", part: RefusedPart(id: "p", text: "x"))
      let written = try await fixture.jobs.set(made, in: .remote()).confirmed()
      #expect(written == made.withIdentifier(.remote("7")))
      #expect(try await fixture.jobs.get(byID: .remote("7")) == written)
      let state = try await fixture.store.read { try $0.synchronizationState(of: written.id) }
      #expect(state == .synced)
    }
  }
}
