import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// An entity that, after refusals, again equals what a server has sent is `synced`.
@Suite struct SyncedAgainTests {
  private let id = EntityIdentifier<RefusedJob>.remote("1")
  private let old = RefusedJob.numbered("1", "old")

  /// Runs `body` with a job that the server has sent; the server refuses writes with a title that begins with "bad".
  private func with(_ body: (RefusedJobs, APIClientQueue) async throws -> Void) async throws {
    try await RefusedJobs.run { run in
      try await read(old, run)
      run.server.answer(.put, "/jobs/1") { request in
        let job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
        return APIResponse(status: job.title.hasPrefix("bad") ? 422 : 204)
      }
      try await body(run, try #require(run.container.clientQueue))
    }
  }

  private func read(_ job: RefusedJob, _ run: RefusedJobs) async throws {
    run.server.answer(
      .get, "/jobs/1", with: APIResponse(status: 200, body: try JSONEncoder().encode(job)))
    _ = try await run.jobs.get(byID: id, in: .remote())
  }

  /// The job is as the server has it, so a complete answer without it removes it.
  private func expectSynced(_ job: RefusedJob, _ run: RefusedJobs) async throws {
    #expect(try await run.jobs.get(byID: id) == job)
    #expect(try await run.store.read { try $0.synchronizationState(of: id) } == .synced)
    run.server.answer(.get, "/jobs", with: APIResponse(status: 200, body: Data("[]".utf8)))
    _ = try await run.jobs.all(in: .remote(persistenceStrategy: .discardExtraLocalData))
    #expect(try await run.jobs.all().entities.isEmpty)
  }

  /// The answer to the first write counted for the next request only, and that one had no local part.
  @Test func `a write to the server alone between an accepted and a refused write`() async throws {
    try await with { run, queue in
      run.server.hold()
      try await run.update(0) { $0.title = "new" }
      let alone = Task {
        try await run.jobs.set(.numbered("1", "bad alone"), in: .remote()).confirmed()
      }
      while try queue.requests().count < 2 { await Task.yield() }
      try await run.update(0) { $0.title = "bad" }
      run.server.release()
      await #expect(throws: APIError.self) { try await alone.value }
      try await run.queue {}
      try await expectSynced(.numbered("1", "new"), run)
    }
  }

  @Test func `an accepted write to the server alone before a refused write`() async throws {
    try await with { run, queue in
      run.server.hold()
      let alone = Task { try await run.jobs.set(.numbered("1", "new"), in: .remote()).confirmed() }
      while try queue.requests().isEmpty { await Task.yield() }
      try await run.update(0) { $0.title = "bad" }
      run.server.release()
      _ = try await alone.value
      try await run.queue {}
      try await expectSynced(.numbered("1", "new"), run)
    }
  }

  /// The answer to the first write counted for the request that contains the job, and not for the one behind that.
  @Test func `a write that contains the entity between an accepted and a refused write`()
    async throws
  {
    try await with { run, _ in
      run.server.answer(.put, "/teams/t", with: APIResponse(status: 204))
      try await run.teams.set(RefusedTeam(id: .remote("t")))
      try await run.queue {
        try await run.update(0) { $0.title = "new" }
        let job = try await run.jobs.get(byID: id)
        try await run.teams.updateIfPresent(byID: .remote("t"), in: .localAndRemote) {
          $0.lead = job
        }
        try await run.update(0) { $0.title = "bad" }
      }
      try await expectSynced(.numbered("1", "new"), run)
    }
  }

  /// The repeated write had the state from before its first attempt.
  @Test func `a write that is refused again after a read`() async throws {
    try await with { run, queue in
      try await run.jobs.set(.numbered("1", "mine"))
      try await run.queue { try await run.update(0) { $0.title = "bad" } }
      #expect(try await run.store.read { try $0.synchronizationState(of: id) } == .unsynced)
      let newer = RefusedJob(id: id, title: "mine", step: 3)
      try await read(newer, run)
      let number = try #require(try queue.requests().first?.id)
      try await run.queue { _ = try await queue.retry(number) }
      try await expectSynced(newer, run)
    }
  }

  /// The repeated write had the state from before its first attempt.
  @Test func `a write that is refused again after a local change`() async throws {
    try await with { run, queue in
      try await run.queue { try await run.update(0) { $0.title = "bad" } }
      try await run.jobs.updateIfPresent(byID: id) { $0.step = 7 }
      let number = try #require(try queue.requests().first?.id)
      try await run.queue { _ = try await queue.retry(number) }
      let mine = RefusedJob(id: id, title: "old", step: 7)
      #expect(try await run.jobs.get(byID: id) == mine)
      #expect(try await run.store.read { try $0.synchronizationState(of: id) } == .unsynced)
    }
  }

  /// The answer to the first write counted for the team alone.
  @Test func `an entity inside another one, which a later write changes`() async throws {
    try await with { run, _ in
      let team = RefusedTeam(id: .remote("t"), lead: old)
      try await run.teams.set(team)
      run.server.answer(.put, "/teams/t") { request in
        let body = request.body?.bytes ?? Data()
        let team = try JSONDecoder().decode(RefusedTeam.self, from: body)
        return team.jobs.isEmpty
          ? APIResponse(status: 200, body: body) : APIResponse(status: 422)
      }
      try await run.queue {
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.lead?.title = "new"
        }
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.jobs = [.numbered("2")]
        }
      }
      try await expectSynced(.numbered("1", "new"), run)
    }
  }

  /// The write between the two contained the change of the first one, which the second one had taken over.
  @Test(arguments: [false, true])
  func `a write between one and another with the same key`(isAccepted: Bool) async throws {
    try await with { run, queue in
      func set(_ title: String, _ step: Int) async throws {
        let job = RefusedJob(id: id, title: title, step: step)
        var request = APIRequest(.put, "/jobs/1", body: try APIBody(json: job))
        request.configuration.uniquingKey = "job 1"
        try await run.jobs.set(
          job, in: .localAndRemote(endpoint: .request(request, payload: .content)))
      }
      let sent = Locked<[String]>([])
      run.server.answer(.put, "/jobs/1") { request in
        let job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
        let count = sent.withLock { sent in
          sent.append("\(job.title) \(job.step)")
          return sent.count
        }
        return APIResponse(status: count == 1 || isAccepted && count == 2 ? 204 : 422)
      }
      run.server.hold()
      try await run.update(0) { $0.title = "first" }
      try await set("a", 0)
      try await run.update(2) { _ in }
      try await set("b", 2)
      run.server.release()
      while try queue.requests().contains(where: { $0.state != .failed }) { await Task.yield() }
      #expect(sent.withLock { $0 } == ["first 0", "first 2", "b 2"])
      try await expectSynced(RefusedJob(id: id, title: "first", step: isAccepted ? 2 : 0), run)
    }
  }

  /// The answer to the creation was read without the type, and counted as malformed.
  @Test func `a created entity whose type reads the answer, before a refused write`() async throws {
    let server = APIClientDouble()
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: SealedJob.self, client: server, diskStoreConfig: .store(store))
      let jobs = container[SealedJob.self]
      server.answer(
        .post, "/sealed",
        with: APIResponse(status: 201, body: Data(#"[{"id":"7","title":"new"},"signature"]"#.utf8)))
      server.answer(.put, "/sealed/7", with: APIResponse(status: 422))
      server.hold()
      let made = try await jobs.set(SealedJob(id: .local("a"), title: "new"), in: .localAndRemote)
      let edited = try await jobs.updateIfPresent(byID: .local("a"), in: .localAndRemote) {
        $0.title = "bad"
      }
      server.release()
      let confirmed = try await made.confirmed()
      #expect(confirmed.id == .remote("7"))
      await #expect(throws: APIError.self) { try await edited?.confirmed() }
      #expect(try await jobs.all().entities == [SealedJob(id: .remote("7"), title: "new")])
      #expect(try await store.read { try $0.synchronizationState(of: confirmed.id) } == .synced)
      await container.close()
    }
  }
}

/// An entity in an envelope, which the type opens.
private struct SealedJob: PersistentEntity, MutableEntity, Equatable {
  static let modelTypeName = "SealedJob"
  static let endpoint: APIPath = "/sealed"
  var id: EntityIdentifier<SealedJob>
  var title: String

  static func payload(for path: RemotePath<SealedJob>) -> RemotePayload<SealedJob> {
    .reading { response in
      var text = String(decoding: response.body, as: UTF8.self)
      if let end = text.lastIndex(of: ",") { text = text[..<end] + "]" }
      return try JSONDecoder().decode([SealedJob].self, from: Data(text.utf8))
    }
  }

  func withIdentifier(_ id: EntityIdentifier<SealedJob>) -> SealedJob {
    SealedJob(id: id, title: title)
  }
}
