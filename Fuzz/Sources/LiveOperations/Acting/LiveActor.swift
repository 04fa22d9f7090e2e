import Pando

/// One task of a run: its providers, and what it calls.
final class LiveActor: @unchecked Sendable {
  // Sendable because the one task that uses it hands it on only between rounds.

  let task: Int
  let world: LiveWorld
  let ledger: Ledger
  var choices: Choices
  var naive: NaiveTask
  let items: [TreeWatch<Models.Item>]
  let cards: TreeWatch<Models.Card>
  let shelves: [TreeWatch<Models.Shelf>]
  /// Both show the task's own list.
  let ownLists: [ListWatch]
  /// Both show the list of all.
  let sharedLists: [ListWatch]
  private let batch: BatchWatch
  var expectations: [Expectation] = []
  var spawned: [Task<Void, any Error>] = []
  /// Which of its own lists a gated part of the round uses, so that what its calls return can be
  /// followed; `nil` outside.
  var followed: Int?
  /// Whether nothing is carried out at present.
  var isGated = false

  init(_ task: Int, _ world: LiveWorld, _ choices: Choices) async throws {
    self.task = task
    self.world = world
    self.choices = choices
    ledger = world.ledger
    naive = NaiveTask(task, world.settings)
    let managers = world.managers
    let ledger = world.ledger
    func tree<T>(_ index: Int, _ key: String) -> TreeWatch<T> {
      TreeWatch(managers[index % managers.count], key, ledger)
    }
    items = (0..<2).map { tree($0, "own item") }
    cards = tree(0, "own card")
    shelves = (0..<2).map { tree($0, "own shelf") }
    let own = LiveNames.list(of: task)
    ownLists = (0..<2).map { _ in ListWatch(managers[0], own, ledger) }
    sharedLists = (0..<2).map {
      ListWatch(managers[$0 % managers.count], LiveNames.sharedList, ledger)
    }
    let members: [any AnyDataProvider] = [
      items[0].provider, shelves[0].provider, ownLists[0].provider, sharedLists[0].provider,
    ]
    batch = BatchWatch(members, managers[0], ledger)
    let batch = batch
    items[0].whenTold { [provider = items[0].provider] in batch.note(provider) }
    shelves[0].whenTold { [provider = shelves[0].provider] in batch.note(provider) }
    for list in [ownLists[0], sharedLists[0]] {
      list.whenTold { [provider = list.provider] in batch.note(provider) }
    }
    for list in ownLists { try await list.provider.fetchDataFromCache(withCacheKey: own) }
    for list in sharedLists {
      try await list.provider.fetchDataFromCache(withCacheKey: LiveNames.sharedList)
    }
    await world.drain()
    for list in ownLists + sharedLists { list.checkTold() }
  }

  /// Makes the calls of a round.
  func perform() async throws {
    var count = 0
    while count < world.settings.stepCount, !choices.isExhausted, !ledger.hasFinding {
      if choices.chance(count == 0 ? 50 : 10) {
        let isFirst = count == 0
        count += await performGated(followingFirst: isFirst)
      } else {
        if choices.chance(25) { try await wait() } else { call() }
        count += 1
      }
    }
  }

  /// Makes some calls while nothing is carried out.
  private func performGated(followingFirst isFirst: Bool) async -> Int {
    let count = 2 + choices.below(9)
    let list = choices.below(2)
    ledger.step(task, "stops \(count) calls")
    // All commits are shown first, so that nothing shown changes while the calls are made.
    await world.drain()
    let gate = world.makeGate()
    isGated = true
    if isFirst { followed = list }
    for _ in 0..<count { call() }
    followed = nil
    isGated = false
    gate.open()
    ledger.step(task, "goes on")
    return count
  }

  /// Makes a call and does not wait.
  private func call() {
    switch choices.below(32) {
    case 0..<12: callTree(choices.below(12))
    case 12..<22: editOwnList()
    case 22..<28: editSharedList()
    case 28..<30 where !isGated: pause()
    default: callTree(choices.below(3))
    }
  }

  /// Whether a call is written, too.
  func isWritten() -> Bool { !(world.settings.isUnsaved && choices.chance(25)) }

  func anyManager() -> DataModelManager { choices.pick(world.managers) }

  func anyName() -> Int { choices.pick(LiveNames.items(of: task)) }

  /// New content for an item that certainly counts.
  func newItem(_ name: Int, isWritten: Bool) -> Models.Item {
    let item = Models.Item(name, ledger.nextNumber())
    naive.set(name, item.number, isWritten: isWritten)
    return item
  }

  /// New content for an item that counts if the call is carried out.
  func perhapsItem(_ name: Int, isWritten: Bool) -> Models.Item {
    let item = Models.Item(name, ledger.nextNumber())
    naive.setPerhaps(name, item.number, isWritten: isWritten)
    return item
  }

  func expect(
    _ write: PendingWrite, _ outcome: Expectation.Outcome, _ name: String, isOrdered: Bool = true,
    isOfNaiveRows: Bool = false
  ) {
    expectations.append(
      Expectation(
        write: write, outcome: outcome, name: "\(task): \(name)",
        isOrdered: isOrdered && outcome == .success, isOfNaiveRows: isOfNaiveRows))
  }

  private func pause() {
    let isPaused = choices.chance(50)
    let which = choices.below(5)
    ledger.step(task, "pause \(which) \(isPaused)")
    setPaused(which, isPaused)
  }

  private func setPaused(_ which: Int, _ isPaused: Bool) {
    switch which {
    case 0: items[1].provider.isPaused = isPaused
    case 1: ownLists[1].provider.isPaused = isPaused
    case 2: sharedLists[1].provider.isPaused = isPaused
    case 3: shelves[1].provider.isPaused = isPaused
    default: batch.listener.isPaused = isPaused
    }
  }

  /// Awaits all pending calls and callbacks, and ends all pauses.
  func finishRound() async throws {
    for task in spawned { try await ledger.awaiting("what was begun") { try await task.value } }
    spawned = []
    for expectation in expectations { await expectation.check(ledger) }
    expectations = []
    for which in 0..<5 { setPaused(which, false) }
  }

  /// Compares with the naive model, when no call or callback is pending.
  func checkRest() throws {
    for watch in items { watch.checkTold() }
    cards.checkTold()
    for watch in shelves { watch.checkTold() }
    for list in ownLists + sharedLists { list.checkTold() }
    batch.check()
    for name in LiveNames.items(of: task) {
      for view in world.views {
        let number = view.items[name]?.provider.data?.number
        let allowed = naive.shown[name] ?? []
        ledger.require(
          allowed.contains(number),
          "item \(name): shown \(text(number)), the last change was \(allowed.map(text))")
      }
      try checkStored(name)
    }
    checkList()
    naive.departed = []
    checkEditors()
    if !world.settings.isUnsaved { checkShelf() }
    for list in ownLists + sharedLists {
      let key = list.provider.cacheKey ?? ""
      let other = world.views[0].lists[key]?.provider.data ?? []
      ledger.require(
        list.provider.data == other,
        "list \(key): an editor shows \(list.provider.data.map(\.text)), others \(other.map(\.text))"
      )
    }
  }

  private func checkStored(_ name: Int) throws {
    let shown = world.views[0].items[name]?.provider.data?.number
    var number = shown
    if let store = world.store {
      number = try store.read {
        try $0.get(LiveNames.item(name), as: Models.Item.self)?.number
      }
      let allowed = naive.stored[name] ?? []
      ledger.require(
        allowed.contains(number),
        "item \(name): stored \(text(number)), the last write was \(allowed.map(text))")
    }
    naive.settle(name, shown: shown, stored: number)
  }

  /// Editing providers show the same as those that only watch.
  private func checkEditors() {
    for watch in items {
      guard let key = watch.provider.modelIdentifier else { continue }
      // Without a store it waits for the next change, whatever is there.
      if world.store == nil, watch.provider.data == nil { continue }
      let view = world.views.first { $0.manager === watch.provider.dataModelManager }
      let other = view?.items.values.first { $0.key == key }?.provider.data
      ledger.require(
        watch.provider.data == other,
        "\(key): an editor shows \(watch.provider.data?.text ?? "nothing"), others \(other?.text ?? "nothing")"
      )
    }
    for watch in shelves where watch.provider.modelIdentifier != nil {
      let view = world.views.first { $0.manager === watch.provider.dataModelManager }
      let other = view?.shelves[task]?.provider.data
      ledger.require(
        watch.provider.data == other,
        "shelf \(task): an editor shows \(String(describing: watch.provider.data)), others \(String(describing: other))"
      )
    }
  }

  private func checkList() {
    let key = LiveNames.list(of: task)
    for view in world.views {
      let shown = view.lists[key]?.provider.data.map(\.name) ?? []
      ledger.require(
        shown == naive.elements, "list \(key): shown \(shown), not \(naive.elements)",
        isOfNaiveRows: true)
    }
  }

  private func checkShelf() {
    let shown = world.views[0].shelves[task]?.provider.data
    let expected = naive.shelf
    let isSame =
      shown?.name == expected?.name && shown?.books.map(\.name) == expected?.books
      && shown?.lead?.name == expected?.lead
    ledger.require(
      isSame,
      "shelf \(task): shown \(String(describing: shown)), not \(String(describing: expected))")
  }

  private func text(_ number: Int?) -> String { number.map { "#\($0)" } ?? "nothing" }
}
