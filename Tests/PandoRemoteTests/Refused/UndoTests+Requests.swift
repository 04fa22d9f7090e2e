import Foundation
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures
@testable import PandoRemote

/// Answers, restarts and repeated requests.
extension UndoTests {
  @Test func `an answer before the refusal of the next write is not lost`() async throws {
    try await withJobs { container, jobs, _ in
      server.answer(.put, "/jobs/7") { request in
        var job = try sent(request)
        if job.title == "refused" { return APIResponse(status: 422) }
        job.step = 7
        job.owner?.name = "Ada L."
        return APIResponse(status: 200, body: try JSONEncoder().encode(job))
      }
      try await jobs.set(Job(id: seven, title: "Dig", owner: Person(id: "a", name: "Ada")))
      server.isOffline = true
      let first = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) {
        $0.tags = ["x"]
      }
      try await jobs.updateIfPresent(byID: seven) { $0.parts = [Person(id: "b", name: "Bo")] }
      let second = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) {
        $0.title = "refused"
      }
      server.isOffline = false
      container.clientQueue?.flush()
      try await first?.confirmed()
      #expect(await refusal(second)?.status == 422)
      let found = try await jobs.get(byID: seven)
      #expect(found?.title == "Dig")
      #expect(found?.step == 7)
      #expect(found?.tags == ["x"])
      #expect(found?.parts == [Person(id: "b", name: "Bo")])
    }
  }

  /// Whose answers bring jobs with them.
  struct Plan: PersistentEntity, MutableEntity {
    static let modelTypeName = "UndoPlan"
    static let endpoint: APIPath = "/plans"
    var id: EntityIdentifier<Plan>

    static func payload(for path: RemotePath<Plan>) -> RemotePayload<Plan> {
      guard case .search = path else { return .content }
      return .under("plans").including(Job.self, under: "jobs")
    }

    func withIdentifier(_ id: EntityIdentifier<Plan>) -> Plan { Plan(id: id) }
  }

  /// Asks for plans while a write to a job waits; the answer has that job.
  private func withPlansAsked(
    _ body: (
      CoreManager<Job>, Written<Job>, _ answer: () async throws -> Void, _ refuse: () async -> Void
    ) async throws -> Void
  ) async throws {
    let (refuses, answers) = (Signal(), Signal())
    try await withJobs { container, jobs, _ in
      server.answer(.put, "/jobs/7") { _ in
        await refuses.received()
        return APIResponse(status: 422)
      }
      server.answer(.get, "/plans") { _ in
        await answers.received()
        let job = #"{"id":"7","title":"Theirs","step":9,"tags":[],"parts":[]}"#
        return APIResponse(
          status: 200, body: Data(#"{"plans":[{"id":"1"}],"jobs":[\#(job)]}"#.utf8))
      }
      try await jobs.set(Job(id: seven, title: "Dig"))
      let written = try await jobs.set(Job(id: seven, title: "mine"), in: .localAndRemote)
      await server.received(1)
      let plans = Task { try await container[Plan.self].all(in: .remote()).entities.count }
      await server.received(2)
      try await body(jobs, written) {
        answers.send()
        let count = try await plans.value
        #expect(count == 1)
      } _: {
        refuses.send()
        #expect(await refusal(written)?.status == 422)
      }
    }
  }

  @Test func `an answer requested before a refusal is newer than the undone value`() async throws {
    try await withPlansAsked { jobs, written, answer, refuse in
      await refuse()
      #expect(try await jobs.get(byID: seven)?.title == "Dig")
      try await answer()
      #expect(try await jobs.get(byID: seven) == Job(id: seven, title: "Theirs", step: 9))
    }
  }

  @Test func `an answer about another type does not change a waiting write`() async throws {
    try await withPlansAsked { jobs, written, answer, refuse in
      try await answer()
      #expect(try await jobs.get(byID: seven)?.title == "mine")
      await refuse()
      #expect(try await jobs.get(byID: seven)?.title == "Dig")
    }
  }

  @Test func `a write refused after a restart is undone`() async throws {
    server.answer(.put, "/jobs/7", with: APIResponse(status: 422))
    try await withModelStore { store in
      server.isOffline = true
      let first = try CoreManagerContainer(
        entities: Job.self, client: server, diskStoreConfig: .store(store))
      try await first[Job.self].set(Job(id: seven, title: "Dig"))
      try await first[Job.self].set(Job(id: seven, title: "refused"), in: .localAndRemote)
      await first.close()
      server.isOffline = false
      let second = try CoreManagerContainer(
        entities: Job.self, client: server, diskStoreConfig: .store(store))
      var titles = second[Job.self].followAll().makeAsyncIterator()
      var last: [String] = []
      while last != ["Dig"], let next = try await titles.next() {
        last = next.entities.map(\.title)
      }
      #expect(last == ["Dig"])
      await second.close()
    }
  }

  @Test func `an undone write that is sent again is applied again`() async throws {
    try await withJobs { container, jobs, store in
      try await jobs.set(Job(id: seven, title: "Dig"))
      let written = try await jobs.set(Job(id: seven, title: "Dug"), in: .localAndRemote)
      #expect(await refusal(written)?.status == 422)
      #expect(try await jobs.get(byID: seven)?.title == "Dig")
      server.answer(.put, "/jobs/7", with: APIResponse(status: 204))
      let queue = try #require(container.clientQueue)
      let number = try #require(try queue.requests().first?.id)
      // The repeated request also sends this accepted change.
      try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { $0.step = 3 }?.confirmed()
      server.isOffline = true
      var titles = jobs.followAll().makeAsyncIterator()
      #expect(try await titles.next()?.entities.map(\.title) == ["Dig"])
      #expect(try await queue.retry(number))
      #expect(try await titles.next()?.entities.map(\.title) == ["Dug"])
      #expect(try await store.read { try $0.synchronizationState(of: seven) } == .pending)
      server.isOffline = false
      queue.flush()
      while try !queue.requests().isEmpty { await Task.yield() }
      let dug = Job(id: seven, title: "Dug", step: 3)
      #expect(try await jobs.all().entities == [dug])
      #expect(try sent(#require(server.requests.last)) == dug)
    }
  }

  @Test func `a later request with the same key goes back to before both`() async throws {
    try await withJobs { container, jobs, store in
      try await jobs.set(Job(id: seven, title: "Dig", step: 1))
      server.isOffline = true
      let endpoint = { (job: Job) in
        var request = APIRequest(.put, "/jobs/7", body: try APIBody(json: job))
        request.configuration.uniquingKey = "job 7"
        return WriteContext<Job>.localAndRemote(endpoint: .request(request, payload: .content))
      }
      let one = Job(id: seven, title: "One", step: 1)
      try await jobs.set(one, in: endpoint(one))
      let two = Job(id: seven, title: "One", step: 2)
      let written = try await jobs.set(two, in: endpoint(two))
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(written)?.status == 422)
      #expect(try await jobs.get(byID: seven) == Job(id: seven, title: "Dig", step: 1))
    }
  }

  @Test func `one write of a container undoes the refused part and no more`() async throws {
    try await withJobs { container, jobs, store in
      server.answer(.put, "/jobs/8", with: APIResponse(status: 204))
      try await jobs.set([Job(id: seven, title: "7"), Job(id: .remote("8"), title: "8")])
      let written = try await container.write { [seven] entities in
        try entities.updateIfPresent(Job.self, seven, in: .localAndRemote) { $0.title += "!" }
        try entities.updateIfPresent(Job.self, .remote("8"), in: .localAndRemote) {
          $0.title += "!"
        }
        // Not of what the request says.
        try entities.updateIfPresent(Job.self, seven) { $0.step = 4 }
      }
      let error = await apiError { try await written.confirmed() }
      #expect(error?.status == 422)
      let found = try await jobs.all().entities
      #expect(found == [Job(id: seven, title: "7", step: 4), Job(id: .remote("8"), title: "8!")])
    }
  }

  @Test func `an entity that has got the server's name is taken back by it`() async throws {
    try await withJobs { container, jobs, store in
      server.answer(
        .post, "/jobs",
        with: APIResponse(
          status: 200, body: Data(#"{"id":"7","title":"New","step":0,"tags":[],"parts":[]}"#.utf8)))
      server.isOffline = true
      let made = try await jobs.set(Job(id: .local("a"), title: "New"), in: .localAndRemote)
      let written = try await jobs.updateIfPresent(byID: .local("a"), in: .localAndRemote) {
        $0.title = "X"
      }
      server.isOffline = false
      container.clientQueue?.flush()
      try await made.confirmed()
      #expect(await refusal(written)?.status == 422)
      #expect(try await jobs.all().entities == [Job(id: seven, title: "New")])
    }
  }

  @Test func `a type can keep refused writes, and they are marked`() async throws {
    server.answer(.put, "/drafts/1", with: APIResponse(status: 422))
    try await withJobs { container, _, store in
      let drafts = container[Draft.self]
      let id = EntityIdentifier<Draft>.remote("1")
      try await drafts.set(Draft(id: id, title: "a"))
      try await drafts.received(Draft(id: .remote("2"), title: "b"))
      var refused = drafts.follow(
        Query(filter: .synchronizationState(.refused))
      ).makeAsyncIterator()
      #expect(try await refused.next()?.isEmpty == true)
      server.isOffline = true
      let written = try await drafts.set(Draft(id: id, title: "kept"), in: .localAndRemote)
      func titles(_ state: SynchronizationState) async throws -> [String] {
        try await drafts.search(withQuery: Query(filter: .synchronizationState(state))).entities
          .map(\.title)
      }
      #expect(try await titles(.pending) == ["kept"])
      #expect(try await titles(.synced) == ["b"])
      server.isOffline = false
      container.clientQueue?.flush()
      _ = await apiError { try await written.confirmed() }
      #expect(try await titles(.refused) == ["kept"])
      #expect(try await titles(.pending).isEmpty)
      #expect(try await refused.next()?.entities.map(\.title) == ["kept"])
      #expect(try await store.read { try $0.synchronizationState(of: id) } == .refused)
      server.answer(.put, "/drafts/1", with: APIResponse(status: 204))
      let queue = try #require(container.clientQueue)
      let number = try #require(try queue.requests().first?.id)
      #expect(try await queue.retry(number))
      #expect(try await refused.next()?.isEmpty == true)
      #expect(try await store.read { try $0.synchronizationState(of: id) } != .refused)
    }
  }
}
