import Foundation
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

/// Followed queries and the commits around them.
@Suite struct FollowedStoreTests {
  private let all = Query<Track>()

  /// The window kept the former model, which Swift takes as equal.
  @Test func `another spelling of a text is shown, and is no change`() async throws {
    try await Following.run { following in
      try await following.set(Track(1, "caf\u{E9}"))
      let query = following.query(all)
      var iterator = query.makeAsyncIterator()
      #expect(try await iterator.next()?.first?.title.utf8.count == 5)
      try await following.set(Track(1, "cafe\u{301}"))
      var other = query.makeAsyncIterator()
      #expect(try await other.next()?.first?.title.utf8.count == 6)
      try await following.set(Track(1, "tea"))
      #expect(try await iterator.next()?.first?.title == "tea")
    }
  }

  /// It had the model of the one for the value of the other.
  @Test func `a write that sets one node and reports another does not tell the other's value`()
    async throws
  {
    final class Receiver: CommitFollower {
      let writes = Locked<[CommitEffects]>([])
      func receive(_ flush: [CommitEffects]) { writes.withLock { $0 += flush } }
      func afterReceived(_ body: @escaping @Sendable () -> Void) { body() }
      func othersMayHaveCommitted() {}
    }
    try await Following.run { following in
      try await following.set(Track(1), Track(2))
      let receiver = Receiver()
      following.store.feed.add(receiver)
      try await following.store.write { transaction in
        try transaction.set(Track(1))
        try transaction.touch("Track:2")
      }
      try await following.set(Track(2, "B"))
      let touched = receiver.writes.withLock { $0 }.map { TouchedNodes($0) }
      #expect(touched.map(\.identifiers) == [[ByteString("Track:2")], [ByteString("Track:2")]])
      let entities = touched.map { $0.entity(ByteString("Track:2"), as: Track.self) }
      #expect(entities == [nil, Track(2, "B")])
    }
  }

  @Test func `an entity that can't be read is left out and reported until it can`() async throws {
    try await Following.run { following in
      let reports = Locked<[String]>([])
      try await following.set(Track(1), Track(2))
      var values = following.query(
        all, events: { event in reports.withLock { $0.append("\(event)") } }
      )
      .makeAsyncIterator()
      var first = following.query(Query(order: [.descending(\Track.title)], limit: 2))
        .makeAsyncIterator()
      try await expectNext(&values, [Track(1), Track(2)])
      try await expectNext(&first, [Track(1), Track(2)])
      // It has no title.
      let noTitle = TreeNode("Track:2", type: "Track", fields: ["id": 2])
      try await following.store.write { try $0.set(noTitle) }
      try await expectNext(&values, [Track(1)])
      try await expectNext(&first, [Track(1)])
      let told = try #require(reports.withLock { $0.first })
      #expect(told.hasPrefix("Track: undecodableEntity: Track \"Track:2\", field title"))
      // Everything else goes on, and who begins now sees the same.
      try await following.set(Track(3, "C"))
      try await expectNext(&values, [Track(1), Track(3, "C")])
      try await expectNext(&first, [Track(3, "C"), Track(1)])
      var late = following.query(all).makeAsyncIterator()
      try await expectNext(&late, [Track(1), Track(3, "C")])
      // It comes in as soon as it can be read.
      try await following.set(Track(2, "B"))
      try await expectNext(&values, [Track(1), Track(2, "B"), Track(3, "C")])
      try await expectNext(&first, [Track(3, "C"), Track(2, "B")])
      try await expectNext(&late, [Track(1), Track(2, "B"), Track(3, "C")])
      #expect(reports.withLock { $0.count } == 1)
    }
  }

  @Test func `a followed search shows each commit, by natural order and by relevance`() async throws
  {
    try await Following.run { following in
      try await following.set(Track(1, "Red Chai"), Track(2, "Green tea"))
      var values = following.query(Query<Track>(filter: .search("red cha", in: \.title)))
        .makeAsyncIterator()
      var ranked = following.query(
        Query<Track>(
          filter: .search("RÉD", .wholeWords, in: \.title), order: [.relevance], limit: 2)
      ).makeAsyncIterator()
      try await expectNext(&values, [Track(1, "Red Chai")])
      try await expectNext(&ranked, [Track(1, "Red Chai")])
      try await following.set(Track(3, "red"))
      try await expectNext(&ranked, [Track(3, "red"), Track(1, "Red Chai")])
      try await following.set(Track(2, "Red, red chai"))
      try await expectNext(&values, [Track(1, "Red Chai"), Track(2, "Red, red chai")])
      try await expectNext(&ranked, [Track(3, "red"), Track(2, "Red, red chai")])
      // An index changes nothing.
      try await following.store.write { try $0.addIndex(on: ["words(title)"], ofType: "Track") }
      try await following.set(Track(3, "gone"))
      try await expectNext(&ranked, [Track(2, "Red, red chai"), Track(1, "Red Chai")])
      try await following.set(Track(1, "gone too"))
      try await expectNext(&values, [Track(2, "Red, red chai")])
      try await expectNext(&ranked, [Track(2, "Red, red chai")])
    }
  }

  /// The query kept each error that it had ever reported.
  @Test func `a query keeps a limited number of reported errors, and reports each once`()
    async throws
  {
    try await Following.run { following in
      let maximum = ReportedRecords.changedCountMaximum
      let reports = Locked<Set<String>>([])
      let count = Locked(0)
      let query = LiveQuery(AcceptedQuery(all)) { event in
        reports.withLock { _ = $0.insert("\(event)") }
        count.withLock { $0 += 1 }
      }
      following.hub.begin(query)
      await following.hub.shown()
      for start in [0, maximum, 2 * maximum] {
        try await following.store.write { transaction in
          for id in start..<(start + maximum) {
            try transaction.set(TreeNode("Track:\(id)", type: "Track", fields: ["id": 1]))
          }
        }
        await following.hub.shown()
      }
      #expect(reports.withLock { $0.count } == 3 * maximum)
      #expect(count.withLock { $0 } == 3 * maximum)
      #expect(query.reportedCount <= maximum)
      query.finish()
    }
  }

  @Test func `a read keeps the errors of the records that it leaves out, and no others`() {
    var reported = ReportedRecords()
    func texts(_ names: String...) -> [ByteString] { names.map { ByteString($0) } }
    #expect(reported.add(texts("a", "b", "a")) == [true, true, false])
    #expect(reported.replace(by: texts("b", "c", "c")) == [false, true, false])
    #expect(reported.count == 2)
    #expect(reported.add(texts("b", "a")) == [false, true], "a was left out before and is again")
    #expect(reported.replace(by: []) == [] && reported.count == 0)
  }

  @Test func `an entity whose child can't be read returns with the child`() async throws {
    try await Following.run { following in
      let noName = TreeNode("Artist:a", type: "Artist", fields: ["id": "a"])
      var track = Track(1, "A")
      track.artist = Artist(id: "a", name: "Ann")
      // Nobody has seen yet that tracks have artists inside when the query begins.
      try await following.set(track)
      try await following.store.write { try $0.set(noName) }
      var values = following.query(all).makeAsyncIterator()
      try await expectNext(&values, [])
      try await following.store.write { try $0.set(Artist(id: "a", name: "Bob")) }
      track.artist?.name = "Bob"
      try await expectNext(&values, [track])
      try await following.store.write { try $0.set(noName) }
      try await expectNext(&values, [])
      try await following.set(Track(2, "B"))
      try await expectNext(&values, [Track(2, "B")])
    }
  }

  @Test func `a query that makes no sense ends iterations at once`() async throws {
    try await Following.run { following in
      var values = following.query(Query<Track>(limit: -1)).makeAsyncIterator()
      await #expect(throws: QueryError.self) { _ = try await values.next() }
      var pattern = following.query(Query(filter: \Track.title ~= "(")).first.makeAsyncIterator()
      await #expect(throws: QueryError.self) { _ = try await pattern.next() }
      await following.allGone()
    }
  }

  @Test func `a long write delays no first value, and nothing shows before its commit`()
    async throws
  {
    try await Following.run { following in
      try await following.set(Track(1))
      let isHeld = Event()
      let mayGoOn = Event()
      try following.store.submit(ticket: 0, context: nil) { transaction in
        try transaction.set(Track(2))
        isHeld.signal()
        mayGoOn.wait()
      }
      await blocking { isHeld.wait() }
      var values = following.query(all).makeAsyncIterator()
      try await expectNext(&values, [Track(1)])
      mayGoOn.signal()
      try await expectNext(&values, [Track(1), Track(2)])
    }
  }

  @Test func `a write that fails beside others of its flush leaves nothing`() async throws {
    try await Following.run { following in
      struct Refused: Error {}
      var values = following.query(all).makeAsyncIterator()
      try await expectNext(&values, [])
      let isHeld = Event()
      let mayGoOn = Event()
      try following.store.submit(ticket: 0, context: nil) { _ in
        isHeld.signal()
        mayGoOn.wait()
      }
      await blocking { isHeld.wait() }
      // These three share a flush, which is run again without the one that throws.
      try following.store.submit(ticket: 0, context: nil) { try $0.set(Track(1)) }
      try following.store.submit(ticket: 0, context: nil) { transaction in
        try transaction.set(Track(2))
        throw Refused()
      }
      mayGoOn.signal()
      try await following.set(Track(3))
      try await expectNext(&values, [Track(1), Track(3)])
      let number = try await following.store.read { try $0.commitNumber.value }
      #expect(number == 2)
    }
  }

  @Test func `observers that begin at any time come to the last state`() async throws {
    try await Following.run { following in
      let last = 300
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for number in 1...last {
            try await following.set(Track(1, year: number), Track(number + 1, year: number))
          }
        }
        for number in 0..<60 {
          group.addTask {
            for _ in 0..<number { await Task.yield() }
            let query = Query<Track>(order: [.descending(\.year), .ascending(\.id)], limit: 2)
            var year = 0
            for try await result in following.query(query) {
              let shown = result.entities.map(\.year)
              // Both are of one commit.
              try #require(shown.isEmpty || (shown.count == 2 && shown[0] == shown[1]))
              try #require(shown.isEmpty || shown[0] > year)
              year = shown.first ?? 0
              if year == last { break }
            }
          }
        }
        try await group.waitForAll()
      }
      await following.allGone()
    }
  }

  @Test func `closing the scope ends all iterations, after the last value`() async throws {
    try await Following.run { following in
      var values = following.query(all).makeAsyncIterator()
      try await expectNext(&values, [])
      try await following.set(Track(1))
      following.scope.close()
      try await expectNext(&values, [Track(1)])
      #expect(try await values.next() == nil)
      var late = following.query(all).makeAsyncIterator()
      #expect(try await late.next() == nil)
    }
  }

  @Test func `a store that is closed ends those that begin by an error`() async throws {
    let store = try ModelStore.temporary(configuration: Following.configuration)
    let following = try Following(store)
    await store.close()
    var values = following.query(all).makeAsyncIterator()
    await #expect(throws: (any Error).self) { _ = try await values.next() }
  }

  @Test func `commits of other processes arrive with the next one, or when asked for`()
    async throws
  {
    try await withTemporaryDirectory { path in
      var configuration = Following.configuration
      configuration.followsOtherProcesses = false
      let store = try ModelStore(path: path, configuration: configuration)
      let following = try Following(store)
      let other = try OtherProcess(path)
      var people = following.query(Query<Person>()).makeAsyncIterator()
      try await expectNext(&people, [])
      try other.perform("set 1 Ada")
      try await following.set(Track(1))
      try await expectNext(&people, [Person(id: .remote(1), name: "Ada", isOnline: false)])
      try other.perform("set 2 Grace")
      try other.perform("delete 1")
      try await following.hub.refresh()
      try await expectNext(&people, [Person(id: .remote(2), name: "Grace", isOnline: false)])
      other.end()
      await store.close()
    }
  }

  @Test(arguments: [false, true])
  func `queries show commits of other processes without a call`(isReadOnly: Bool) async throws {
    try await withTemporaryDirectory { path in
      let other = try OtherProcess(path)
      try other.perform("set 1 Ada")
      var configuration = Following.configuration
      configuration.isReadOnly = isReadOnly
      configuration.followsOtherProcesses = true
      let store = try ModelStore(path: path, configuration: configuration)
      let following = try Following(store)
      let named = Query(filter: \Person.name == "Grace")
      var people = following.query(named).makeAsyncIterator()
      try await expectNext(&people, [])
      for _ in 0..<20 {
        try other.perform("set 2 Grace")
        try await expectNext(&people, [Person(id: .remote(2), name: "Grace", isOnline: false)])
        try other.perform("delete 2")
        try await expectNext(&people, [])
      }
      other.end()
      await store.close()
    }
  }

  @Test func `a store that is open for reading only follows when it is asked to`() async throws {
    try await withTemporaryDirectory { path in
      let other = try OtherProcess(path)
      try other.perform("set 1 Ada")
      var configuration = Following.configuration
      configuration.isReadOnly = true
      configuration.followsOtherProcesses = false
      let store = try ModelStore(path: path, configuration: configuration)
      let following = try Following(store)
      let online = Query(filter: \Person.name == "Grace")
      var people = following.query(online).makeAsyncIterator()
      try await expectNext(&people, [])
      try other.perform("set 2 Grace")
      try await following.hub.refresh()
      try await expectNext(&people, [Person(id: .remote(2), name: "Grace", isOnline: false)])
      other.end()
      await store.close()
    }
  }

  /// Runs `body` with a store whose change log keeps two commits, and another process over it.
  private func withShortLog(_ body: (ModelStore, OtherProcess) async throws -> Void) async throws {
    try await withTemporaryDirectory { path in
      var configuration = Following.configuration
      configuration.changeLogLimit = 2
      configuration.followsOtherProcesses = false
      let store = try ModelStore(path: path, configuration: configuration)
      let other = try OtherProcess(path)
      try await body(store, other)
      other.end()
      await store.close()
    }
  }

  @Test func `a change log that does not reach back makes queries read afresh`() async throws {
    try await withShortLog { store, other in
      let following = try Following(store)
      var people = following.query(Query<Person>()).makeAsyncIterator()
      try await expectNext(&people, [])
      for number in 1...9 { try other.perform("set \(number) A\(number)") }
      // The log keeps two commits, so most of those are not in it any more.
      try await following.set(Track(1))
      try await following.set(Track(2))
      try await following.set(Track(3))
      #expect(try await people.next()?.count == 9)
    }
  }

  @Test func `a change log that does not reach back makes conditions count afresh`() async throws {
    try await withShortLog { store, other in
      let idols = Query<Person>(filter: .has(by: \Fan.idol))
      var people = store.follow(idols).makeAsyncIterator()
      #expect(try await people.next()?.entities == [])
      for number in 1...9 { try other.perform("set \(number) A\(number)") }
      let (idol, renamed) = (
        Person(id: .remote(3), name: "A3", isOnline: false),
        Person(id: .remote(3), name: "B", isOnline: false)
      )
      // The log lacks commits before this one, so the query is read again.
      try await store.write { try $0.set(Fan(id: 1, idol: Key(rawValue: "Person:3"))) }
      #expect(try await people.next()?.entities == [idol])
      try await store.write { try $0.set(renamed) }
      #expect(try await people.next()?.entities == [renamed])
    }
  }

  /// The person stayed missing, until the next change of it.
  @Test func `a change log that does not reach back makes a graph compare what a server lacks`()
    async throws
  {
    try await withShortLog { store, other in
      let client = APIClientDouble()
      client.answer(.get, "/people/1", with: APIResponse(status: 404))
      let container = try CoreManagerContainer(
        entities: Club.self, Person.self, client: client, diskStoreConfig: .store(store))
      let clubs = container[Club.self]
      let club = Club(id: .remote(1), head: .remote(1))
      try await clubs.set(club)
      let shape = GraphShape<Club>.all.reading(\.head, in: .remote())
      let graphs = FollowedRecorder(clubs.followGraph(shape: shape))
      let first = try await graphs.element { $0.pending.isEmpty }
      #expect(first.missing == ["Person:1"])
      for number in 1...9 { try other.perform("set \(number) A\(number)") }
      try await clubs.set(Club(id: .remote(2), head: .remote(1)))
      let next = try await graphs.element { $0.roots.count == 2 }
      #expect(next.all(of: Person.self).map(\.name) == ["A1"])
      graphs.cancel()
      await container.close()
    }
  }
}

/// An entity that names a person.
private struct Club: PersistentEntity {
  typealias RemoteID = Int
  static let relationships: [EntityRelationship<Club>] = [.to(\.head, "head")]
  var id: EntityIdentifier<Club>
  var head: EntityIdentifier<Person>
}

@Model private struct Fan {
  @Key var id: Int
  var idol: Key<Person>
}

/// As `StoreTestProcess` writes them.
private struct Person: PersistentEntity, RemoteEntity {
  typealias RemoteID = Int
  static let endpoint: APIPath = "/people"
  var id: EntityIdentifier<Person>
  var name: String
  var isOnline: Bool

  static var fields: [Field<Person>] { [.field(\.name, "name")] }
}
