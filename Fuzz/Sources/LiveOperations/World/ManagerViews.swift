import Pando

/// All that a manager shows of a run, by providers that only watch.
final class ManagerViews: Sendable {
  let manager: DataModelManager
  let items: [Int: TreeWatch<Models.Item>]
  let cards: [Int: TreeWatch<Models.Card>]
  let shelves: [Int: TreeWatch<Models.Shelf>]
  let boxes: [Int: TreeWatch<Models.Box>]
  let lists: [String: ListWatch]
  private let settings: LiveSettings
  private let ledger: Ledger

  init(
    _ manager: DataModelManager, _ names: LiveNames, _ settings: LiveSettings, _ ledger: Ledger
  ) {
    self.manager = manager
    self.settings = settings
    self.ledger = ledger
    func watches<T>(_ names: [Int], _ key: (Int) -> String) -> [Int: TreeWatch<T>] {
      Dictionary(
        uniqueKeysWithValues: names.map {
          ($0, TreeWatch<T>(manager, key($0), ledger, seesOrder: true))
        })
    }
    items = watches(names.items) { LiveNames.item($0) }
    cards = watches(names.items) { LiveNames.item($0) }
    shelves = watches(names.tasks) { LiveNames.shelf($0) }
    boxes = watches(names.tasks) { LiveNames.box($0) }
    lists = Dictionary(
      uniqueKeysWithValues: names.lists.map {
        ($0, ListWatch(manager, $0, ledger, seesOrder: true))
      })
  }

  /// Begins to show; there are the lists, and in a store what others have written.
  func begin() async throws {
    func listen<T>(_ watches: [Int: TreeWatch<T>]) async throws {
      for watch in watches.values {
        if settings.backing == .store {
          try await watch.provider.fetchDataFromCache(
            withCacheKey: watch.key, listensWhenAbsent: true)
          watch.note()
        } else {
          watch.provider.listen(to: watch.key)
        }
      }
    }
    try await listen(items)
    try await listen(cards)
    try await listen(shelves)
    try await listen(boxes)
    for (key, watch) in lists {
      // The first manager has made the list.
      try await watch.provider.fetchDataFromCache(withCacheKey: key)
    }
    for watch in items.values {
      watch.whenTold { [weak self] in self?.checkMoment() }
    }
    for watch in cards.values {
      watch.whenTold { [weak self] in self?.checkMoment() }
    }
    for watch in shelves.values {
      watch.whenTold { [weak self] in self?.checkMoment() }
    }
    for watch in lists.values {
      watch.whenTold { [weak self] in self?.checkMoment() }
    }
  }

  /// In a snapshot, wherever it is taken, all show a node alike.
  func checkMoment() {
    var seen: [Int: [(place: String, number: Int)]] = [:]
    var absent: Set<Int> = []
    manager.snapshot { snapshot in
      func note<T>(_ watch: TreeWatch<T>, _ contents: [(name: Int, number: Int)]) {
        for (name, number) in contents { seen[name, default: []].append((watch.key, number)) }
      }
      for (name, watch) in items {
        if let item = snapshot.data(of: watch.provider) {
          note(watch, item.contents)
        } else {
          absent.insert(name)
        }
      }
      for watch in shelves.values {
        note(watch, snapshot.data(of: watch.provider)?.contents ?? [])
      }
      for watch in boxes.values {
        note(watch, snapshot.data(of: watch.provider)?.item.contents ?? [])
      }
      for (key, watch) in lists {
        for item in snapshot.data(of: watch.provider) {
          seen[item.name, default: []].append((key, item.number))
        }
      }
      for (name, places) in seen where absent.contains(name) {
        ledger.find("in a snapshot item \(name) is absent, and shown by \(places)")
      }
      for watch in cards.values {
        note(watch, snapshot.data(of: watch.provider)?.contents ?? [])
      }
      for watch in boxes.values {
        note(watch, snapshot.data(of: watch.provider)?.card?.contents ?? [])
      }
    }
    for (name, places) in seen where Set(places.map(\.number)).count > 1 {
      ledger.find("in a snapshot item \(name) is not alike: \(places)")
    }
  }

  /// At rest delegates know what is shown.
  func checkTold() {
    for watch in items.values { watch.checkTold() }
    for watch in cards.values { watch.checkTold() }
    for watch in shelves.values { watch.checkTold() }
    for watch in boxes.values { watch.checkTold() }
    for watch in lists.values { watch.checkTold() }
  }

  /// At rest they show what is stored.
  func checkStored(_ snapshot: borrowing ModelSnapshot, _ taint: Taint = Taint()) throws {
    for (name, watch) in items where !taint.items.contains(name) {
      watch.checkStored(try snapshot.get(watch.key, as: Models.Item.self))
    }
    for (name, watch) in cards where !taint.items.contains(name) {
      watch.checkStored(try snapshot.get(watch.key, as: Models.Card.self))
    }
    for (task, watch) in shelves where !taint.tasks.contains(task) {
      watch.checkStored(try snapshot.get(watch.key, as: Models.Shelf.self))
    }
    for (task, watch) in boxes where !taint.tasks.contains(task) {
      watch.checkStored(try snapshot.get(watch.key, as: Models.Box.self))
    }
    for (key, watch) in lists where !taint.lists.contains(key) {
      watch.checkStored(try snapshot.collection(key, as: Models.Item.self) ?? [])
    }
  }

  /// All places in which an item is shown have this content.
  func checkShown(_ name: Int, _ number: Int?, _ reason: String) {
    let shown = items[name]?.provider.data?.number
    ledger.require(
      shown == number, "after \(reason) item \(name) is \(text(shown)), not \(text(number))")
    for (key, watch) in lists {
      for item in watch.provider.data where item.name == name {
        ledger.require(
          item.number == number,
          "after \(reason) list \(key) shows item \(name) as \(item.number), not \(text(number))")
      }
    }
    for (key, watch) in shelves {
      for content in watch.provider.data?.contents ?? [] where content.name == name {
        ledger.require(
          content.number == number,
          "after \(reason) shelf \(key) shows item \(name) as \(content.number), not \(text(number))"
        )
      }
    }
  }

  private func text(_ number: Int?) -> String { number.map { String($0) } ?? "nothing" }
}
