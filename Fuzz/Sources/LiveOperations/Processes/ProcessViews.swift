import Pando

/// All that a process shows of a store in which many write: every tree, every list, queries.
final class ProcessViews: Sendable {
  /// How many groups of items, each with a shelf, a box and a list, there are.
  ///
  /// Those of the last group are written by providers, all others in transactions that move the clock.
  static let groupCount = 3
  static let names = LiveNames(taskCount: groupCount)
  static let clockedGroups = 0..<groupCount - 1
  static let providersGroup = groupCount - 1

  let store: ModelStore
  let container: CoreManagerContainer
  let ledger: Ledger
  private let views: ManagerViews
  private let clock: ClockWatch
  /// Stands still now and then.
  private let pausing: ListWatch
  private let queries: QueryWatches
  private let lists: [(key: String, watch: SequenceWatch<[Models.Item]>)]
  private let tasks: [Task<Void, Never>]

  init(_ settings: ProcessSettings, _ ledger: Ledger) async throws {
    self.ledger = ledger
    var configuration = Self.configuration
    configuration.followsOtherProcesses = settings.control != .hearsNothing
    store = try ModelStore(path: settings.path, configuration: configuration)
    container = try CoreManagerContainer(
      entities: Models.Item.self, Models.Shelf.self, diskStoreConfig: .store(store))
    let manager = container.dataModelManager
    // The writes of providers have no number that follows from the order of commits.
    for name in LiveNames.items(of: Self.providersGroup) { ledger.loosen(name) }
    views = ManagerViews(
      manager, Self.names, LiveSettings(backing: .store, taskCount: Self.groupCount), ledger)
    clock = ClockWatch(manager, settings.process, ledger)
    pausing = ListWatch(
      manager, LiveNames.sharedList, ledger, seesOrder: true,
      missesSome: settings.control == .missesChanges)
    try await ledger.awaiting("the first reads") { [views, clock, pausing] in
      try await views.begin()
      try await clock.begin()
      try await pausing.provider.fetchDataFromCache(withCacheKey: LiveNames.sharedList)
    }
    var tasks: [Task<Void, Never>] = []
    lists = views.lists.map { key, list in
      let changes = QueryChanges("list \(key)", ledger)
      let watch = SequenceWatch<[Models.Item]>("changes of list \(key)", ledger)
      tasks.append(watch.follow(list.provider.changes) { changes.follow($0) })
      return (key, watch)
    }
    self.tasks = tasks
    queries = QueryWatches(container[Models.Item.self], ledger)
  }

  /// A small map, so that it has to grow, in all processes.
  static var configuration: ModelStore.Configuration {
    var configuration = ModelStore.Configuration()
    configuration.durability = .unsynchronized
    configuration.mapSizeInBytes = 256 << 10
    configuration.maximumMapSizeInBytes = 1 << 32
    // No process is stopped for so many commits.
    configuration.changeLogLimit = 50_000
    return configuration
  }

  /// Makes the store with its lists; no process has it open.
  static func makeStore(_ path: String) throws {
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    try store.write { transaction in
      for key in names.lists { try transaction.setCollection(key, to: [Models.Item]()) }
    }
  }

  var manager: DataModelManager { container.dataModelManager }

  /// Has one of the lists stand still, or go on.
  func pause(_ isPaused: Bool) { pausing.provider.isPaused = isPaused }

  /// Compares all, while no process writes.
  ///
  /// - Parameter count: The number of the clock in the newest commit.
  /// - Throws: ``LiveFinding`` if a state is not the expected one.
  func check(_ count: Int) async throws {
    await clock.wait(for: count)
    pause(false)
    await ledger.awaiting("all delegates") {
      // Callbacks may queue more.
      for _ in 0..<2 { await manager.drain() }
    }
    views.checkMoment()
    for (key, list) in views.lists where key != LiveNames.list(of: Self.providersGroup) {
      list.requireNoReset()
    }
    pausing.requireNoReset()
    views.checkTold()
    pausing.checkTold()
    clock.tree.checkTold()
    try ledger.throwFinding()
    let stored = try await store.read { [self] snapshot in
      try views.checkStored(snapshot)
      clock.tree.checkStored(try snapshot[Models.Clock.key])
      let stored = try lists.map { try snapshot.collection($0.key, as: Models.Item.self) ?? [] }
      pausing.checkStored(
        try snapshot.collection(LiveNames.sharedList, as: Models.Item.self) ?? [])
      return stored
    }
    try ledger.throwFinding()
    for (list, elements) in zip(lists, stored) { await list.watch.wait(until: elements) }
    try await queries.check()
    try ledger.throwFinding()
  }

  /// Microseconds from within the write of another process until a delegate here, since the last time.
  func takeDelays() -> [Int] { clock.takeDelays() }

  func close() async {
    await ledger.awaiting("all to be closed") {
      for task in tasks { task.cancel() }
      for task in tasks { await task.value }
      await queries.end()
      await container.close()
      await store.close()
    }
  }
}
