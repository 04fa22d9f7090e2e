import FoundationEssentials
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// An entity that others hold.
struct RefusedJob: PersistentEntity, MutableEntity, Equatable {
  static let modelTypeName = "RefusedJob"
  static let endpoint: APIPath = "/jobs"
  var id: EntityIdentifier<RefusedJob>
  var title = ""
  var step = 0
  var part: RefusedPart?

  func withIdentifier(_ id: EntityIdentifier<RefusedJob>) -> RefusedJob {
    var job = self
    job.id = id
    return job
  }

  static func numbered(_ text: String, _ title: String = "") -> RefusedJob {
    RefusedJob(id: .remote(text), title: title)
  }
}

/// A node inside a job.
struct RefusedPart: Model, Codable, Equatable {
  static let modelTypeName = "RefusedPart"
  var id: String
  var text = ""
  var modelIdentifier: String? { "RefusedPart:\(id)" }
}

/// An entity that holds jobs.
struct RefusedTeam: PersistentEntity, MutableEntity, Equatable {
  static let modelTypeName = "RefusedTeam"
  static let endpoint: APIPath = "/teams"
  var id: EntityIdentifier<RefusedTeam>
  var jobs: [RefusedJob] = []
  var lead: RefusedJob?

  func withIdentifier(_ id: EntityIdentifier<RefusedTeam>) -> RefusedTeam {
    RefusedTeam(id: id, jobs: jobs, lead: lead)
  }
}

/// A store with jobs and teams, and a server that refuses what the test says.
struct RefusedJobs {
  let server: APIClientDouble
  let container: CoreManagerContainer
  let store: ModelStore
  var jobs: CoreManager<RefusedJob> { container[RefusedJob.self] }
  var teams: CoreManager<RefusedTeam> { container[RefusedTeam.self] }

  static func run(_ body: (RefusedJobs) async throws -> Void) async throws {
    try await withModelStore { store in
      let server = APIClientDouble()
      let container = try CoreManagerContainer(
        entities: RefusedJob.self, RefusedTeam.self, client: server,
        diskStoreConfig: .store(store))
      try await body(RefusedJobs(server: server, container: container, store: store))
      await container.close()
    }
  }

  /// Queues something without connection, and lets the server answer all of it.
  func queue(_ writes: () async throws -> Void) async throws {
    server.isOffline = true
    try await writes()
    server.isOffline = false
    guard let queue = container.clientQueue else { return }
    while try queue.requests().contains(where: { $0.state != .failed }) {
      queue.flush()
      await Task.yield()
    }
  }
}

extension RefusedJobs {
  /// What the server has of a job is what is here.
  ///
  /// - Parameters:
  ///   - first: The job, as both have it at first.
  ///   - steps: Those of writes that the server refuses.
  ///   - removals: What it says to removals; 204 to further ones.
  ///   - writes: What is queued meanwhile.
  /// - Throws: What the calls throw.
  func expectAgreement(
    from first: RefusedJob = .numbered("1", "old"), refusing steps: Set<Int>, removals: [Int] = [],
    _ writes: () async throws -> Void
  ) async throws {
    let onServer = Locked<RefusedJob?>(first)
    let left = Locked(removals)
    server.answer(.put, "/jobs/1") { request in
      let job = try JSONDecoder().decode(RefusedJob.self, from: request.body?.bytes ?? Data())
      if steps.contains(job.step) { return APIResponse(status: 422) }
      onServer.withLock { $0 = job }
      return APIResponse(status: 204)
    }
    server.answer(.delete, "/jobs/1") { _ in
      let status = left.withLock { $0.isEmpty ? 204 : $0.removeFirst() }
      if status == 204 { onServer.withLock { $0 = nil } }
      return APIResponse(status: status)
    }
    try await jobs.set(first)
    try await queue(writes)
    #expect(try await jobs.get(byID: .remote("1")) == onServer.withLock { $0 })
    #expect(try await !store.read { try $0.hasQueuedRequests(for: "RefusedJob:1") })
  }

  /// Writes the job anew.
  func set(_ step: Int, _ title: String, part: RefusedPart? = nil) async throws {
    let job = RefusedJob(id: .remote("1"), title: title, step: step, part: part)
    try await jobs.set(job, in: .localAndRemote)
  }

  /// Changes the job.
  func update(_ step: Int, _ change: @escaping @Sendable (inout RefusedJob) -> Void) async throws {
    try await jobs.updateIfPresent(byID: .remote("1"), in: .localAndRemote) { job in
      job.step = step
      change(&job)
    }
  }

  /// Removes the job.
  func remove() async throws {
    try await jobs.remove(atID: .remote("1"), in: .localAndRemote)
  }
}
