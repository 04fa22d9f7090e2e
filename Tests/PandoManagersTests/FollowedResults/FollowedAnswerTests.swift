import Foundation
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers
@testable import PandoManagersFixtures

@Embedded private enum WorkStatus: String, CaseIterable { case open, held, done }

@Model private struct TeamMember {
  @Key var id: Int
  var team: String
}

@Model private struct WorkItem {
  @Key var id: Int
  @Indexed var status: WorkStatus
  var hours: Int
  var price: Decimal
  var weight: Double
  var due: Date?
  var owner: TeamMember?
}

private struct Dossier: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Dossier>
  var title: String
  var pageCount: Int

  static let fields: [Field<Dossier>] = [.field(\.title, "title")]
}

private struct DossierCard: PersistentEntity {
  typealias RemoteID = Int
  static let identifierNamespace = "Dossier"
  var id: EntityIdentifier<DossierCard>
  var title: String

  static let fields: [Field<DossierCard>] = [.field(\.title, "title")]
}

/// Followed answers beside asked ones, after every commit.
@Suite struct FollowedAnswerTests {
  /// One followed question: takes its next answer and compares it with the asked one.
  private struct Observer {
    let name: String
    let check: () async throws -> Void
  }

  private static func observer<Answer: Equatable & Sendable>(
    _ name: String, _ question: Question<WorkItem, Answer>, _ query: Query<WorkItem>,
    _ store: ModelStore
  ) -> Observer {
    let values = Locked(store.follow(question, of: query).makeAsyncIterator())
    let last = Locked<Answer?>(nil)
    return Observer(name: name) {
      let asked = try await store.read { try $0.answer(question, to: query) }
      if last.withLock({ $0 }) == asked { return }
      var iterator = values.withLock { $0 }
      let told = try await iterator.next()
      values.withLock { $0 = iterator }
      try #require(told == asked, "\(name)")
      last.withLock { $0 = asked }
    }
  }

  private static func observers(_ store: ModelStore) -> [Observer] {
    let all = Query<WorkItem>.all
    let open = Query<WorkItem>(filter: \.status == .open)
    let ofTeam = Query<WorkItem>(filter: \.owner?.team == "a")
    let dear = Query<WorkItem>(filter: \.hours > 3 && \.price < 6 || \.status == .done)
    let newest = Query<WorkItem>(order: [.descending(\.due)], limit: 4)
    let named = Query<WorkItem>(filter: .keys([WorkItem.key(3), WorkItem.key(8)]))
    let queries = [all, open, ofTeam, dear, newest, named]
    let held = Query<WorkItem>(filter: .holds(\.owner, TeamMember.key(1)))
    return (queries + [held]).enumerated().flatMap { number, query in
      [
        observer("\(number) count", .count, query, store),
        observer("\(number) exists", .exists, query, store),
        observer("\(number) sum", .sum(\.hours), query, store),
        observer("\(number) sum of decimals", .sum(\.price), query, store),
        observer("\(number) sum of doubles", .sum(\.weight), query, store),
        observer("\(number) average", .average(\.weight), query, store),
        observer("\(number) min", .min(\.due), query, store),
        observer("\(number) max", .max(\.price), query, store),
        observer("\(number) counts", .count.grouped(by: \.status), query, store),
        observer("\(number) sums", .sum(\.price).grouped(by: \.hours), query, store),
        observer(
          "\(number) two levels", .max(\.weight).grouped(by: \.hours).grouped(by: \.status), query,
          store),
        observer("\(number) by team", .count.grouped(by: \.owner?.team), query, store),
      ]
    }
  }

  @Test(arguments: seeds(2))
  func `an answer is the asked one after every commit`(seed: UInt64) async throws {
    let models: [any SimpleModel.Type] =
      seed.isMultiple(of: 2) ? [WorkItem.self, TeamMember.self] : []
    let store = try ModelStore.inMemory(models: models)
    var random = SeededGenerator(seed: seed)
    let observers = Self.observers(store)
    for step in 0..<steps(60) {
      let jobs = (0..<([1, 1, 2, 12].randomElement(using: &random) ?? 1)).map { _ in
        Self.job(&random)
      }
      let gone = Int.random(in: 0..<20, using: &random)
      let owner = TeamMember(
        id: Int.random(in: 0..<3, using: &random),
        team: ["a", "b"].randomElement(using: &random) ?? "")
      let kind = Int.random(in: 0..<5, using: &random)
      try await store.write { transaction in
        switch kind {
        case 0: try transaction.deleteIfPresent(WorkItem.key(gone))
        case 1: try transaction.set(owner)
        default: for job in jobs { try transaction.set(job) }
        }
      }
      for observer in observers {
        do {
          try await observer.check()
        } catch {
          Issue.record(error, "seed \(seed), step \(step), \(observer.name)")
          return
        }
      }
    }
    await store.close()
  }

  /// Iterates over an answer while writers run, and returns when the newest one is the asked one.
  private static func newest<Answer: Equatable & Sendable>(
    _ name: String, _ question: Question<WorkItem, Answer>, _ query: Query<WorkItem>,
    _ store: ModelStore, after done: Event
  ) async throws {
    var told = store.follow(question, of: query).makeAsyncIterator()
    var last = try await told.next()
    await blocking { done.wait() }
    let asked = try await store.answer(question, to: query)
    while last != asked {
      // A wrong last answer has no successor, so this would end with the time limit.
      last = try await told.next()
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: seeds(4))
  func `beside writers that await nothing, the newest answer is the asked one`(
    seed: UInt64
  ) async throws {
    let store = try ModelStore.inMemory(models: [WorkItem.self, TeamMember.self])
    let done = Event()
    let ofTeam = Query<WorkItem>(filter: \.owner?.team == "a")
    let some = Query<WorkItem>(filter: \.hours > 1 && \.hours < 5)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, query) in [("team", ofTeam), ("some", some), ("all", .all)] {
        group.addTask {
          try await Self.newest(
            name, .sum(\.price).grouped(by: \.status).top(2), query, store, after: done)
        }
        group.addTask {
          try await Self.newest(
            name, .median(\.hours).grouped(by: \.owner?.team), query, store, after: done)
        }
        group.addTask {
          try await Self.newest(
            name, .count.grouped(by: .field(\.status), .field(\.hours)).descending(), query, store,
            after: done)
        }
        group.addTask {
          try await Self.newest(name, .max(\.due), query, store, after: done)
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { writers in
        for writer in 0..<3 {
          var random = SeededGenerator(seed: seed &* 31 &+ UInt64(writer))
          for _ in 0..<80 {
            let (job, gone) = (Self.job(&random), Int.random(in: 0..<20, using: &random))
            let deletes = Int.random(in: 0..<4, using: &random) == 0
            writers.addTask {
              try await store.write { transaction in
                if deletes { try transaction.deleteIfPresent(WorkItem.key(gone)) }
                try transaction.set(job)
              }
            }
          }
        }
        try await writers.waitForAll()
      }
      done.signal()
      try await group.waitForAll()
    }
    await store.close()
  }

  private static func job(_ random: inout SeededGenerator) -> WorkItem {
    let weights = [0.1, 0.2, 0.3, 1e17, -1e17, 3.5, .infinity]
    let date = Date(timeIntervalSince1970: Double(Int.random(in: 0..<9, using: &random)))
    let owner = TeamMember(
      id: Int.random(in: 0..<3, using: &random),
      team: ["a", "b"].randomElement(using: &random) ?? "")
    return WorkItem(
      id: Int.random(in: 0..<20, using: &random),
      status: WorkStatus.allCases.randomElement(using: &random) ?? .open,
      hours: Int.random(in: 0..<6, using: &random),
      price: Decimal(Int.random(in: 0..<1_000, using: &random)) / 100,
      weight: weights.randomElement(using: &random) ?? 0,
      due: Bool.random(using: &random) ? date : nil,
      owner: Bool.random(using: &random) ? owner : nil)
  }

  // The first item told that items have no children.
  @Test func `an answer about children follows them although the first item has none`()
    async throws
  {
    let store = try ModelStore.inMemory()
    func item(_ id: Int, _ owner: TeamMember?) -> WorkItem {
      WorkItem(id: id, status: .open, hours: 1, price: 1, weight: 1, due: nil, owner: owner)
    }
    let items = [item(1, nil), item(2, TeamMember(id: 1, team: "a"))]
    try await store.write { transaction in
      for item in items { try transaction.set(item) }
    }
    var teams = store.follow(.count.grouped(by: \WorkItem.owner?.team), of: .all)
      .makeAsyncIterator()
    #expect(try await teams.next() == [nil: 1, "a": 1])
    try await store.write { try $0.set(TeamMember(id: 1, team: "b")) }
    let last = item(3, nil)
    try await store.write { try $0.set(last) }
    var newest = try await teams.next()
    while let answer = newest, answer[nil] != 2 { newest = try await teams.next() }
    #expect(newest == [nil: 2, "b": 1])
    await store.close()
  }

  @Test func `a commit that concerns no question reads nothing for it`() async throws {
    try await Following.run { following in
      let store = following.store
      try await following.set(Track(1, genre: "jazz"))
      var count = store.follow(.count, of: Query<Track>(filter: \.genre == "jazz"))
        .makeAsyncIterator()
      #expect(try await count.next() == 1)
      let before = following.hub.tally
      try await following.set(Track(2, genre: "rock"))
      try await following.set(Track(1, "other", genre: "jazz"), Track(3, genre: "jazz"))
      #expect(try await count.next() == 2)
      // The third commit alone touched matching tracks: two.
      #expect(following.hub.tally.evaluations - before.evaluations == 2)
      #expect(following.hub.tally.refills == before.refills)
    }
  }

  @Test func `a type that shows nodes of another one counts them`() async throws {
    let store = try ModelStore.inMemory()
    let container = try CoreManagerContainer(
      entities: Dossier.self, DossierCard.self, diskStoreConfig: .store(store))
    let cards = container[DossierCard.self]
    var counts = cards.follow(.count, of: .all).makeAsyncIterator()
    var titles = store.follow(.count.grouped(by: \DossierCard.title), of: .all).makeAsyncIterator()
    #expect(try await counts.next() == 0)
    #expect(try await titles.next() == [:])
    for number in 1...2 {
      try await container[Dossier.self].set(Dossier(id: .remote(number), title: "a", pageCount: 9))
      #expect(try await counts.next() == number)
      #expect(try await titles.next() == ["a": number])
    }
    try await cards.set(DossierCard(id: .remote(3), title: "b"))
    #expect(try await counts.next() == 3)
    #expect(try await titles.next() == ["a": 2, "b": 1])
    try await container[Dossier.self].set(Dossier(id: .remote(1), title: "z", pageCount: 9))
    #expect(try await titles.next() == ["a": 1, "b": 1, "z": 1])
    await container.close()
  }

  // A followed answer had the sign of the stored zero, and an asked one that of an index.
  @Test func `zero has no sign in a followed answer`() async throws {
    let store = try ModelStore.inMemory()
    let item = WorkItem(
      id: 1, status: .open, hours: 0, price: 1, weight: -0.0, due: nil, owner: nil)
    try await store.write { try $0.set(item) }
    var least = store.follow(.min(\WorkItem.weight), of: .all).makeAsyncIterator()
    #expect(try await least.next()??.bitPattern == 0.0.bitPattern)
    var groups = store.follow(.count.grouped(by: \WorkItem.weight), of: .all).makeAsyncIterator()
    #expect(try await groups.next()?.keys.first?.bitPattern == 0.0.bitPattern)
    await store.close()
  }

  @Test func `a sum that does not fit ends the iteration with an error`() async throws {
    let store = try ModelStore.inMemory()
    var sum = store.follow(.sum(\WorkItem.hours), of: .all).makeAsyncIterator()
    #expect(try await sum.next() == 0)
    try await store.write { transaction in
      for id in 1...2 {
        try transaction.set(
          WorkItem(id: id, status: .open, hours: .max, price: 1, weight: 1, due: nil, owner: nil))
      }
    }
    do {
      _ = try await sum.next()
      Issue.record("the sum fits")
    } catch let error as QueryError {
      #expect(error.code == .overflow)
    }
    await store.close()
  }
}
