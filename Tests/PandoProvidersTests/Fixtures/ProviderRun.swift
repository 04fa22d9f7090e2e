import PandoFixtures
import PandoModels
import PandoProviders
import PandoRecords
import PandoSystem
import Testing

/// Random calls on providers and managers, each numbered by its context.
final class ProviderRun: Sendable {
  static let idCount = 5
  private static let threadCount = 4
  private static let stepCount = 60

  /// The effect of a call on the data.
  enum Change: Sendable {
    case set([any SimpleModel])
    case delete(String)
  }

  let seed: UInt64
  /// The numbers of the changes, in the order in which they were carried out.
  let history = Locked<[Int]>([])
  private let changes = Locked<[Change]>([])
  private let hasStore: Bool
  private let managers: [DataModelManager]
  private let people: [FollowedProvider<Person>]
  private let profiles: [FollowedProvider<FullProfile>]
  private let messages: [FollowedProvider<Message>]
  private let rounds = Locked<UInt64>(0)

  init(seed: UInt64, managers: [DataModelManager]) {
    self.seed = seed
    self.managers = managers
    hasStore = managers.count > 1
    func make<T: SimpleModel>(_ type: T.Type) -> [FollowedProvider<T>] {
      (0..<Self.threadCount * 2).map { FollowedProvider(managers[$0 % managers.count]) }
    }
    people = make(Person.self)
    profiles = make(FullProfile.self)
    messages = make(Message.self)
  }

  /// Calls at random from several threads, then waits until all is quiet.
  func perform() async throws {
    let round = rounds.withLock { rounds in
      rounds += 1
      return rounds
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<Self.threadCount {
        var random = SeededGenerator(seed: seed << 16 + round << 8 + UInt64(thread))
        group.addTask { try await self.perform(thread, &random) }
      }
      try await group.waitForAll()
    }
    for provider in people { provider.resume() }
    for provider in profiles { provider.resume() }
    for provider in messages { provider.resume() }
    for manager in managers { await manager.drain() }
    for manager in managers { await manager.drain() }
  }

  private func perform(_ thread: Int, _ random: inout SeededGenerator) async throws {
    for _ in 0..<Self.stepCount {
      let index = thread * 2 + Int.random(in: 0..<2, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: try await perform(on: people[index], "Person", makePerson(&random), &random)
      case 1: try await perform(on: profiles[index], "Person", makeProfile(&random), &random)
      default: try await perform(on: messages[index], "Message", makeMessage(&random), &random)
      }
    }
  }

  private func perform<T: SimpleModel>(
    on provider: FollowedProvider<T>, _ prefix: String, _ model: T,
    _ random: inout SeededGenerator
  ) async throws {
    let key = "\(prefix):\(Int.random(in: 0..<Self.idCount, using: &random))"
    let manager = managers[Int.random(in: 0..<managers.count, using: &random)]
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6: provider.set(model, number: note(.set([model])))
    case 6: provider.set(nil, number: 0)
    case 7..<10:
      manager.updateModel(model, context: note(.set([model])))
    case 10..<12:
      let models: [any SimpleModel] = [makePerson(&random), makeMessage(&random)]
      manager.updateModels(models, context: note(.set(models)))
    case 12..<14:
      manager.deleteModel(Key(key: key), context: note(.delete(key)))
    case 14: provider.pause()
    case 15: provider.resume()
    case 16..<18 where hasStore: await provider.fetch(key, listens: false)
    case 18 where hasStore: await provider.fetch(key, listens: true)
    default: await Task.yield()
    }
  }

  private func note(_ change: Change) -> Int {
    changes.withLock { changes in
      changes.append(change)
      return changes.count - 1
    }
  }

  /// Only names a node; it is deleted whatever its type.
  private struct Key: Model, Codable, Equatable {
    var key: String
    var modelIdentifier: String? { key }
  }

  private func makePerson(_ random: inout SeededGenerator) -> Person {
    Person(
      id: Int.random(in: 0..<Self.idCount, using: &random),
      name: "\(Int.random(in: 0..<100, using: &random))",
      isOnline: Bool.random(using: &random))
  }

  private func makeProfile(_ random: inout SeededGenerator) -> FullProfile {
    FullProfile(
      id: Int.random(in: 0..<Self.idCount, using: &random),
      name: "\(Int.random(in: 0..<100, using: &random))",
      age: Int.random(in: 0..<100, using: &random))
  }

  private func makeMessage(_ random: inout SeededGenerator) -> Message {
    let author = makePerson(&random)
    let reader = makePerson(&random)
    return Message(
      id: Int.random(in: 0..<Self.idCount, using: &random),
      text: "\(Int.random(in: 0..<100, using: &random))", author: author,
      reader: reader.id == author.id ? nil : reader)
  }

  /// The reference after all changes, applied one after another.
  func makeReference() -> ProviderReference {
    let changes = changes.withLock { $0 }
    var reference = ProviderReference()
    for number in history.withLock({ $0 }) { reference.carryOut(changes[number]) }
    return reference
  }

  /// Compares what providers show, and what their delegates know.
  func compare(with reference: ProviderReference) {
    for provider in people { provider.compare(seed) { reference.person($0) } }
    for provider in profiles { provider.compare(seed) { reference.profile($0) } }
    for provider in messages { provider.compare(seed) { reference.message($0) } }
  }
}

/// A provider with what its owner should know.
final class FollowedProvider<T: SimpleModel & Equatable>: DataProviderDelegate {
  private let provider: DataProvider<T>
  private let known = Locked<T?>(nil)
  /// The identifier that it shows or awaits.
  private let identity = Locked<String?>(nil)

  init(_ manager: DataModelManager) {
    provider = DataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func dataProviderHasUpdatedData<U>(_ dataProvider: DataProvider<U>, context: (any Sendable)?) {
    note()
  }

  private func note() {
    // In one step: owner and delegate may note at once.
    known.withLock { $0 = provider.data }
  }

  func set(_ model: T?, number: Int) {
    provider.setData(model, context: number)
    identity.withLock { $0 = model?.modelIdentifier }
    note()
  }

  func fetch(_ key: String, listens: Bool) async {
    do {
      let found = try await provider.fetchDataFromCache(
        withCacheKey: key, listensWhenAbsent: listens)
      if found != nil || listens { identity.withLock { $0 = key } }
    } catch {
      // There is a record of another type only, which lacks a field.
      if listens { identity.withLock { $0 = key } }
    }
    note()
  }

  func pause() { provider.isPaused = true }

  func resume() { provider.isPaused = false }

  func compare(_ seed: UInt64, _ expected: (Int) -> T?) {
    let identity = identity.withLock { $0 }
    let id = identity.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) }
    #expect(provider.data == id.flatMap(expected), "seed \(seed), \(identity ?? "nothing")")
    #expect(known.withLock { $0 } == provider.data, "seed \(seed): \(identity ?? "") is not told")
  }
}
