import Dispatch
import PandoFixtures
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// Followed graphs whose roots and related entities are in two stores on disk.
@Suite struct OtherStoreGraphTests {
  /// Clubs in one store; people in another, whose change log keeps two commits, and on a server.
  private struct Stores {
    let people: ModelStore
    let clubs: CoreManager<Club>
    let server = ScriptedStore<Person>(.remote)
    let other: OtherProcess
    private let scope: FollowedScope
    private let person: CoreManager<Person>

    /// Runs `body` with a club whose head is the person 1; optionally in the store of the people.
    static func with(
      areTogether: Bool = false, _ body: (Stores) async throws -> Void
    ) async throws {
      try await withTemporaryDirectory { path in
        var configuration = Following.configuration
        configuration.changeLogLimit = 2
        configuration.followsOtherProcesses = false
        let people = try ModelStore(path: path, configuration: configuration)
        try await withModelStore { other in
          let stores = try Stores(path, people, areTogether ? people : other)
          try await stores.clubs.set(Club(1))
          try await body(stores)
          stores.other.end()
          stores.scope.close()
        }
        await people.close()
      }
    }

    private init(_ path: String, _ people: ModelStore, _ clubs: ModelStore) throws {
      scope = FollowedScope(store: clubs)
      self.people = people
      self.clubs = CoreManager(
        stores: [DiskStore<Club>(modelStore: clubs)], events: nil, continuous: scope)
      person = CoreManager(
        stores: [DiskStore<Person>(modelStore: people), server], events: nil, continuous: scope)
      scope.add(self.clubs, of: Club.self)
      scope.add(person, of: Person.self)
      other = try OtherProcess(path)
    }

    /// Renames the person 1 in another process, so often that the change log does not reach back.
    func rename() async throws {
      for number in 1...9 { try other.perform("set 1 A\(number)") }
      try await StoreHub.hub(of: people).refresh()
    }

    /// Notes that a copy has replaced the people.
    func replace() async throws {
      people.feed.noteReplacement(by: try await people.read { try $0.commitValue })
      try await StoreHub.hub(of: people).refresh()
    }

    func follow(
      _ source: ReadContext<Person> = .local
    ) -> FollowedRecorder<EntityGraph<Club>> {
      FollowedRecorder(clubs.followGraph(shape: .all.reading(\.head, in: source)))
    }

    /// Waits for the graph after the changes so far: the first one with another club.
    func next(_ graphs: FollowedRecorder<EntityGraph<Club>>) async throws -> EntityGraph<Club> {
      try await clubs.set(Club(2))
      return try await graphs.element { $0.roots.count == 2 }
    }
  }

  /// The graph got no call, and kept the former entity until its next change.
  @Test func `a change log of another store that does not reach back makes a graph read again`()
    async throws
  {
    try await Stores.with { stores in
      try stores.other.perform("set 1 Ada")
      let graphs = stores.follow()
      let first = try await graphs.element { !$0.roots.isEmpty }
      #expect(first.all(of: Person.self).map(\.name) == ["Ada"])
      try await stores.rename()
      #expect(try await stores.next(graphs).all(of: Person.self).map(\.name) == ["A9"])
      graphs.cancel()
    }
  }

  /// The person stayed missing, until the next change of it.
  @Test func `an expired change log of another store makes a graph compare what a server lacks`()
    async throws
  {
    try await Stores.with { stores in
      let graphs = stores.follow(.remote())
      let first = try await graphs.element { $0.pending.isEmpty }
      #expect(first.missing == ["Person:1"])
      try await stores.rename()
      #expect(try await stores.next(graphs).all(of: Person.self).map(\.name) == ["A9"])
      graphs.cancel()
    }
  }

  /// The change was compared with the shown graph, which did not have the person yet, and got lost.
  @Test func `a change of another store reaches a graph that gains the entity meanwhile`()
    async throws
  {
    try await Stores.with { stores in
      let people = stores.people
      try await people.write {
        try $0.set(Person(1, "Ada"))
        try $0.set(Person(2, "Eve"))
      }
      let graphs = stores.follow()
      try await graphs.element { $0.all(of: Person.self).map(\.name) == ["Ada"] }
      // The pipeline of the clubs has read the person, and waits until the pipeline of the people has told the rename.
      Person.onceDecoded("Eve") {
        let isTold = DispatchSemaphore(value: 0)
        Task {
          try await people.write { try $0.set(Person(2, "Mary")) }
          try await StoreHub.hub(of: people).refresh()
          isTold.signal()
        }
        isTold.wait()
      }
      try await stores.clubs.set(Club(1, head: 2))
      try await graphs.element { $0.roots.first?.head == .remote(2) }
      #expect(try await stores.next(graphs).all(of: Person.self).map(\.name).contains("Mary"))
      graphs.cancel()
    }
  }

  /// The late answer hid the person, until the next change of it.
  @Test func `an answer does not hide an entity of another store that was set after the request`()
    async throws
  {
    try await Stores.with { stores in
      let (isAsked, mayAnswer) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
      stores.server.beforeAnswer {
        isAsked.continuation.finish()
        for await _ in mayAnswer.stream {}
      }
      let graphs = stores.follow(.remote())
      try await graphs.element { $0.pending == ["Person:1"] }
      for await _ in isAsked.stream {}
      try await stores.rename()
      mayAnswer.continuation.finish()
      let answered = try await graphs.element { $0.pending.isEmpty }
      #expect(answered.all(of: Person.self).map(\.name) == ["A9"])
      graphs.cancel()
    }
  }

  /// The graph got no call; if the people are in its own store, the commits of the copy counted as old.
  @Test(arguments: [false, true])
  func `a copy that replaces the data of a store shows entities that a server lacks`(
    areTogether: Bool
  ) async throws {
    try await Stores.with(areTogether: areTogether) { stores in
      try stores.other.perform("set 1 Ada")
      try await StoreHub.hub(of: stores.people).refresh()
      let graphs = stores.follow(.remote())
      let first = try await graphs.element { $0.pending.isEmpty }
      #expect(first.missing == ["Person:1"])
      try await stores.replace()
      #expect(try await stores.next(graphs).all(of: Person.self).map(\.name) == ["Ada"])
      graphs.cancel()
    }
  }

  @Test func `a copy compares no commits, and an expired change log compares those of a namespace`()
    async throws
  {
    try await withModelStore { store in
      try await store.write { try $0.set(Person(1, "A")) }
      try await store.write { try $0.set(Person(2, "B")) }
      try await store.write { try $0.set(Club(3)) }
      let nodes = Set(["Person:1", "Person:2", "Person:9", "Club:3"].map { ByteString($0) })
      func changed(since former: UInt64?) throws -> [String] {
        let change = WatchedChange.Unknown(
          namespace: ByteString("Person"), store: store, former: former)
        return try change.changed(among: nodes).map(\.text).sorted()
      }
      #expect(try changed(since: nil) == ["Person:1", "Person:2"])
      #expect(try changed(since: 0) == ["Person:1", "Person:2"])
      #expect(try changed(since: 1) == ["Person:2"])
      #expect(try changed(since: 3) == [])
    }
  }
}

/// An entity that names a person.
private struct Club: PersistentEntity {
  typealias RemoteID = Int
  static let relationships: [EntityRelationship<Club>] = [.to(\.head, "head")]
  var id: EntityIdentifier<Club>
  var head: EntityIdentifier<Person>

  init(_ id: Int, head: Int = 1) {
    self.id = .remote(id)
    self.head = .remote(head)
  }
}

/// As `StoreTestProcess` writes them.
private struct Person: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Person>
  var name: String
  var isOnline = false

  init(_ id: Int, _ name: String) {
    self.id = .remote(id)
    self.name = name
  }

  private static let hooks = Locked<[String: @Sendable () -> Void]>([:])

  /// Calls a closure when a person of that name is decoded the next time.
  static func onceDecoded(_ name: String, _ body: @escaping @Sendable () -> Void) {
    hooks.withLock { $0[name] = body }
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(EntityIdentifier<Person>.self, forKey: .id)
    name = try fields.decode(String.self, forKey: .name)
    isOnline = try fields.decode(Bool.self, forKey: .isOnline)
    Self.hooks.withLock { $0.removeValue(forKey: name) }?()
  }
}
