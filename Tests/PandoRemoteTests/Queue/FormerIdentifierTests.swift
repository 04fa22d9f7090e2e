import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoRemote
import PandoStore
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// A server has named an entity, and trees that were read before still hold it under its local identifier.
@Suite struct FormerIdentifierTests {
  /// An entity that holds a volume.
  private struct Loan: PersistentEntity, MutableEntity {
    static let endpoint: APIPath = "/loans"
    var id: EntityIdentifier<Loan>
    var volume: Volume
    var note = ""

    func withIdentifier(_ id: EntityIdentifier<Loan>) -> Loan {
      var loan = self
      loan.id = id
      return loan
    }
  }

  private enum Phase: Codable, Equatable {
    case waiting(since: Int)
    case running(step: Int)
    case done(by: Int)
  }

  /// A node that is named by a server, with an enum in it.
  private struct Job: PersistentEntity, MutableEntity {
    static let endpoint: APIPath = "/jobs"
    var id: EntityIdentifier<Job>
    var phase: Phase?

    func withIdentifier(_ id: EntityIdentifier<Job>) -> Job { Job(id: id, phase: phase) }
  }

  private struct Board: Model, Codable, Equatable {
    var job: Job
    var modelIdentifier: String? { "Board" }
  }

  @Test func `a case of an enum in it is merged as a whole`() async throws {
    server.answer(.post, "/jobs", json: #"{"id":"7"}"#)
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Job.self, client: server, diskStoreConfig: .store(store))
      let former = Job(id: .local("j"), phase: .waiting(since: 1))
      try await container[Job.self].set(former, in: .localAndRemote).confirmed()
      try await store.write { try $0.set(Board(job: former)) }
      try await store.write { try $0.set(Job(id: .remote("7"), phase: .done(by: 1))) }
      let mine = Job(id: .local("j"), phase: .running(step: 1))
      try await store.write { try $0.set(Board(job: mine), replacing: Board(job: former)) }
      let board = try await store.read { try $0.get("Board", as: Board.self) }
      #expect(board?.job == Job(id: .remote("7"), phase: .running(step: 1)))
      try await store.write { transaction in
        try transaction.set(
          TreeNode(
            "Pin", type: "Pin",
            fields: ["job": .reference(identifier: "Job:local:j", typeName: "Job")]))
      }
      #expect(try await store.read { try $0.parents(of: "Job:7") }.contains("Pin"))
      await container.close()
    }
  }

  private let server = APIClientDouble()
  private let former = Volume(id: .local("v"), title: "Dune")

  /// A store in which the volume has been named 43.
  private func withNamedVolume(
    _ body: (CoreManagerContainer, ModelStore) async throws -> Void
  ) async throws {
    server.answer(.post, "/volumes", json: #"{"id":43,"title":"Dune"}"#)
    server.answer(
      .put, "/loans/1", json: #"{"id":"1","volume":{"id":43,"title":"Ours"},"note":""}"#)
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Volume.self, Loan.self, client: server, diskStoreConfig: .store(store))
      let written = try await container[Volume.self].set(former, in: .localAndRemote)
      try await written.confirmed()
      #expect(try await store.read { try $0.contains("Volume:43") })
      try await body(container, store)
      // There is one volume, and every tree shows it.
      var found: [EntityIdentifier<Volume>] = []
      try store.readAndWait { snapshot in
        try snapshot.forEachModel(of: Volume.self) { volume in
          found.append(volume.id)
          return true
        }
      }
      #expect(found == [.remote(43)])
      #expect(try await store.read { try $0.contains("Volume:local:v") } == false)
      #expect(try store.verify().problems == [])
      await container.close()
    }
  }

  private func title(_ store: ModelStore) throws -> String? {
    try store.read { try $0.get("Volume:43", as: Volume.self)?.title }
  }

  @Test func `a tree that is set brings the child in under its present identifier`() async throws {
    try await withNamedVolume { _, store in
      var volume = former
      volume.title = "Dune Messiah"
      let shelf = Bookcase(modelIdentifier: "Bookcase:1", first: volume, others: [volume])
      try await store.write { try $0.set(shelf) }
      #expect(try title(store) == "Dune Messiah")
      let stored = try await store.read { try $0.get("Bookcase:1", as: Bookcase.self) }
      #expect(stored?.first.id == .remote(43) && stored?.others.map(\.id) == [.remote(43)])
      #expect(try await store.read { try $0.parents(of: "Volume:43") } == ["Bookcase:1"])
    }
  }

  @Test func `an update and a set that replaces keep the stored child`() async throws {
    try await withNamedVolume { _, store in
      let volume = Volume(id: .remote(43), title: "Dune")
      let shelf = Bookcase(modelIdentifier: "Bookcase:1", first: volume, others: [])
      try await store.write { try $0.set(shelf) }
      let old = former
      try await store.write { transaction in
        try transaction.updateIfPresent(Bookcase.self, "Bookcase:1") { $0.others = [old] }
      }
      var changed = shelf
      changed.first = former
      changed.first.title = "Ours"
      let mine = changed
      try await store.write { transaction in
        var read = mine
        read.first = old
        try transaction.set(mine, replacing: read)
      }
      #expect(try title(store) == "Ours")
      let stored = try await store.read { try $0.get("Bookcase:1", as: Bookcase.self) }
      #expect(stored?.others.map(\.id) == [.remote(43)])
    }
  }

  @Test func `a list that is set brings the element in under its present identifier`() async throws
  {
    try await withNamedVolume { _, store in
      let volume = former
      try await store.write { try $0.setCollection("shelf", to: [volume]) }
      try await store.write { try $0.append([volume], toCollection: "shelf") }
      let stored = try await store.read { try $0.collection("shelf", as: Volume.self) }
      #expect(stored?.map(\.id) == [.remote(43), .remote(43)])
    }
  }

  @Test(arguments: [false, true])
  func `an entity that a manager sets or updates holds the child under its present identifier`(
    isRemote: Bool
  ) async throws {
    try await withNamedVolume { container, store in
      let loans = container[Loan.self]
      var loan = Loan(id: .remote("1"), volume: former)
      loan.volume.title = "Ours"
      let write = try await loans.set(loan, in: isRemote ? .localAndRemote : .local)
      if isRemote {
        try await write.confirmed()
        let body = server.bodies.last ?? ""
        #expect(body.contains(#""id":43"#) && !body.contains("local:v"), "\(body)")
      }
      #expect(try title(store) == "Ours")
      let old = former
      try await loans.updateIfPresent(byID: .remote("1")) { $0.volume = old }
      #expect(try await loans.get(byID: .remote("1"))?.volume.id == .remote(43))
    }
  }

  @Test func `a provider shows the child as it is stored`() async throws {
    try await withNamedVolume { _, store in
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<Bookcase>(dataModelManager: manager)
      let shelf = Bookcase(modelIdentifier: "Bookcase:1", first: former, others: [])
      try await provider.setData(shelf).committed()
      await manager.drain()
      #expect(provider.data?.first.id == .remote(43))
      let old = former
      try await provider.update { $0.others = [old] }.committed()
      await manager.drain()
      #expect(provider.data?.others.map(\.id) == [.remote(43)])
      let other = DataProvider<Volume>(dataModelManager: manager)
      try await other.fetchDataFromCache(withCacheKey: "Volume:43")
      try await other.update { $0.title = "Ours" }.committed()
      await manager.drain()
      #expect(provider.data?.first.title == "Ours")
      let list = CollectionDataProvider<Volume>(dataModelManager: manager)
      try await list.setData([former], cacheKey: "list").committed()
      try await list.append([former]).committed()
      await manager.drain()
      #expect(list.data.map(\.id) == [.remote(43), .remote(43)])
      await manager.close()
    }
  }
}
