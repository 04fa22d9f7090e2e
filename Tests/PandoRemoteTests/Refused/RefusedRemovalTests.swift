import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What becomes of removals that the server refuses, where others change the same nodes.
@Suite struct RefusedRemovalTests {
  private let team = RefusedTeam(
    id: .remote("t"), jobs: [.numbered("1"), .numbered("2"), .numbered("3")])

  @Test(arguments: [204, 403])
  func `of two entities removed together, the refused one is restored`(other: Int) async throws {
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
      #expect(try await !run.store.read { try $0.hasQueuedRequests(for: "RefusedJob:1") })
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

  @Test func `a removed parent is restored with its removed child`() async throws {
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

  /// What the server has of a team whose field a refused write has changed, before a job was removed.
  private func expectLead(
    _ lead: String?, _ other: String?, removing job: String, answeredBy status: Int
  ) async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/teams/t", with: APIResponse(status: 422))
      run.server.answer(.delete, "/jobs/\(job)", with: APIResponse(status: status))
      var first = team
      first.lead = lead.map { .numbered($0) }
      try await run.teams.set(first)
      try await run.queue {
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.lead = other.map { .numbered($0) }
        }
        try await run.jobs.remove(atID: .remote(job), in: .localAndRemote)
      }
      if status == 204 {
        if lead == job { first.lead = nil }
        first.jobs.removeAll { $0.id.text == job }
      }
      #expect(try await run.teams.get(byID: team.id) == first)
      for name in ["RefusedTeam:t", "RefusedJob:1", "RefusedJob:2"] {
        #expect(try await !run.store.read { try $0.hasQueuedRequests(for: name) })
      }
      #expect(try run.store.verify().problems.isEmpty)
    }
  }

  @Test(arguments: [204, 403])
  func `a field gets its former node though the new one was removed`(
    status: Int
  ) async throws { try await expectLead("1", "2", removing: "2", answeredBy: status) }

  @Test(arguments: [204, 403])
  func `an emptied field loses a removed node, or gets it back`(
    status: Int
  ) async throws { try await expectLead("2", nil, removing: "2", answeredBy: status) }

  @Test(arguments: [204, 403])
  func `a changed field loses a removed node, or gets it back`(
    status: Int
  ) async throws { try await expectLead("2", "1", removing: "2", answeredBy: status) }

  @Test(arguments: [204, 403])
  func `a field gets back a node that only it held, or loses it by a removal`(
    status: Int
  ) async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/teams/t", with: APIResponse(status: 422))
      run.server.answer(.delete, "/jobs/2", with: APIResponse(status: status))
      let first = RefusedTeam(id: team.id, jobs: [.numbered("1")], lead: .numbered("2"))
      try await run.teams.set(first)
      try await run.queue {
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.lead = .numbered("1")
        }
        try await run.jobs.remove(atID: .remote("2"), in: .localAndRemote)
      }
      let lead = try await run.teams.get(byID: team.id)?.lead
      #expect(lead == (status == 204 ? nil : .numbered("2")))
      #expect(try await !run.store.read { try $0.hasQueuedRequests(for: "RefusedTeam:t") })
    }
  }

  @Test(arguments: [204, 403])
  func `a removed parent is restored without children removed since`(status: Int) async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.delete, "/teams/t", with: APIResponse(status: 403))
      run.server.answer(.delete, "/jobs/2", with: APIResponse(status: status))
      try await run.teams.set(team)
      try await run.queue {
        try await run.teams.remove(atID: team.id, in: .localAndRemote)
        try await run.jobs.remove(atID: .remote("2"), in: .localAndRemote)
      }
      let left = status == 204 ? ["1", "3"] : ["1", "2", "3"]
      #expect(try await run.teams.get(byID: team.id)?.jobs.map(\.id.text) == left)
      #expect(try run.store.verify().problems.isEmpty)
    }
  }

  @Test(arguments: [204, 403])
  func `an element that was taken out and removed is back where the server has it`(
    status: Int
  ) async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/teams/t", with: APIResponse(status: 422))
      run.server.answer(.delete, "/jobs/2", with: APIResponse(status: status))
      try await run.teams.set(team)
      try await run.queue {
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.jobs.remove(at: 1)
        }
        try await run.jobs.remove(atID: .remote("2"), in: .localAndRemote)
      }
      let left = status == 204 ? ["1", "3"] : ["1", "2", "3"]
      #expect(try await run.teams.get(byID: team.id)?.jobs.map(\.id.text) == left)
      #expect(try await !run.store.read { try $0.hasQueuedRequests(for: "RefusedTeam:t") })
    }
  }

  @Test func `a parent written after a removal sends the node restored into its field`()
    async throws
  {
    try await RefusedJobs.run { run in
      let statuses = Locked([422, 204])
      run.server.answer(.put, "/teams/t") { _ in
        APIResponse(status: statuses.withLock { $0.removeFirst() })
      }
      run.server.answer(.delete, "/jobs/2", with: APIResponse(status: 204))
      var first = team
      first.lead = .numbered("1")
      try await run.teams.set(first)
      try await run.queue {
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.lead = .numbered("2")
        }
        try await run.jobs.remove(atID: .remote("2"), in: .localAndRemote)
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.jobs.append(.numbered("4"))
        }
      }
      let sent = run.server.requests.last { $0.method == .put }?.body?.bytes ?? Data()
      let there = try JSONDecoder().decode(RefusedTeam.self, from: sent)
      #expect(there.lead == first.lead && there.jobs.map(\.id.text) == ["1", "3", "4"])
      #expect(try await run.teams.get(byID: team.id) == there)
    }
  }

  @Test(arguments: [204, 403])
  func `an entity that a read stored during its creation is removed with it`(status: Int)
    async throws
  {
    try await RefusedJobs.run { run in
      let (id, server) = (EntityIdentifier<RefusedJob>.local("a"), run.server)
      let made = APIResponse(
        status: 200, body: try JSONEncoder().encode(RefusedJob.numbered("7", "New")))
      let all = APIResponse(
        status: 200, body: try JSONEncoder().encode([RefusedJob.numbered("7", "New")]))
      let (asked, isMade, isRead) = (
        AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream(),
        AsyncStream<Void>.makeStream()
      )
      server.answer(.get, "/jobs") { _ in
        asked.continuation.finish()
        for await _ in isMade.stream {}
        return all
      }
      server.answer(.post, "/jobs") { _ in
        isMade.continuation.finish()
        for await _ in isRead.stream {}
        return made
      }
      server.answer(.put, "/jobs/7", with: APIResponse(status: 204))
      server.answer(.delete, "/jobs/7", with: APIResponse(status: status))
      async let read = run.jobs.all(in: .remote())
      for await _ in asked.stream {}
      try await run.jobs.set(RefusedJob(id: id, title: "New"), in: .localAndRemote)
      _ = try await read
      try await run.jobs.updateIfPresent(byID: id, in: .localAndRemote) { $0.step = 1 }
      try await run.jobs.remove(atID: id, in: .localAndRemote)
      isRead.continuation.finish()
      try await run.queue {}
      let left = RefusedJob(id: .remote("7"), title: "New", step: 1)
      #expect(try await run.jobs.all().entities == (status == 204 ? [] : [left]))
    }
  }
}
