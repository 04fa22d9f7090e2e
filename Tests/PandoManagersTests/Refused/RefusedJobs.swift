import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport

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
  var modelIdentifier: String? { "RefusedPart:\(id)" }
}

/// An entity that holds jobs.
struct RefusedTeam: PersistentEntity, MutableEntity, Equatable {
  static let modelTypeName = "RefusedTeam"
  static let endpoint: APIPath = "/teams"
  var id: EntityIdentifier<RefusedTeam>
  var jobs: [RefusedJob] = []

  func withIdentifier(_ id: EntityIdentifier<RefusedTeam>) -> RefusedTeam {
    RefusedTeam(id: id, jobs: jobs)
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
