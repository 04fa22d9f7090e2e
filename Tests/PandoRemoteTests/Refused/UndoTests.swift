import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures
@testable import PandoRemote

/// What becomes of a write that the server refuses.
@Suite struct UndoTests {
  /// A node inside an entity.
  struct Person: Model, Codable, Equatable {
    static let modelTypeName = "UndoPerson"
    var id: String
    var name: String
    var modelIdentifier: String? { "UndoPerson:\(id)" }
  }

  enum Phase: Codable, Equatable {
    case waiting(since: Int)
    case running(step: Int)
    case done(by: String)
    case paused(by: Person)
    case blocked(by: Person)
  }

  struct Vote: Codable, Equatable { var points: Int }

  struct Job: PersistentEntity, MutableEntity {
    static let modelTypeName = "Job"
    static let endpoint: APIPath = "/jobs"
    var id: EntityIdentifier<Job>
    var title = ""
    var step = 0
    var phase: Phase?
    var tags: [String] = []
    var owner: Person?
    var parts: [Person] = []
    var votes: [String: Vote]?

    func withIdentifier(_ id: EntityIdentifier<Job>) -> Job {
      var job = self
      job.id = id
      return job
    }
  }

  /// The same, which keeps what the server refuses.
  struct Draft: PersistentEntity, MutableEntity {
    static let modelTypeName = "UndoDraft"
    static let endpoint: APIPath = "/drafts"
    static var refusalPolicy: RefusalPolicy { .keep }
    var id: EntityIdentifier<Draft>
    var title = ""

    func withIdentifier(_ id: EntityIdentifier<Draft>) -> Draft { Draft(id: id, title: title) }
  }

  let server = APIClientDouble()
  let seven = EntityIdentifier<Job>.remote("7")

  func withJobs(
    _ body: (CoreManagerContainer, CoreManager<Job>, ModelStore) async throws -> Void
  ) async throws {
    server.answer(.put, "/jobs/7", with: APIResponse(status: 422))
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Job.self, Draft.self, Plan.self, client: server,
        diskStoreConfig: .store(store))
      try await body(container, container[Job.self], store)
      await container.close()
    }
  }

  /// The JSON of a request's content.
  func sent(_ request: APIRequest) throws -> Job {
    try JSONDecoder().decode(Job.self, from: #require(request.body?.bytes))
  }

  func refusal(_ written: Written<Job>?) async -> APIError? {
    await apiError { try await written?.confirmed() }
  }

  @Test func `a refused change is undone, and later changes of others stay`() async throws {
    try await withJobs { container, jobs, store in
      let ada = Person(id: "a", name: "Ada")
      try await jobs.set(Job(id: seven, title: "Dig", tags: ["x"], owner: ada, parts: [ada]))
      server.isOffline = true
      let written = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.title = "Dig!"
        job.tags.append("refused")
        job.owner?.name = "Ada L."
        job.parts = []
        job.step = 1
      }
      // Of others, without the server.
      try await jobs.updateIfPresent(byID: seven) { job in
        job.step = 2
        job.tags.append("later")
      }
      #expect(try await store.read { try $0.synchronizationState(of: seven) } == .pending)
      server.isOffline = false
      container.clientQueue?.flush()
      let error = await refusal(written)
      #expect(error?.status == 422)
      #expect(error.map { "\($0)".contains("PUT /jobs/7") } == true)
      let found = try await jobs.get(byID: seven)
      let expected = Job(
        id: seven, title: "Dig", step: 2, tags: ["x", "later"], owner: ada, parts: [ada])
      #expect(found == expected)
      #expect(try await !store.read { try $0.hasQueuedRequests(for: seven.modelIdentifier) })
      #expect(try await store.read { try $0.hasQueuedRequests(for: "Job:7") } == false)
      let kept = try await store.read { try $0.queuedRequests() }
      #expect(kept.map(\.isUndone) == [true])
      #expect(kept.map(\.state) == [.failed])
    }
  }

  @Test func `a case that others have set since a refused change stays`() async throws {
    try await withJobs { container, jobs, store in
      try await jobs.set(Job(id: seven, title: "Dig", phase: .waiting(since: 1)))
      server.isOffline = true
      let written = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.phase = .running(step: 1)
      }
      try await jobs.updateIfPresent(byID: seven) { $0.phase = .done(by: "Ada") }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(written)?.status == 422)
      let found = try await jobs.get(byID: seven)
      #expect(found == Job(id: seven, title: "Dig", phase: .done(by: "Ada")))
    }
  }

  @Test func `a case with a node that others have set since a refused change stays`() async throws {
    try await withJobs { container, jobs, store in
      let (ada, bo) = (Person(id: "a", name: "Ada"), Person(id: "b", name: "Bo"))
      try await jobs.set(Job(id: seven, title: "Dig", phase: .waiting(since: 1)))
      server.isOffline = true
      let written = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.phase = .paused(by: ada)
      }
      try await jobs.updateIfPresent(byID: seven) { $0.phase = .blocked(by: bo) }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(written)?.status == 422)
      let found = try await jobs.get(byID: seven)
      #expect(found == Job(id: seven, title: "Dig", phase: .blocked(by: bo)))
    }
  }

  @Test func `the only entry of a dictionary is restored beside later entries`() async throws {
    try await withJobs { container, jobs, store in
      try await jobs.set(Job(id: seven, title: "Dig", votes: ["ada": Vote(points: 1)]))
      server.isOffline = true
      let written = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.votes = ["bo": Vote(points: 2)]
      }
      try await jobs.updateIfPresent(byID: seven) { $0.votes = ["cy": Vote(points: 3)] }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(written)?.status == 422)
      let votes = ["ada": Vote(points: 1), "cy": Vote(points: 3)]
      #expect(try await jobs.get(byID: seven) == Job(id: seven, title: "Dig", votes: votes))
    }
  }

  @Test func `a refused move is undone beside elements added by others`() async throws {
    try await withJobs { container, jobs, store in
      let (ada, bo, cy) = (
        Person(id: "a", name: "Ada"), Person(id: "b", name: "Bo"), Person(id: "c", name: "Cy")
      )
      try await jobs.set(Job(id: seven, title: "Dig", parts: [ada, bo]))
      server.isOffline = true
      let written = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) {
        $0.parts.reverse()
      }
      try await jobs.updateIfPresent(byID: seven) { $0.parts.append(cy) }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(written)?.status == 422)
      #expect(try await jobs.get(byID: seven)?.parts == [ada, bo, cy])
    }
  }

  @Test func `a write that a former version has queued is taken back`() async throws {
    try await withJobs { container, jobs, store in
      let ada = Person(id: "a", name: "Ada")
      try await jobs.set(Job(id: seven, title: "Dig", step: 1, owner: ada))
      server.isOffline = true
      let written = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.title = "refused"
        job.owner = nil
      }
      try await jobs.updateIfPresent(byID: seven) { $0.step = 2 }
      // The row as that version has it: records as lossless JSON.
      func json(_ title: String, _ owner: String) -> String {
        #"[{"$node":["Job:7","Job",{"id":"7",\#(owner)"parts":[],"step":1,"#
          + #""tags":[],"title":"\#(title)"}]}]"#
      }
      let undo = FormerUndo(nodes: [
        FormerUndo.Node(
          identifier: "Job:7",
          before: json("Dig", #""owner":{"$reference":["UndoPerson:a","UndoPerson"]},"#),
          after: json("refused", #""owner":null,"#)),
        FormerUndo.Node(
          identifier: "UndoPerson:a",
          before: #"[{"$node":["UndoPerson:a","UndoPerson",{"id":"a","name":"Ada"}]}]"#),
      ])
      try await store.write { transaction in
        let rows = QueueRows(transaction)
        var entry = try #require(try QueueTable.entry(1, in: rows))
        entry.undo = Data(try QueueTable.encode(undo))
        try rows.setValue(entry.name, to: QueueTable.encode(entry))
      }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(written)?.status == 422)
      let found = try await jobs.get(byID: seven)
      #expect(found == Job(id: seven, title: "Dig", step: 2, owner: ada))
    }
  }

  private struct FormerUndo: Codable {
    struct Node: Codable {
      var identifier: String
      var before: String
      var after: String?
    }

    var nodes: [Node]
    var sendsEntity = true
  }

  @Test func `later writes of the same entity are made as if the refused one had never been`()
    async throws
  {
    try await withJobs { container, jobs, store in
      let bodies = Locked<[Job]>([])
      server.answer(.put, "/jobs/7") { request in
        let job = try JSONDecoder().decode(Job.self, from: request.body?.bytes ?? Data())
        bodies.withLock { $0.append(job) }
        return APIResponse(status: job.step == 2 ? 200 : 422)
      }
      try await jobs.set(Job(id: seven, title: "Dig", tags: ["x"]))
      server.isOffline = true
      let first = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.title = "refused"
        job.tags.append("refused")
        job.step = 1
      }
      let second = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.tags.append("good")
        job.step = 2
      }
      let third = try await jobs.updateIfPresent(byID: seven, in: .localAndRemote) { job in
        job.title = "refused, too"
        job.step = 3
      }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(first)?.status == 422)
      try await second?.confirmed()
      #expect(await refusal(third)?.status == 422)
      let sent = bodies.withLock { $0 }
      #expect(sent.map(\.title) == ["refused", "Dig", "refused, too"])
      #expect(sent.map(\.tags) == [["x", "refused"], ["x", "good"], ["x", "good"]])
      let found = try await jobs.get(byID: seven)
      #expect(found == Job(id: seven, title: "Dig", step: 2, tags: ["x", "good"]))
    }
  }

  @Test func `a refused creation is removed with all later changes of the entity`() async throws {
    try await withJobs { container, jobs, store in
      server.answer(.post, "/jobs", with: APIResponse(status: 409))
      server.isOffline = true
      let made = Job(id: .local("a"), title: "New", owner: Person(id: "b", name: "Bo"))
      let first = try await jobs.set(made, in: .localAndRemote)
      let second = try await jobs.updateIfPresent(byID: made.id, in: .localAndRemote) {
        $0.title = "Newer"
      }
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(await refusal(first)?.status == 409)
      #expect(await refusal(second)?.code == .localIdentifier)
      #expect(try await jobs.all().entities.isEmpty)
      #expect(try await store.read { try $0.contains("UndoPerson:b") } == false)
      #expect(try await !store.read { try $0.hasQueuedRequests(for: made.id.modelIdentifier) })
      #expect(try store.verify().problems.isEmpty)
    }
  }

  @Test func `an entity that a server refuses to remove is restored in its place`() async throws {
    try await withJobs { container, jobs, store in
      server.answer(.delete, "/jobs/7", with: APIResponse(status: 403))
      let job = Job(id: seven, title: "Dig", owner: Person(id: "a", name: "Ada"))
      try await jobs.set([Job(id: .remote("6")), job, Job(id: .remote("8"))])
      try await store.write { transaction in
        try transaction.set(Team("1", lead: job, jobs: [Job(id: .remote("6")), job]))
        try transaction.set(Shift("1", job: job))
        try transaction.setCollection(
          "todo", to: [Job(id: .remote("6")), job, Job(id: .remote("8"))])
      }
      server.isOffline = true
      let removed = try await jobs.remove(atID: seven, in: .localAndRemote)
      #expect(try await store.read { try $0.contains("Job:7") } == false)
      #expect(
        try await store.read { try $0.contains("Shift:1") } == false, "it can't be without it")
      #expect(try await store.read { try $0.collection("todo", as: Job.self) }?.count == 2)
      server.isOffline = false
      container.clientQueue?.flush()
      let error = await apiError { try await removed.confirmed() }
      #expect(error?.status == 403)
      #expect(try await jobs.get(byID: seven) == job)
      let (team, shift, list) = try await store.read { snapshot in
        (
          try snapshot.get("Team:1", as: Team.self),
          try snapshot.get("Shift:1", as: Shift.self),
          try snapshot.collection("todo", as: Job.self)
        )
      }
      #expect(team == Team("1", lead: job, jobs: [Job(id: .remote("6")), job]))
      #expect(shift == Shift("1", job: job))
      #expect(list?.map(\.id.text) == ["6", "7", "8"])
      #expect(try store.verify().problems.isEmpty)
    }
  }

  private struct Team: Model, Codable, Equatable {
    static let modelTypeName = "Team"
    var id: String
    var lead: Job?
    var jobs: [Job]
    var modelIdentifier: String? { "Team:\(id)" }

    init(_ id: String, lead: Job?, jobs: [Job]) {
      (self.id, self.lead, self.jobs) = (id, lead, jobs)
    }
  }

  private struct Shift: Model, Codable, Equatable {
    static let modelTypeName = "Shift"
    var id: String
    var job: Job
    var modelIdentifier: String? { "Shift:\(id)" }

    init(_ id: String, job: Job) { (self.id, self.job) = (id, job) }
  }
}
