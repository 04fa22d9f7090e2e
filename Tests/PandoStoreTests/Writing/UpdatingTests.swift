import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// Writing what differs.
@Suite(.overBothBackings) struct UpdatingTests {
  struct Label: Model, Codable, Equatable {
    var id: Int
    var name: String
    var modelIdentifier: String? { "Label:\(id)" }
  }

  struct Place: Codable, Equatable, Sendable {
    var city: String
    var street: String
  }

  struct Task: Model, Codable, Equatable {
    var id: Int
    var title: String
    var count = 0
    var due: String?
    var author: Person
    var assignee: Person?
    var labels: [Label] = []
    var votes: [String: Int] = [:]
    var watchers: [String: Person] = [:]
    var place: Place?
    var words: [String] = []
    var modelIdentifier: String? { "Task:\(id)" }
  }

  struct Card: Model, Codable, Equatable {
    var id: Int
    var holder: FullProfile
    var modelIdentifier: String? { "Card:1" }
  }

  struct Box: Model, Codable, Equatable {
    var id: Int
    var inner: [Box] = []
    var modelIdentifier: String? { "Box:\(id)" }
  }

  private let ada = Person(id: 1, name: "Ada")
  private let bob = Person(id: 2, name: "Bob")

  private func task(_ store: ModelStore) throws -> Task? {
    try store.read { try $0.get("Task:1") }
  }

  private func made() throws -> (store: ModelStore, read: Task) {
    let store = try ModelStore.forTest()
    let task = Task(
      id: 1, title: "Crash", author: ada, assignee: bob,
      labels: [Label(id: 1, name: "bug"), Label(id: 2, name: "old")], votes: ["Ada": 1, "Bob": 1],
      watchers: ["a": ada], place: Place(city: "Paris", street: "Rue A"), words: ["x", "y"])
    try store.write { try $0.set(task) }
    return (store, task)
  }

  @Test func `a child that was merely carried along keeps what others have made of it`() throws {
    // Was: there was no other way than to set the whole tree, and Ada had her old name again.
    let (store, read) = try made()
    try store.write { try $0.set(Person(id: 1, name: "Ada L.")) }
    var edited = read
    edited.title = "Crash at start"
    try store.write { [edited] in try $0.set(edited, replacing: read) }
    #expect(try task(store)?.author.name == "Ada L.")
    #expect(try task(store)?.title == "Crash at start")
    let commit = try store.commit { [edited] in try $0.set(edited, replacing: read) }
    #expect(commit.changeSet == nil)
    #expect(try store.verify().problems == [])
  }

  @Test func `fields that differ are written, and no others, in children too`() throws {
    let (store, read) = try made()
    try store.updateIfPresent(Task.self, "Task:1") {
      $0.due = "May"
      $0.votes["Cy"] = 3
      $0.votes["Ada"] = nil
      $0.place?.street = "Rue B"
      $0.author.isOnline = true
    }
    var edited = read
    edited.title = "T"
    edited.votes["Bob"] = 5
    edited.place?.city = "Lyon"
    edited.author.name = "Ada L."
    edited.assignee = nil
    let commit = try store.commit { [edited] in try $0.set(edited, replacing: read) }
    var expected = edited
    expected.due = "May"
    expected.votes = ["Bob": 5, "Cy": 3]
    expected.place = Place(city: "Lyon", street: "Rue B")
    expected.author.isOnline = true
    // She is there twice, and the place that was changed counts.
    expected.watchers["a"] = expected.author
    #expect(try task(store) == expected)
    #expect(commit.changeSet?.updated == ["Person:1", "Task:1"])
    #expect(try store.read { try $0.parents(of: "Person:2") }.isEmpty)
    #expect(try store.verify().problems == [])
  }

  @Test func `of one field that both have changed the caller's value counts`() throws {
    let (store, read) = try made()
    try store.updateIfPresent(Task.self, "Task:1") {
      $0.title = "Theirs"
      $0.words = ["x", "z"]
      $0.due = "May"
    }
    var edited = read
    edited.title = "Mine"
    edited.words = ["y"]
    edited.due = "June"
    try store.write { [edited] in try $0.set(edited, replacing: read) }
    #expect(try task(store)?.title == "Mine")
    #expect(try task(store)?.words == ["y"])
    #expect(try task(store)?.due == "June")
  }

  @Test(arguments: [
    // base, mine, theirs, result
    ([1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 4, 3]),
    ([1, 2], [3, 1, 2], [4, 1, 2], [3, 4, 1, 2]),
    ([1, 2], [1, 3, 2], [2], [3, 2]),
    ([1, 2], [2, 1], [1, 2, 3], [2, 1, 3]),
    ([1, 2, 3], [3], [1, 2, 4, 3], [4, 3]),
    ([1, 2], [2, 1], [2], [2]),
    ([1, 2], [], [1, 2, 3], [3]),
    ([], [1, 2], [2, 3], [2, 3, 1]),
    ([1, 2], [3, 4], [1, 2, 5], [3, 4, 5]),
    ([1, 2, 3, 4], [1, 9, 2, 3, 8, 4], [1, 4], [1, 9, 8, 4]),
    ([1, 1, 2], [1, 2, 2], [1, 1, 2, 3], [1, 2, 3, 2]),
  ])
  func `lists of children take in what the caller did`(
    base: [Int], mine: [Int], theirs: [Int], result: [Int]
  ) throws {
    let store = try ModelStore.forTest()
    @Sendable func task(_ labels: [Int]) -> Task {
      Task(id: 1, title: "T", author: ada, labels: labels.map { Label(id: $0, name: "L\($0)") })
    }
    try store.write { try $0.set(task(theirs)) }
    try store.write { try $0.set(task(mine), replacing: task(base)) }
    #expect(try self.task(store)?.labels.map(\.id) == result)
    #expect(try store.verify().problems == [])
  }

  @Test func `a node deleted since the read stays deleted`() throws {
    let (store, read) = try made()
    try store.write { transaction in
      try transaction.deleteIfPresent("Label:1")
      try transaction.deleteIfPresent("Person:2")
    }
    var edited = read
    edited.title = "T"
    edited.labels.append(Label(id: 3, name: "new"))
    edited.labels[0].name = "changed too late"
    try store.write { [edited] in try $0.set(edited, replacing: read) }
    #expect(try task(store)?.labels == [Label(id: 2, name: "old"), Label(id: 3, name: "new")])
    #expect(try task(store)?.assignee == nil)
    #expect(try !store.read { try $0.contains("Label:1") })
    #expect(try store.verify().problems == [])
    try store.write { try $0.deleteIfPresent("Task:1") }
    expectFailure(.noSuchNode, "Task:1: was deleted after it had been read") {
      try store.write { [edited] in try $0.set(edited, replacing: read) }
    }
    #expect(try store.updateIfPresent(Task.self, "Task:1") { $0.title = "" } == nil)
    #expect(try store.verify().problems == [])
  }

  @Test func `a deleted child is stored again if the edit refers to it anew`() throws {
    let (store, read) = try made()
    try store.write { _ = try $0.deleteIfPresent("Person:2") }
    var edited = read
    edited.author = bob
    try store.write { [edited] in try $0.set(edited, replacing: read) }
    #expect(try task(store)?.author == bob)
    #expect(try store.verify().problems == [])
  }

  @Test func `a stored node that is attached comes in as it is stored`() throws {
    let (store, read) = try made()
    let cy = Person(id: 3, name: "Cy")
    try store.write { try $0.set(cy) }
    try store.write { try $0.set(Person(id: 3, name: "Cy M.")) }
    let stored = try store.updateIfPresent(Task.self, "Task:1") {
      $0.assignee = cy
      $0.labels.append(Label(id: 9, name: "nine"))
    }
    #expect(stored?.assignee?.name == "Cy M.")
    #expect(try task(store) == stored)
    #expect(stored?.labels.last?.name == "nine")
    // As a type that the node has no record of, with what that type needs besides.
    try store.write { try $0.setRoot(Card(id: 1, holder: FullProfile(id: 3, name: "?", age: 30))) }
    let card = try store.read { try $0.get("Card:1", as: Card.self) }
    #expect(card?.holder == FullProfile(id: 3, name: "Cy M.", age: 30))
    #expect(read.id == 1)
    #expect(try store.verify().problems == [])
  }

  @Test func `a root can be set without its children`() throws {
    let (store, read) = try made()
    try store.write { try $0.set(Person(id: 1, name: "Ada L.")) }
    var edited = read
    edited.title = "T"
    edited.labels = [Label(id: 2, name: "stale"), Label(id: 7, name: "new")]
    try store.write { [edited] in try $0.setRoot(edited) }
    #expect(try task(store)?.author.name == "Ada L.")
    #expect(try task(store)?.title == "T")
    #expect(try task(store)?.labels == [Label(id: 2, name: "old"), Label(id: 7, name: "new")])
    try store.write { try $0.setRoot(Task(id: 5, title: "New", author: Person(id: 8, name: "H"))) }
    #expect(try store.read { try $0.get("Task:5", as: Task.self) }?.author.name == "H")
    #expect(try store.verify().problems == [])
  }

  @Test func `an update keeps its identifier, and closes no cycle`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(Box(id: 1, inner: [Box(id: 2)])) }
    expectFailure(.invalidModel, "gave it the identifier Box:3") {
      try store.updateIfPresent(Box.self, "Box:1") { $0.id = 3 }
    }
    expectFailure(.invalidModel, "Box:2: it can't replace Box:1") {
      try store.write { try $0.set(Box(id: 2), replacing: Box(id: 1)) }
    }
    expectFailure(.cyclicModel, "would contain itself") {
      try store.updateIfPresent(Box.self, "Box:2") { $0.inner.append(Box(id: 1)) }
    }
    #expect(try store.read { try $0.get("Box:2", as: Box.self) } == Box(id: 2))
    #expect(try store.verify().problems == [])
  }

  @Test func `a write that expects a commit says who is newer`() throws {
    let (store, read) = try made()
    let number = try store.read { try $0.lastCommit(of: "Task:1") }
    try store.write(expecting: ["Task:1": number, "Task:2": nil]) { try $0.set(read) }
    try store.updateIfPresent(Task.self, "Task:1") { $0.count += 1 }
    let newest = try #require(try store.read { try $0.lastCommit(of: "Task:1") })
    expectFailure(
      .changedMeanwhile,
      "Task:1: commit 1 was expected to be its last, but commit \(newest.value) has"
    ) {
      try store.write(expecting: ["Task:1": number]) { try $0.set(read) }
    }
    try store.write { _ = try $0.deleteIfPresent("Task:1") }
    expectFailure(.changedMeanwhile, "but it has been deleted") {
      try store.write(expecting: ["Task:1": newest]) { try $0.set(read) }
    }
    expectFailure(.changedMeanwhile, "Person:1: it was not expected, but commit 1 has") {
      try store.write(expecting: ["Person:1": nil]) { try $0.set(read) }
    }
    #expect(try task(store) == nil)
  }

  enum Status: Codable, Equatable, Sendable {
    case open(since: Int)
    case done(by: Person)
    case none
  }

  struct Job: Model, Codable, Equatable {
    var status: Status
    var last: Status?
    var byName: [String: Status] = [:]
    var modelIdentifier: String? { "job" }
  }

  @Test func `cases of an enum are one value`() throws {
    // Was: two cases stood side by side, and nobody could decode the record any more.
    let store = try ModelStore.forTest()
    let read = Job(
      status: .open(since: 1), last: .open(since: 1), byName: ["a": .open(since: 1), "b": .none])
    try store.write { try $0.set(read) }
    try store.updateIfPresent(Job.self, "job") {
      $0.status = .none
      $0.last = .done(by: Person(id: 1, name: "Ada"))
      $0.byName["a"] = .some(.none)
      $0.byName["c"] = .some(.none)
    }
    var mine = read
    mine.status = .done(by: Person(id: 2, name: "Bob"))
    mine.last = .some(.none)
    mine.byName["a"] = .open(since: 2)
    try store.write { [mine] in try $0.set(mine, replacing: read) }
    var expected = mine
    expected.byName["c"] = .some(.none)
    #expect(try store.read { try $0.get("job", as: Job.self) } == expected)
    #expect(try store.verify().problems == [])
  }

  struct Tag: Model, Codable, Equatable {
    var id: Int
    var name: String
    var isPinned: Bool?
    var modelIdentifier: String? { "Person:\(id)" }
  }

  @Test func `an update through a type without a record keeps the fields of that type`() throws {
    // Was: fields that the stored type lacks were dropped.
    let store = try ModelStore.forTest()
    try store.write { try $0.set(ada) }
    let stored = try store.updateIfPresent(Tag.self, "Person:1") {
      $0.isPinned = true
      $0.name = "Ada L."
    }
    #expect(stored == Tag(id: 1, name: "Ada L.", isPinned: true))
    #expect(try store.read { try $0.get("Person:1", as: Tag.self) } == stored)
    #expect(try store.read { try $0.get("Person:1", as: Person.self) }?.name == "Ada L.")
    #expect(try store.verify().problems == [])
  }

  @Test func `an update returns what is stored`() throws {
    // Was: of a node that stands twice both places, though one of them counts.
    let (store, _) = try made()
    let stored = try store.updateIfPresent(Task.self, "Task:1") { $0.author.name = "X" }
    #expect(try task(store) == stored)
    #expect(stored?.watchers["a"]?.name == "X")
  }

  /// Many tasks change one tree, each fields of its own, with what it has read long before.
  @Test(arguments: seeds(2)) func `no update of many tasks is lost`(seed: UInt64) async throws {
    let (store, read) = try made()
    let count = 20
    await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<6 {
        group.addTask {
          var random = SeededGenerator(seed: seed &* 31 &+ UInt64(worker))
          var known = read
          for step in 0..<count {
            try await store.updateIfPresent(Task.self, "Task:1") {
              $0.count += 1
              $0.author.name += "."
            }
            if Bool.random(using: &random), let newer = try self.task(store) { known = newer }
            var edited = known
            edited.votes["w\(worker)"] = step
            edited.labels.append(Label(id: 100 + worker * count + step, name: "w\(worker)"))
            if worker == 0 { edited.title = "T\(step)" }
            if worker == 1 { edited.place?.city = "C\(step)" }
            if worker == 2 { edited.assignee?.name = "B\(step)" }
            if worker == 3 { edited.labels.removeAll { $0.name == "bug" } }
            try await store.write { [edited, known] in try $0.set(edited, replacing: known) }
          }
        }
      }
    }
    let last = count - 1
    let found = try #require(try task(store))
    #expect(found.count == 6 * count)
    #expect(found.author.name == "Ada" + String(repeating: ".", count: 6 * count))
    #expect((0..<6).allSatisfy { found.votes["w\($0)"] == last })
    #expect(found.title == "T\(last)" && found.place?.city == "C\(last)")
    #expect(found.assignee?.name == "B\(last)")
    let labels = found.labels.map(\.id)
    #expect(Set(labels) == Set([2] + (100..<(100 + 6 * count))))
    #expect(labels.count == 1 + 6 * count)
    #expect(try store.verify().problems == [])
  }
}
