import Foundation
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// What becomes of changes that a server is told of, while it answers to others.
@Suite struct ChangedMeanwhileTests {
  /// An entity that names a job.
  private struct Note: PersistentEntity, MutableEntity, Equatable {
    static let modelTypeName = "MeanwhileNote"
    static let endpoint: APIPath = "/notes"
    static let relationships: [EntityRelationship<Note>] = [.to(\.job, "job")]
    var id: EntityIdentifier<Note>
    var job: EntityIdentifier<RefusedJob>?

    func withIdentifier(_ id: EntityIdentifier<Note>) -> Note { Note(id: id, job: job) }
  }

  /// An entity whose jobs go with it.
  private struct Owner: PersistentEntity, MutableEntity, DeletionRuled, Equatable {
    static let modelTypeName = "MeanwhileOwner"
    static let endpoint: APIPath = "/owners"
    static let deletionRules: [DeletionRule] = [.owned("jobs")]
    var id: EntityIdentifier<Owner>
    var jobs: [RefusedJob]

    func withIdentifier(_ id: EntityIdentifier<Owner>) -> Owner { Owner(id: id, jobs: jobs) }
  }

  /// An entity that keeps what a server refuses.
  private struct Draft: PersistentEntity, MutableEntity, Equatable {
    static let modelTypeName = "MeanwhileDraft"
    static let endpoint: APIPath = "/drafts"
    static var refusalPolicy: RefusalPolicy { .keep }
    var id: EntityIdentifier<Draft>
    var title = ""
    var step = 0
    var part: RefusedPart?

    func withIdentifier(_ id: EntityIdentifier<Draft>) -> Draft {
      Draft(id: id, title: title, step: step, part: part)
    }
  }

  private let server = APIClientDouble()

  private func with(
    onDisk: Bool = true, _ body: (CoreManagerContainer, ModelStore) async throws -> Void
  ) async throws {
    server.answer(.post, "/jobs") { request in
      var job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
      job.id = .remote("7")
      return APIResponse(status: 200, body: try JSONEncoder().encode(job))
    }
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: RefusedJob.self, RefusedTeam.self, Note.self, Owner.self, Draft.self,
        DiskItem.self, client: server, diskStoreConfig: onDisk ? .store(store) : .none)
      try await body(container, store)
      await container.close()
    }
  }

  /// Lets the server answer all that is queued.
  private func settle(_ container: CoreManagerContainer) async throws {
    server.isOffline = false
    let queue = try #require(container.clientQueue)
    while try queue.requests().contains(where: { $0.state != .failed }) {
      queue.flush()
      await Task.yield()
    }
  }

  private func accept(_ path: String) {
    server.answer(.put, path) { APIResponse(status: 200, body: $0.body?.bytes ?? Data()) }
  }

  @Test func `the answer to the first of two requests of a commit leaves the second alone`()
    async throws
  {
    try await with { container, _ in
      let (jobs, one) = (container[RefusedJob.self], EntityIdentifier<RefusedJob>.remote("1"))
      try await jobs.set(.numbered("1"))
      let steps = Locked<[Int]>([])
      server.answer(.put, "/jobs/1") { request in
        let step = try await jobs.get(byID: one)?.step ?? -1
        steps.withLock { $0.append(step) }
        return APIResponse(status: 200, body: request.body?.bytes ?? Data())
      }
      try await container.write { entities in
        try entities.updateIfPresent(RefusedJob.self, one, in: .localAndRemote) { $0.title = "A" }
        try entities.updateIfPresent(RefusedJob.self, one, in: .localAndRemote) { $0.step = 1 }
      }
      try await settle(container)
      #expect(steps.withLock { $0 } == [1, 1])
      let job = RefusedJob(id: one, title: "A", step: 1)
      #expect(try await jobs.get(byID: one) == job)
      let sent = try #require(server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(RefusedJob.self, from: sent) == job)
    }
  }

  @Test(arguments: [true, false])
  func `an entity read before it got its name can be edited afterwards`(
    onDisk: Bool
  ) async throws {
    try await with(onDisk: onDisk) { container, _ in
      let jobs = container[RefusedJob.self]
      let local = EntityIdentifier<RefusedJob>.local("a")
      let made = try await jobs.set(RefusedJob(id: local, title: "A"), in: .localAndRemote)
      let read = try #require(try await jobs.get(byID: local))
      #expect(try await made.confirmed().id == .remote("7"))
      #expect(try await jobs.all().entities.map(\.id) == [.remote("7")])
      var edited = read
      edited.title = "B"
      #expect(try await jobs.set(edited, replacing: read).value.title == "B")
      #expect(try await jobs.updateIfPresent(byID: local) { $0.step = 1 }?.value.step == 1)
      let job = RefusedJob(id: .remote("7"), title: "B", step: 1)
      #expect(try await jobs.all().entities == [job])
      #expect(try await jobs.get(byID: local) == job)
    }
  }

  @Test func `a former identifier in a field becomes the present one`() async throws {
    try await with { container, _ in
      let notes = container[Note.self]
      let made = try await container[RefusedJob.self].set(
        RefusedJob(id: .local("a")), in: .localAndRemote)
      try await made.confirmed()
      try await notes.set(Note(id: .remote("1")))
      try await notes.updateIfPresent(byID: .remote("1")) { $0.job = .local("a") }
      #expect(try await notes.get(byID: .remote("1"))?.job == .remote("7"))
    }
  }

  @Test func `a refused write that named an entity with a number by now is undone`() async throws {
    try await with { container, _ in
      let notes = container[Note.self]
      try await notes.set(Note(id: .remote("1")))
      server.answer(.put, "/notes/1", with: APIResponse(status: 422))
      server.isOffline = true
      try await container[RefusedJob.self].set(RefusedJob(id: .local("a")), in: .localAndRemote)
      try await notes.updateIfPresent(byID: .remote("1"), in: .localAndRemote) {
        $0.job = .local("a")
      }
      try await settle(container)
      #expect(try await notes.get(byID: .remote("1")) == Note(id: .remote("1")))
    }
  }

  @Test func `a changed child waits in order, is pending, and is not undone by a read`()
    async throws
  {
    try await with { container, store in
      let teams = container[RefusedTeam.self]
      let job = RefusedJob.numbered("2", "old")
      for name in ["t", "u", "w"] {
        try await teams.set(RefusedTeam(id: .remote(name), lead: job))
      }
      let other = RefusedTeam(id: .remote("w"), lead: job)
      server.answer(
        .get, "/teams/w", with: APIResponse(status: 200, body: try JSONEncoder().encode(other)))
      func state() throws -> SynchronizationState {
        try store.read { try $0.synchronizationState(of: "RefusedJob:2") }
      }
      let seen = Locked<[String]>([])
      let queue = try #require(container.clientQueue)
      server.answer(.put, "/teams/t") { request in
        // It holds the job as it was: the other one waits, although there are four lanes.
        let states = try queue.requests().map(\.state.rawValue)
        seen.withLock { $0 += states }
        return APIResponse(status: 200, body: request.body?.bytes ?? Data())
      }
      server.answer(.put, "/teams/u") { request in
        _ = try await teams.get(byID: .remote("w"), in: .remote())
        let title = try await container[RefusedJob.self].get(byID: job.id)?.title
        seen.withLock { $0.append(title ?? "") }
        return APIResponse(status: 200, body: request.body?.bytes ?? Data())
      }
      server.isOffline = true
      try await teams.updateIfPresent(byID: .remote("t"), in: .localAndRemote) { $0.jobs = [job] }
      try await teams.updateIfPresent(byID: .remote("u"), in: .localAndRemote) {
        $0.lead?.title = "new"
      }
      #expect(try state() == .pending)
      try await settle(container)
      #expect(seen.withLock { $0 } == ["inFlight", "waiting", "new"])
      #expect(try await container[RefusedJob.self].get(byID: job.id)?.title == "new")
      #expect(try state() == .synced)
    }
  }

  @Test func `of two writes of a commit that change one node the second stays`() async throws {
    try await with { container, store in
      let (teams, job) = (container[RefusedTeam.self], RefusedJob.numbered("2", "old"))
      for name in ["t", "u"] { try await teams.set(RefusedTeam(id: .remote(name), lead: job)) }
      accept("/teams/t")
      server.answer(.put, "/teams/u", with: APIResponse(status: 204))
      server.isOffline = true
      try await container.write { entities in
        for name in ["t", "u"] {
          try entities.updateIfPresent(RefusedTeam.self, .remote(name), in: .localAndRemote) {
            $0.lead?.title = name
          }
        }
      }
      try await settle(container)
      #expect(try await container[RefusedJob.self].get(byID: job.id)?.title == "u")
      let sent = try #require(server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(RefusedTeam.self, from: sent).lead?.title == "u")
      #expect(try await store.read { try $0.synchronizationState(of: "RefusedJob:2") } == .synced)
    }
  }

  @Test func `an entity made and changed in one commit gets its name, keeps the change`()
    async throws
  {
    try await with { container, store in
      let (jobs, one) = (container[RefusedJob.self], EntityIdentifier<RefusedJob>.local("a"))
      accept("/jobs/7")
      try await container.write { entities in
        try entities.set(RefusedJob(id: one, title: "A"), in: .localAndRemote)
        try entities.updateIfPresent(RefusedJob.self, one, in: .localAndRemote) { $0.title = "B" }
      }
      try await settle(container)
      let job = RefusedJob(id: .remote("7"), title: "B")
      #expect(try await jobs.all().entities == [job])
      let sent = try #require(server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(RefusedJob.self, from: sent) == job)
      #expect(try await store.read { try $0.synchronizationState(of: job.id) } == .synced)
    }
  }

  @Test func `a reference to an unknown entity is right after both are sent again`()
    async throws
  {
    try await with { container, store in
      let (jobs, notes) = (container[RefusedJob.self], container[Note.self])
      let job = RefusedJob(id: .local("a"), title: "A")
      try await notes.set(Note(id: .remote("1")))
      let isRefusing = Locked(true)
      server.answer(.post, "/jobs") { _ in
        if isRefusing.withLock({ $0 }) { return APIResponse(status: 422) }
        return APIResponse(status: 201, headers: ["Location": "/jobs/7"])
      }
      accept("/notes/1")
      server.isOffline = true
      try await jobs.set(job, in: .localAndRemote)
      try await notes.updateIfPresent(byID: .remote("1"), in: .localAndRemote) { $0.job = job.id }
      try await settle(container)
      #expect(try await notes.get(byID: .remote("1"))?.job == nil)
      let queue = try #require(container.clientQueue)
      isRefusing.withLock { $0 = false }
      let numbers = try queue.requests().map(\.id)
      #expect(numbers.count == 2)
      for number in numbers {
        #expect(try await queue.retry(number))
        try await settle(container)
      }
      #expect(try await jobs.all().entities.map(\.id) == [.remote("7")])
      #expect(try await notes.get(byID: .remote("1"))?.job == .remote("7"))
      let sent = try #require(server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(Note.self, from: sent).job == .remote("7"))
      #expect(try queue.requests().isEmpty)
      #expect(
        try await store.read { try $0.synchronizationState(of: "MeanwhileNote:1") } == .synced)
    }
  }

  @Test func `in memory, a field that has a former identifier leads to the entity`() async throws {
    try await with(onDisk: false) { container, _ in
      let (jobs, notes) = (container[RefusedJob.self], container[Note.self])
      accept("/notes/1")
      server.isOffline = true
      let made = try await jobs.set(RefusedJob(id: .local("a")), in: .localAndRemote)
      try await notes.set(Note(id: .remote("1"), job: .local("a")))
      try await settle(container)
      try await made.confirmed()
      let note = try #require(try await notes.get(byID: .remote("1")))
      let named = try await jobs.get(byID: try #require(note.job))
      #expect(named?.id == .remote("7"))
      let graph = try await notes.graph()
      #expect(graph.all(of: RefusedJob.self).map(\.id) == [.remote("7")] && graph.missing.isEmpty)
      try await notes.set(note, in: .localAndRemote).confirmed()
      let sent = try #require(server.requests.last?.body?.bytes)
      #expect(try JSONDecoder().decode(Note.self, from: sent).job == .remote("7"))
    }
  }

  @Test func `an answer from before a change of its contents is too late`() async throws {
    try await with { container, _ in
      let (teams, jobs) = (container[RefusedTeam.self], container[RefusedJob.self])
      let team = RefusedTeam(id: .remote("w"), lead: .numbered("2", "old"))
      try await teams.set(team)
      let answer = APIResponse(status: 200, body: try JSONEncoder().encode(team))
      let (asked, confirmed) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
      server.answer(.get, "/teams/w") { _ in
        asked.continuation.finish()
        for await _ in confirmed.stream {}
        return answer
      }
      server.answer(.put, "/jobs/2") { request in
        for await _ in asked.stream {}
        return APIResponse(status: 200, body: request.body?.bytes ?? Data())
      }
      let written = try await jobs.updateIfPresent(byID: .remote("2"), in: .localAndRemote) {
        $0.title = "new"
      }
      async let read = teams.get(byID: team.id, in: .remote())
      try await written?.confirmed()
      confirmed.continuation.finish()
      _ = try await read
      #expect(try await jobs.get(byID: .remote("2"))?.title == "new")
    }
  }

  @Test func `a refused creation is made again with its children`() async throws {
    try await RefusedJobs.run { run in
      run.server.answer(.post, "/jobs", with: APIResponse(status: 422))
      let made = RefusedJob(id: .local("a"), part: RefusedPart(id: "p", text: "x"))
      try await run.queue { try await run.jobs.set(made, in: .localAndRemote) }
      #expect(try await run.jobs.all().entities.isEmpty)
      var named = made
      named.id = .remote("7")
      run.server.answer(
        .post, "/jobs", with: APIResponse(status: 200, body: try JSONEncoder().encode(named)))
      let queue = try #require(run.container.clientQueue)
      try await run.queue {
        let number = try #require(try queue.requests().first?.id)
        #expect(try await queue.retry(number))
        #expect(try await run.jobs.all().entities == [made])
      }
      #expect(try await run.jobs.all().entities == [named])
      #expect(try queue.requests().isEmpty)
    }
  }

  @Test func `a kept write is sent again with its current value`() async throws {
    try await with { container, store in
      let drafts = container[Draft.self]
      let id = EntityIdentifier<Draft>.remote("1")
      try await drafts.set(Draft(id: id))
      server.answer(.put, "/drafts/1", with: APIResponse(status: 422))
      let refused = try await drafts.updateIfPresent(byID: id, in: .localAndRemote) {
        $0.title = "kept"
      }
      #expect(await apiError { try await refused?.confirmed() }?.status == 422)
      accept("/drafts/1")
      try await drafts.updateIfPresent(byID: id, in: .localAndRemote) { $0.step = 2 }?.confirmed()
      let queue = try #require(container.clientQueue)
      let number = try #require(try queue.requests().first?.id)
      #expect(try await queue.retry(number))
      try await settle(container)
      let sent = try #require(server.requests.last?.body?.bytes)
      let all = Draft(id: id, title: "kept", step: 2)
      #expect(try JSONDecoder().decode(Draft.self, from: sent) == all)
      #expect(try await drafts.get(byID: id) == all)
      #expect(try await store.read { try $0.synchronizationState(of: id) } == .synced)
    }
  }

  @Test func `a kept write is marked, also its children`() async throws {
    try await with { container, store in
      let (drafts, id) = (container[Draft.self], EntityIdentifier<Draft>.remote("1"))
      try await drafts.set(Draft(id: id, part: RefusedPart(id: "p", text: "old")))
      server.answer(.put, "/drafts/1", with: APIResponse(status: 422))
      func states() throws -> [SynchronizationState] {
        try store.read { snapshot in
          try ["MeanwhileDraft:1", "RefusedPart:p"].map {
            try snapshot.synchronizationState(of: $0)
          }
        }
      }
      server.isOffline = true
      try await drafts.updateIfPresent(byID: id, in: .localAndRemote) { $0.part?.text = "new" }
      #expect(try states() == [.pending, .pending])
      try await settle(container)
      #expect(try await drafts.get(byID: id)?.part?.text == "new")
      #expect(try states() == [.refused, .refused])
      accept("/drafts/1")
      let queue = try #require(container.clientQueue)
      let number = try #require(try queue.requests().first?.id)
      #expect(try await queue.retry(number))
      #expect(try states() == [.pending, .pending])
      try await settle(container)
      #expect(try states() == [.synced, .synced])
    }
  }

  @Test(arguments: [100, 301, 302, 303, 304, 307, 308])
  func `a redirect that is not followed undoes nothing, and is marked`(status: Int) async throws {
    try await with { container, store in
      let (jobs, job) = (container[RefusedJob.self], RefusedJob.numbered("1"))
      try await jobs.set(job)
      server.answer(.put, "/jobs/1", with: APIResponse(status: status))
      let written = try await jobs.updateIfPresent(byID: job.id, in: .localAndRemote) {
        $0.title = "A"
      }
      let error = await apiError { try await written?.confirmed() }
      #expect(error?.code == .malformedAnswer && error?.status == status)
      #expect(try await jobs.get(byID: job.id)?.title == "A")
      #expect(try await store.read { try $0.synchronizationState(of: job.id) } == .refused)
    }
  }

  @Test func `of several that are asked for, an answer about another one is left out`() async throws
  {
    try await with { container, _ in
      let jobs = container[RefusedJob.self]
      let body = APIResponse(status: 200, body: try JSONEncoder().encode(RefusedJob.numbered("1")))
      for name in ["1", "2", "me"] { server.answer(.get, "/jobs/\(name)", with: body) }
      let both = try await jobs.get(byIDs: [.remote("1"), .remote("2")], in: .remote())
      #expect(both.entities.map(\.id) == [.remote("1")])
      #expect(try await jobs.get(byID: .remote("me"), in: .remote())?.id == .remote("1"))
    }
  }

  @Test func `undo restores owned entities before their owner`() async throws {
    try await with { container, _ in
      let owners = container[Owner.self]
      let owner = Owner(id: .remote("1"), jobs: [.numbered("1"), .numbered("2")])
      server.answer(.delete, "/owners/1", with: APIResponse(status: 403))
      try await owners.set(owner)
      server.isOffline = true
      try await owners.remove(atID: owner.id, in: .localAndRemote)
      #expect(try await container[RefusedJob.self].all().entities.isEmpty)
      try await settle(container)
      #expect(try await owners.all().entities == [owner])
      #expect(try container.clientQueue?.requests().map(\.isUndone) == [true])
    }
  }

  @Test func `stale reads of one question ask once at a time`() async throws {
    try await with { container, _ in
      let items = container[DiskItem.self]
      try await items.set(DiskItem(.remote(1), "A"))
      server.answer(.get, "/items", with: APIResponse(status: 200, body: Data("[]".utf8)))
      server.hold()
      for _ in 0..<20 { _ = try await items.all(in: .staleWhileRevalidate(maxAge: .zero)) }
      await server.received(1)
      server.release()
      await items.drain()
      #expect(server.requests.count == 1)
    }
  }
}
