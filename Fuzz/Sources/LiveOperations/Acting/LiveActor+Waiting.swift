import Pando

/// Calls that are awaited, and what must show then.
extension LiveActor {
  private struct Undone: Error {}

  func wait() async throws {
    let name = anyName()
    switch choices.below(12) {
    case 0..<4: try await awaitLast(name)
    case 4: try await fetch(name)
    case 5..<8: try await write(name)
    case 8..<11: try await useManager(name)
    default: await Task.yield()
    }
  }

  /// Waits for the last call; then it shows everywhere.
  private func awaitLast(_ name: Int) async throws {
    guard let last = expectations.last else { return }
    ledger.step(task, "awaits \(last.name)")
    await last.check(ledger)
    guard last.isOrdered else { return }
    checkShown(name, "the awaited \(last.name)")
  }

  private func checkShown(_ name: Int, _ reason: String) {
    // A store has carried out all calls before the last, awaited or not, as they come in order.
    guard let number = naive.certain(name) else { return }
    world.checkShown(name, number, after: reason)
  }

  private func fetch(_ name: Int) async throws {
    let index = choices.below(2)
    let provider = items[index].provider
    let key = LiveNames.item(name)
    ledger.step(task, "fetches \(name) by \(index)")
    guard world.settings.backing != .memory else {
      provider.listen(to: key)
      return items[index].note()
    }
    let listens = choices.chance(50)
    let isGone = naive.isGone(name)
    // Else the deletion in memory may not be carried out yet, and comes behind.
    let isCertain = isGone && choices.chance(50)
    if naive.vanished.contains(name) { ledger.loosen(name) }
    if isCertain { await world.drain() }
    // One that stands still may show it yet.
    let isShown = provider.data?.name == name
    let found = try await ledger.awaiting("fetch of \(key)") {
      try await provider.fetchDataFromCache(withCacheKey: key, listensWhenAbsent: listens)
    }
    items[index].note()
    guard isGone else { return }
    naive.bringBack(name, found?.number, isCertain: isCertain && !isShown)
    if provider.isPaused {
      // It returns what it stands still at; others show what the fetch has found.
      naive.bringBack(name, try world.storedItem(name)?.number, isCertain: false)
    }
    guard isCertain, !isShown else { return }
    let stored = try world.storedItem(name)?.number
    ledger.require(
      found?.number == stored,
      "item \(name): fetched \(found?.number ?? 0), stored \(stored ?? 0)")
    checkShown(name, "a fetch")
  }

  /// Writes past all providers.
  private func write(_ name: Int) async throws {
    guard let store = world.store else { return }
    let kind = choices.below(7)
    let other = anyName()
    let first = newItem(name, isWritten: true)
    let second = other == name ? first : newItem(other, isWritten: true)
    let isThere = naive.elements.contains(name)
    let place = choices.below(4)
    let (own, shared) = (LiveNames.list(of: task), LiveNames.sharedList)
    ledger.step(task, "write \(kind) of \(first.text), \(second.text)")
    switch kind {
    case 2, 5: break
    default:
      // Deletes the first and sets it again.
      naive.delete(name, isWritten: true)
      naive.set(name, first.number, isWritten: true)
    }
    let isAppended =
      switch kind {
      case 5: !isThere && !world.settings.isUnsaved && mayReturn(name)
      case 6: mayReturn(name)
      default: false
      }
    if isAppended { naive.elements.append(name) }
    try await ledger.awaiting("write \(kind)") {
      try await store.write { transaction in
        let count = try transaction.snapshot.collectionCount(shared) ?? 0
        switch kind {
        case 0: try transaction.set(first)
        case 1: try transaction.append([first, first], toCollection: shared)
        case 2:
          try? transaction.nested { inner in
            try inner.set(Models.Item(name, 1))
            try inner.append([second, second], toCollection: shared)
            _ = try inner.deleteIfPresent(LiveNames.item(other))
            throw Undone()
          }
        case 3 where count > 0:
          try transaction.update(first, at: place % count, inCollection: shared)
        case 4 where count > 0:
          try transaction.moveElement(
            from: place % count, to: count - 1, inCollection: shared)
          try transaction.removeElements(
            in: (place % count)..<(place % count + 1), fromCollection: shared)
        case 5:
          if isAppended { try transaction.append([first], toCollection: own) }
          try transaction.merge(second)
        default: break
        }
        if kind != 2, kind != 5 { _ = try transaction.deleteIfPresent(LiveNames.item(name)) }
        try transaction.set(first)
        if kind == 6, isAppended { try transaction.append([first], toCollection: own) }
        try transaction.set(second)
      }
    }
    checkShown(name, "write \(kind)")
    checkShown(other, "write \(kind)")
  }

  private func useManager(_ name: Int) async throws {
    guard let manager = world.container?[Models.Item.self] else { return }
    switch choices.below(8) {
    case 0...2:
      let item = newItem(name, isWritten: true)
      ledger.step(task, "manager sets \(item.text)")
      try await ledger.awaiting("manager.set") { _ = try await manager.set(item) }
      checkShown(name, "manager.set")
      try await checkFound(manager, name)
    case 3:
      let all = LiveNames.items(of: task).map { newItem($0, isWritten: true) }
      ledger.step(task, "manager sets \(all.map(\.text))")
      try await ledger.awaiting("manager.set of several") { _ = try await manager.set(all) }
      for item in all { checkShown(item.name, "manager.set of several") }
    case 4:
      ledger.step(task, "manager removes \(name)")
      naive.delete(name, isWritten: true)
      try await ledger.awaiting("manager.remove") {
        _ = try await manager.remove(atID: .remote(name))
      }
      checkShown(name, "manager.remove")
      try await checkFound(manager, name)
    case 5:
      guard let container = world.container else { return }
      let shelf = makeShelf(true)
      ledger.step(task, "manager sets a shelf of \(shelf.contents)")
      try await ledger.awaiting("manager.set of a shelf") {
        _ = try await container[Models.Shelf.self].set(shelf)
      }
      for content in shelf.contents { checkShown(content.name, "manager.set of a shelf") }
    case 6:
      // It is not awaited: the next call may come before it.
      naive.loosen(name)
      let item = perhapsItem(name, isWritten: true)
      ledger.loosen(name)
      ledger.step(task, "manager begins to set \(item.text)")
      spawned.append(Task { _ = try await manager.set(item) })
    default: if expectations.isEmpty { try await checkFound(manager, name) }
    }
  }

  /// A manager finds the item that was written last.
  private func checkFound(_ manager: CoreManager<Models.Item>, _ name: Int) async throws {
    let names = LiveNames.items(of: task)
    let found = try await ledger.awaiting("manager.get") {
      try await manager.get(byIDs: names.map { .remote($0) }).entities
    }
    let all = try await ledger.awaiting("manager.search") {
      try await manager.search(withQuery: Query(filter: \.id >> names.map { .remote($0) })).entities
    }
    guard let number = naive.certainlyStored(name) else { return }
    ledger.require(
      found.first { $0.name == name }?.number == number
        && all.first { $0.name == name }?.number == number,
      "item \(name): found \(found.map(\.text)) and \(all.map(\.text)), not #\(number ?? 0)")
  }
}
