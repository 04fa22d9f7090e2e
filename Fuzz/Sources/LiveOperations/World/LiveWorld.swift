import Pando

/// Where a run takes place: managers over one backing, and all that watches them.
final class LiveWorld: Sendable {
  let settings: LiveSettings
  let names: LiveNames
  let ledger: Ledger
  let store: ModelStore?
  let cache: LiveCache?
  /// Core managers over the store.
  let container: CoreManagerContainer?
  let managers: [DataModelManager]
  let views: [ManagerViews]
  private let queries: QueryWatches?
  private let itemSequences: [SequenceWatch<Models.Item?>]
  private let listSequences: [(key: String, watch: SequenceWatch<[Models.Item]>)]
  private let tasks: [Task<Void, Never>]

  /// Makes a world that is empty.
  init(_ settings: LiveSettings, path: String, _ ledger: Ledger) async throws {
    self.settings = settings
    self.ledger = ledger
    names = LiveNames(taskCount: settings.taskCount)
    switch settings.backing {
    case .store:
      var configuration = ModelStore.Configuration()
      configuration.durability = .unsynchronized
      configuration.mapSizeInBytes = 16 << 20
      configuration.maximumMapSizeInBytes = 1 << 30
      let store =
        settings.isInMemory
        ? try ModelStore.inMemory(configuration: configuration)
        : try ModelStore(path: path, configuration: configuration)
      let container = try CoreManagerContainer(
        entities: Models.Item.self, Models.Shelf.self, cacheLimit: settings.cacheLimit,
        diskStoreConfig: .store(store))
      (self.store, self.container, cache) = (store, container, nil)
      // A model that is shown only, is shown by one manager only.
      let others = settings.isUnsaved ? [] : [try DataModelManager(store: store)]
      managers = [container.dataModelManager] + others
    case .cache:
      let cache = LiveCache()
      (store, container, self.cache) = (nil, nil, cache)
      managers = [DataModelManager(cacheDelegate: cache)]
    case .memory:
      (store, container, cache) = (nil, nil, nil)
      managers = [DataModelManager()]
    }
    let names = names
    views = managers.map { ManagerViews($0, names, settings, ledger) }
    for key in names.lists {
      try await CollectionDataProvider<Models.Item>.setData(
        [], cacheKey: key, dataModelManager: managers[0]
      ).committed()
    }
    for (index, view) in views.enumerated() {
      if store == nil {
        // Without a store a list exists as long as a provider shows it.
        for (key, watch) in view.lists { watch.provider.setData([], cacheKey: key) }
      }
      try await ledger.awaiting("manager \(index) to begin") {
        try await view.begin()
      }
    }
    var tasks: [Task<Void, Never>] = []
    let first = views[0]
    itemSequences = LiveNames.items(of: 0).compactMap { name in
      guard let provider = first.items[name]?.provider else { return nil }
      let watch = SequenceWatch<Models.Item?>("values of item \(name)", ledger)
      tasks.append(watch.follow(provider.values) { $0 })
      return watch
    }
    listSequences = names.lists.compactMap { key in
      guard let provider = first.lists[key]?.provider else { return nil }
      let watch = SequenceWatch<[Models.Item]>("values of list \(key)", ledger)
      tasks.append(watch.follow(provider.values) { $0 })
      return (key, watch)
    }
    self.tasks = tasks
    queries = container.map { QueryWatches($0[Models.Item.self], ledger) }
    await drain()
    for view in views { view.checkTold() }
  }

  /// Stops what is shown and stored until it is opened.
  func makeGate() -> LiveGate {
    if let store { LiveGate(stopping: store) } else { LiveGate(stopping: managers[0]) }
  }

  /// The item that a fetch finds.
  func storedItem(_ name: Int) throws -> Models.Item? {
    let key = LiveNames.item(name)
    guard let store else { return cache?.model(key, as: Models.Item.self) }
    return try store.read { try $0.get(key, as: Models.Item.self) }
  }

  /// Waits until all is carried out and reported.
  func drain() async {
    await ledger.awaiting("all delegates") {
      for _ in 0..<2 { for manager in managers { await manager.drain() } }
    }
  }

  func close() async {
    await ledger.awaiting("all to be closed") {
      for task in tasks { task.cancel() }
      for task in tasks { await task.value }
      await queries?.end()
      await container?.close()
      for manager in managers { await manager.close() }
      await store?.close()
    }
  }

  /// After an awaited call no view of this process is behind.
  func checkShown(_ name: Int, _ number: Int?, after reason: String) {
    for view in views { view.checkShown(name, number, reason) }
  }

  /// Compares all that watches, when no call or callback is pending.
  func checkRest(_ taint: Taint) async throws {
    for view in views {
      view.checkMoment()
      view.checkTold()
    }
    for key in names.lists {
      let shown = views.compactMap { $0.lists[key]?.provider.data }
      ledger.require(
        shown.allSatisfy { $0 == shown[0] },
        "managers show list \(key) as \(shown.map { $0.map(\.text) })")
    }
    for (name, watch) in zip(LiveNames.items(of: 0), itemSequences) {
      await watch.wait(until: views[0].items[name]?.provider.data)
    }
    for (key, watch) in listSequences {
      await watch.wait(until: views[0].lists[key]?.provider.data ?? [])
    }
    try ledger.throwFinding()
    if let cache, !settings.isUnsaved {
      for (key, watch) in views[0].lists {
        let cached = cache.elements(key, as: Models.Item.self)?.map(\.name) ?? []
        let shown = watch.provider.data.map(\.name)
        ledger.require(
          cached == shown, "list \(key): shown \(shown), the cache has \(cached)")
      }
    }
    if let store { try await checkStored(store, taint) }
    try await queries?.check()
    try ledger.throwFinding()
  }

  private func checkStored(_ store: ModelStore, _ taint: Taint) async throws {
    try await store.read { [views] snapshot in
      for view in views { try view.checkStored(snapshot, taint) }
    }
    guard let manager = container?[Models.Item.self] else { return }
    for name in names.items {
      let found = try await manager.get(byID: .remote(name))
      let stored = try await store.read {
        try $0.get(LiveNames.item(name), as: Models.Item.self)
      }
      ledger.require(
        found == stored,
        "item \(name): the manager has \(found?.text ?? "nothing"), the store \(stored?.text ?? "nothing")"
      )
    }
  }
}

/// The names that were set in memory only in this run: their stored state differs.
struct Taint: Sendable {
  var items: Set<Int> = []
  /// Those with such an item, shelf or box.
  var tasks: Set<Int> = []
  var lists: Set<String> = []

  mutating func formUnion(_ other: Taint) {
    items.formUnion(other.items)
    tasks.formUnion(other.tasks)
    lists.formUnion(other.lists)
  }
}
