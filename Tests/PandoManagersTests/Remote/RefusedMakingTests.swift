import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

/// What becomes of entities that a server refuses to make, where other writes are about them.
@Suite struct RefusedMakingTests {
  @Test func `what was refused, changed here alone and removed does not come back`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.post, "/jobs", with: APIResponse(status: 422))
      let made = RefusedJob(id: .local("a"), title: "New")
      try await run.queue {
        try await run.jobs.set(made, in: .localAndRemote)
        try await run.jobs.update(byID: made.id) { $0.title = "Newer" }
        try await run.jobs.remove(atID: made.id, in: .localAndRemote)
      }
      #expect(try await run.jobs.all().entities.isEmpty)
    }
  }

  @Test func `all that one request would have made is gone`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/jobs", with: APIResponse(status: 422))
      let both = [RefusedJob.numbered("1"), .numbered("2")]
      let request = APIRequest(.put, "/jobs", body: try APIBody(json: both))
      try await run.queue {
        try await run.jobs.set(both, in: .localAndRemote(endpoint: .request(request)))
        try await run.jobs.update(byID: .remote("2")) { $0.title = "changed here" }
      }
      #expect(try await run.jobs.all().entities.isEmpty)
    }
  }

  /// The server refuses the first of two, and the second one as well where that is said.
  @Test(arguments: [false, true])
  func `what a later write makes as well stays until that is refused`(all: Bool) async throws {
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
      #expect(try run.store.read { try $0.contains("RefusedPart:a") } == !all)
      #expect(try run.store.read { try $0.synchronizationState(of: "RefusedJob:1") } == .synced)
    }
  }
}
