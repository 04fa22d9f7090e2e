import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What becomes of nodes inside entities of which the server refuses some writes: here, and in what later
/// requests send.
@Suite struct RefusedNodeTests {
  private let old = RefusedJob(
    id: .remote("1"), title: "old", part: RefusedPart(id: "a", text: "old"))

  @Test func `a refused node is not sent by a later change of it`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1]) {
        try await run.update(1) { $0.part = RefusedPart(id: "a", text: "refused") }
        try await run.update(2) { $0.part?.text = "changed" }
        try await run.update(3) { $0.title = "new" }
      }
      #expect(try await run.jobs.get(byID: old.id)?.title == "new")
    }
  }

  @Test func `a refused change of a node is sent by no later request`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(from: old, refusing: [1]) {
        try await run.update(1) { $0.part?.text = "refused" }
        try await run.update(2) { $0.title = "new" }
      }
      #expect(try await run.jobs.get(byID: old.id)?.part == old.part)
    }
  }

  @Test func `a node that undo restores into a field is sent with its current value`() async throws
  {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(from: old, refusing: [1]) {
        try await run.update(1) { $0.part = RefusedPart(id: "b", text: "refused") }
        try await run.update(2) { $0.title = "new" }
      }
      #expect(try await run.jobs.get(byID: old.id)?.part == old.part)
    }
  }

  @Test func `a node left after a removal is sent with its current value`() async throws {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(from: old, refusing: [1]) {
        try await run.remove()
        try await run.set(1, "refused", part: RefusedPart(id: "a", text: "refused"))
        try await run.update(2) { $0.title = "new" }
      }
      #expect(try await run.jobs.get(byID: old.id)?.title == "new")
    }
  }

  @Test func `a node that a later write restored stays when undo restores its parent`() async throws
  {
    try await RefusedJobs.run { run in
      try await run.expectAgreement(refusing: [1], removals: [422]) {
        try await run.update(1) { $0.part = RefusedPart(id: "a", text: "same") }
        try await run.update(2) { $0.part = nil }
        try await run.update(3) { $0.part = RefusedPart(id: "a", text: "same") }
        try await run.remove()
      }
      #expect(try await run.jobs.get(byID: old.id)?.part?.text == "same")
    }
  }

  @Test func `a parent of a refused node sends its earlier value`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.put, "/jobs/1", with: APIResponse(status: 422))
      run.server.answer(.put, "/teams/t", with: APIResponse(status: 204))
      let team = RefusedTeam(id: .remote("t"), jobs: [old])
      try await run.teams.set(team)
      try await run.queue {
        try await run.update(1) { $0.title = "refused" }
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.jobs.append(.numbered("2"))
        }
      }
      let sent = run.server.requests.last { $0.method == .put && $0.path.text == "/teams/t" }
      let jobs = try JSONDecoder().decode(RefusedTeam.self, from: sent?.body?.bytes ?? Data()).jobs
      #expect(jobs == [old, .numbered("2")])
      #expect(try await run.teams.get(byID: team.id)?.jobs == jobs)
    }
  }

  @Test func `a parent that lost a restored node sends it again`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.delete, "/jobs/1", with: APIResponse(status: 403))
      run.server.answer(.put, "/teams/t", with: APIResponse(status: 204))
      let team = RefusedTeam(id: .remote("t"), jobs: [old, .numbered("2")])
      try await run.teams.set(team)
      try await run.queue {
        try await run.remove()
        try await run.teams.updateIfPresent(byID: team.id, in: .localAndRemote) {
          $0.jobs.append(.numbered("3"))
        }
      }
      let whole = [old, .numbered("2"), .numbered("3")]
      #expect(try await run.teams.get(byID: team.id)?.jobs == whole)
      let sent = run.server.requests.last { $0.method == .put && $0.path.text == "/teams/t" }
      let bytes = sent?.body?.bytes ?? Data()
      #expect(try JSONDecoder().decode(RefusedTeam.self, from: bytes).jobs == whole)
    }
  }

  @Test func `an entity undone to its own accepted write can be removed by an answer`()
    async throws
  {
    try await RefusedJobs.run { run in
      let job = RefusedJob(id: .remote("1"), title: "old", part: RefusedPart(id: "p", text: "old"))
      run.server.answer(
        .get, "/jobs", with: APIResponse(status: 200, body: try JSONEncoder().encode([job])))
      let all = ReadContext<RefusedJob>.remote(persistenceStrategy: .discardExtraLocalData)
      _ = try await run.jobs.all(in: all)
      run.server.answer(.put, "/jobs/1") { request in
        let body = request.body?.bytes ?? Data()
        let sent = try JSONDecoder().decode(RefusedJob.self, from: body)
        return APIResponse(status: sent.part?.text == "old" ? 200 : 422, body: body)
      }
      try await run.queue {
        try await run.update(0) { $0.title = "one" }
        for text in ["two", "three"] { try await run.update(0) { $0.part?.text = text } }
      }
      var accepted = job
      accepted.title = "one"
      #expect(try await run.jobs.all().entities == [accepted])
      run.server.answer(.get, "/jobs", with: APIResponse(status: 200, body: Data("[]".utf8)))
      _ = try await run.jobs.all(in: all)
      #expect(try await run.jobs.all().entities.isEmpty)
    }
  }

  @Test func `an entity undone to a sent value is newer than earlier answers`()
    async throws
  {
    try await RefusedJobs.run { run in
      let old = RefusedJob.numbered("1", "old")
      run.server.answer(
        .get, "/jobs/1", with: APIResponse(status: 200, body: try JSONEncoder().encode(old)))
      _ = try await run.jobs.get(byID: old.id, in: .remote())
      run.server.answer(.put, "/jobs/1") { request in
        let body = request.body?.bytes ?? Data()
        let sent = try JSONDecoder().decode(RefusedJob.self, from: body)
        if sent.title == "refused" { return APIResponse(status: 422) }
        return sent.step == 0 ? APIResponse(status: 204) : APIResponse(status: 200, body: body)
      }
      try await run.queue {
        try await run.update(0) { $0.title = "refused" }
        try await run.update(1) { $0.title = "new" }
        try await run.update(0) { $0.title = "old" }
      }
      #expect(try await run.jobs.get(byID: old.id) == old)
    }
  }
}
