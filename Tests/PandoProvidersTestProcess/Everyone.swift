import PandoModels
import PandoProviders
import PandoStore
import Synchronization

/// One of several processes that write all at once and show what all of them write.
///
/// Arguments: which one, how many there are, how many commits each makes. It says `ready`, writes when it gets
/// a line, says `done`, compares when it gets the next, and says `same`.
enum Everyone {
  /// The name of what a process writes last.
  private static let last = Int.max

  static func run(_ path: String, _ arguments: [String]) async throws {
    let numbers = arguments.compactMap { Int($0) }
    let (own, processCount, writeCount) = (numbers[0], numbers[1], numbers[2])
    let store = try ModelStore(path: path, configuration: .following)
    let manager = try DataModelManager(store: store)
    let people = (0..<processCount).map { _ in follower(manager) }
    let badges = (0..<processCount).map { _ in Told<Badge>(manager) { _ in } }
    let list = ToldList(manager) { expect($0 != .reset, "a reset that nobody made") }
    let edited = CollectionDataProvider<Person>(dataModelManager: manager)
    for (id, person) in people.enumerated() {
      try await person.provider.fetchDataFromCache(
        withCacheKey: "Person:\(id)", listensWhenAbsent: true)
    }
    for (id, badge) in badges.enumerated() {
      try await badge.provider.fetchDataFromCache(
        withCacheKey: "Badge:\(id)", listensWhenAbsent: true)
    }
    try await list.provider.fetchDataFromCache(withCacheKey: "people")
    try await edited.fetchDataFromCache(withCacheKey: "people")
    say("ready")
    _ = readLine()
    for number in 0..<writeCount - 1 {
      do {
        try await write(Person(id: own, name: "\(number)"), number, edited).committed()
      } catch let error as DataProviderError
        where error.code == .indexOutOfRange || error.code == .superseded
      {
        // Another process has meanwhile removed the element.
      }
    }
    try await manager.updateModel(Person(id: own, name: "\(last)")).committed()
    say("done")
    _ = readLine()
    for person in people {
      for try await shown in person.provider.values where shown?.name == "\(last)" { break }
    }
    // Callbacks may queue more.
    for _ in 0..<2 { await manager.drain() }
    try await store.read { snapshot in
      for (id, person) in people.enumerated() {
        let stored = try snapshot.get("Person:\(id)", as: Person.self)
        expect(person.provider.data == stored, "person \(id) is not as it is stored")
      }
      for (id, badge) in badges.enumerated() {
        let stored = try snapshot.get("Badge:\(id)", as: Badge.self)
        expect(badge.provider.data == stored, "badge \(id) is not as it is stored")
      }
      let stored = try snapshot.collection("people", as: Person.self) ?? []
      expect(list.provider.data == stored, "the list is not as it is stored")
      expect(list.leads(to: stored), "what was told does not lead to the list")
      expect(edited.data == stored, "the list that is edited is not as it is stored")
    }
    await manager.close()
    await store.close()
    say("same")
  }

  /// Shows a person whose name is a number that only grows.
  private static func follower(_ manager: DataModelManager) -> Told<Person> {
    let newest = Mutex(-1)
    return Told<Person>(manager) { person in
      guard let number = person.flatMap({ Int($0.name) }) else { return }
      let before = newest.withLock { newest in
        defer { newest = number }
        return newest
      }
      expect(before <= number, "told of write \(number) after \(before)")
    }
  }

  private static func write(
    _ person: Person, _ number: Int, _ list: CollectionDataProvider<Person>
  ) -> PendingWrite {
    let manager = list.dataModelManager
    let count = list.count
    switch number % 8 {
    case 0: return list.append([person])
    case 1: return list.insert([person], at: min(1, count))
    case 2 where count > 1: return list.move(from: 0, to: count - 1)
    case 3 where count > 0: return list.update(person, at: count / 2)
    case 4: return manager.updateModel(Badge(id: person.id, person: person))
    // With the badge, and from the list.
    case 5 where number % 16 == 5: return manager.deleteModel(person)
    case 6 where count > 12: return list.remove(at: 0..<6)
    case 6 where count > 0: return list.remove(at: 0)
    default: return manager.updateModel(person)
    }
  }
}
