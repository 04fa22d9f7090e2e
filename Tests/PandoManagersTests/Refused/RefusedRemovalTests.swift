import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

/// What becomes of removals that the server refuses, where others change the same nodes.
@Suite struct RefusedRemovalTests {
  private let team = RefusedTeam(
    id: .remote("t"), jobs: [.numbered("1"), .numbered("2"), .numbered("3")])

  @Test(arguments: [204, 403])
  func `of two removed at once what is refused is back`(other: Int) async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.delete, "/jobs/1", with: APIResponse(status: 403))
      run.server.answer(.delete, "/jobs/2", with: APIResponse(status: other))
      try await run.teams.set(team)
      try await run.queue {
        try await run.jobs.remove([.remote("1"), .remote("2")], in: .localAndRemote)
      }
      let left = other == 204 ? ["1", "3"] : ["1", "2", "3"]
      #expect(try await run.teams.get(byID: team.id)?.jobs.map(\.id.text) == left)
      #expect(Set(try await run.jobs.all().entities.map(\.id.text)) == Set(left))
      #expect(try run.store.read { try $0.synchronizationState(of: "RefusedJob:1") } == .synced)
      #expect(try run.store.verify().problems.isEmpty)
    }
  }

  @Test func `of two removed one after another each is back at its place`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.delete, "/jobs/1", with: APIResponse(status: 403))
      run.server.answer(.delete, "/jobs/2", with: APIResponse(status: 403))
      try await run.teams.set(team)
      try await run.queue {
        try await run.jobs.remove(atID: .remote("1"), in: .localAndRemote)
        try await run.jobs.remove(atID: .remote("2"), in: .localAndRemote)
      }
      #expect(try await run.teams.get(byID: team.id) == team)
    }
  }

  @Test func `who held what was removed comes back with it`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.delete, "/jobs/1", with: APIResponse(status: 403))
      run.server.answer(.delete, "/teams/t", with: APIResponse(status: 403))
      try await run.teams.set(team)
      try await run.queue {
        try await run.jobs.remove(atID: .remote("1"), in: .localAndRemote)
        try await run.teams.remove(atID: team.id, in: .localAndRemote)
      }
      #expect(try await run.teams.all().entities == [team])
    }
  }
}
