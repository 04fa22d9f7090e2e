import Pando

/// Edits of lists that are not awaited.
extension LiveActor {
  private typealias Provider = CollectionDataProvider<Models.Item>

  /// Edits the task's own list, where the naive model says what that leads to.
  ///
  /// That is so where the list is shown as it will be, or nothing is carried out meanwhile: then each
  /// place is beside an element that is there, and no element is shown that is there again.
  func editOwnList() {
    let index = followed ?? choices.below(2)
    let watch = ownLists[index]
    let shown = watch.provider.data.map(\.name)
    let isExact = shown == naive.elements
    guard isExact || isGated && !watch.provider.isPaused else { return }
    // Before the call: others may get changes in terms of it as soon as it is made.
    if followed == nil { for list in ownLists { list.lose() } }
    let kind = choices.below(12)
    let written = isWritten()
    if !written { naive.taintList(LiveNames.list(of: task)) }
    switch kind {
    case 0..<4: bringIn(watch, shown, written)
    case 4..<6: updateOwn(watch, shown, written)
    case 6..<8: removeOwn(watch, shown, written)
    case 8..<11: moveOwn(watch, shown, written)
    default: setOwn(watch, written)
    }
  }

  /// Applies the result of an own call, if that is behind all reported changes.
  private func note(_ write: PendingWrite, _ watch: ListWatch) {
    if followed != nil { watch.follow(write.change) }
  }

  /// Where a place of what is shown is in the naive model's list; `nil` if both neighbours have gone.
  private func naivePlace(_ place: Int, _ shown: [Int], without hidden: Int? = nil) -> Int? {
    let elements = naive.elements.filter { $0 != hidden }
    if place == shown.count { return elements.count }
    if let index = elements.firstIndex(of: shown[place]) { return index }
    if place == 0 { return 0 }
    return elements.firstIndex(of: shown[place - 1]).map { $0 + 1 }
  }

  /// Whether an item may come into the list again: for a provider that stands still it would be the
  /// element that was there before, and an edit of that one fails.
  func mayReturn(_ name: Int) -> Bool {
    !naive.departed.contains(name) || ownLists.allSatisfy { !$0.provider.isPaused }
  }

  /// Whether a call without a provider is made instead; the editor's delegate gets it.
  private func isStatic() -> Bool { followed == nil && choices.chance(30) }

  /// Brings an item in that is neither shown in the list nor there.
  private func bringIn(_ watch: ListWatch, _ shown: [Int], _ written: Bool) {
    let free = LiveNames.items(of: task).filter {
      !shown.contains($0) && !naive.elements.contains($0) && mayReturn($0)
    }
    guard !free.isEmpty else { return }
    let name = choices.pick(free)
    let place = choices.below(shown.count + 1)
    guard let index = naivePlace(place, shown) else { return }
    let item = newItem(name, isWritten: written)
    naive.elements.insert(name, at: index)
    let isAppended = place == shown.count
    let isStatic = isStatic() && !watch.provider.isPaused
    ledger.step(
      task, "inserts \(item.text) at \(place) of \(shown), static \(isStatic), \(written)")
    let key = LiveNames.list(of: task)
    let manager = world.managers[0]
    let write =
      switch (isStatic, isAppended) {
      case (false, false): watch.provider.insert([item], at: place, updateCache: written)
      case (false, true): watch.provider.append([item], updateCache: written)
      case (true, false):
        Provider.insert(
          [item], at: place, cacheKey: key, dataModelManager: manager, updateCache: written)
      case (true, true):
        Provider.append([item], cacheKey: key, dataModelManager: manager, updateCache: written)
      }
    expect(write, .success, "insertion of \(item.text)", isOfNaiveRows: true)
    note(write, watch)
  }

  private func updateOwn(_ watch: ListWatch, _ shown: [Int], _ written: Bool) {
    guard !shown.isEmpty else { return }
    let place = choices.below(shown.count)
    let name = shown[place]
    let isThere = naive.elements.contains(name)
    // One that is no longer shown may be stored.
    if !isThere, world.settings.isUnsaved { return }
    // Of an element that was shown only, nothing is written.
    let isCertain = isThere && !(written && !naive.taint.lists.isEmpty)
    let item: Models.Item
    if isCertain {
      item = newItem(name, isWritten: written)
    } else if isThere {
      item = perhapsItem(name, isWritten: written)
    } else {
      item = Models.Item(name, ledger.nextNumber())
    }
    ledger.step(task, "updates \(item.text) at \(place) of \(shown), there \(isThere), \(written)")
    let write = watch.provider.update(item, at: place, updateCache: written)
    if written, isThere || naive.taint.lists.isEmpty {
      expect(
        write, isThere ? .success : .superseded, "update of \(item.text)", isOfNaiveRows: true)
    } else {
      expect(write, .any, "update of \(item.text)")
    }
    note(write, watch)
  }

  private func removeOwn(_ watch: ListWatch, _ shown: [Int], _ written: Bool) {
    guard !shown.isEmpty else { return }
    let start = choices.below(shown.count)
    let end = choices.chance(30) ? min(shown.count, start + 2) : start + 1
    let isStatic = isStatic() && !watch.provider.isPaused
    ledger.step(
      task, "removes \(start)..<\(end) of \(shown), static \(isStatic), \(written)")
    let write: PendingWrite
    if isStatic {
      write = Provider.remove(
        at: start..<end, cacheKey: LiveNames.list(of: task), dataModelManager: world.managers[0],
        updateCache: written)
    } else if end == start + 1 {
      write = watch.provider.remove(at: start, updateCache: written)
    } else {
      write = watch.provider.remove(at: start..<end, updateCache: written)
    }
    naive.elements.removeAll { shown[start..<end].contains($0) }
    expect(write, .any, "removal")
    note(write, watch)
  }

  private func moveOwn(_ watch: ListWatch, _ shown: [Int], _ written: Bool) {
    guard !shown.isEmpty else { return }
    let place = choices.below(shown.count)
    let target = choices.below(shown.count)
    let name = shown[place]
    var rest = shown
    rest.remove(at: place)
    guard let index = naivePlace(target, rest, without: name) else { return }
    let isStatic = isStatic() && !watch.provider.isPaused
    ledger.step(
      task, "moves \(place) to \(target) of \(shown), static \(isStatic), \(written)")
    let write =
      isStatic
      ? Provider.move(
        from: place, to: target, cacheKey: LiveNames.list(of: task),
        dataModelManager: world.managers[0], updateCache: written)
      : watch.provider.move(from: place, to: target, updateCache: written)
    if naive.elements.contains(name) {
      naive.elements.removeAll { $0 == name }
      naive.elements.insert(name, at: index)
    }
    expect(write, .any, "move")
    note(write, watch)
  }

  private func setOwn(_ watch: ListWatch, _ written: Bool) {
    let names = LiveNames.items(of: task).filter { choices.chance(60) && mayReturn($0) }
    let all = choices.chance(50) ? names : names.reversed()
    let models = all.map { newItem($0, isWritten: written) }
    naive.elements = all
    ledger.step(task, "sets its list to \(models.map(\.text)) \(written)")
    let write = watch.provider.setData(
      models, cacheKey: LiveNames.list(of: task), updateCache: written)
    expect(write, .success, "set of a list", isOrdered: false)
    note(write, watch)
  }

  /// Edits the list that all tasks share, where an item may be several times.
  func editSharedList() {
    let watch = sharedLists[choices.below(2)]
    let count = watch.provider.count
    let name = anyName()
    let written = isWritten()
    if !written { naive.taintList(LiveNames.sharedList) }
    for list in sharedLists { list.lose() }
    let (place, target) = (choices.below(count + 1), choices.below(max(1, count)))
    let kind = count > 12 ? 5 : choices.below(12)
    ledger.step(task, "shared list: \(kind) at \(place), \(target), item \(name), \(written)")
    let provider = watch.provider
    let key = LiveNames.sharedList
    switch kind {
    case 0:
      let item = newItem(name, isWritten: written)
      expect(provider.append([item], updateCache: written), .success, "append of \(item.text)")
    case 1:
      let item = perhapsItem(name, isWritten: written)
      expect(
        provider.insert([item, item], at: place, updateCache: written), .any,
        "insertion of \(item.text)")
    case 2...3:
      let item = perhapsItem(name, isWritten: written)
      expect(provider.update(item, at: target, updateCache: written), .any, "update")
    case 4: expect(provider.remove(at: target, updateCache: written), .any, "removal")
    case 5:
      expect(
        provider.remove(at: target..<min(count, target + 6), updateCache: written), .any,
        "removals")
    case 6...7:
      expect(provider.move(from: target, to: place, updateCache: written), .any, "move")
    case 8:
      var models = LiveNames.items(of: task).filter { _ in choices.chance(50) }.map {
        newItem($0, isWritten: written)
      }
      models += models.prefix(1)
      expect(
        provider.setData(models, cacheKey: key, updateCache: written), .success, "set of a list",
        isOrdered: false)
    case 9:
      let item = newItem(name, isWritten: written)
      expect(
        Provider.append(
          [item], cacheKey: key, dataModelManager: anyManager(), updateCache: written), .success,
        "append of \(item.text)")
    case 10:
      let item = perhapsItem(name, isWritten: written)
      expect(
        Provider.insert(
          [item], at: 0, cacheKey: key, dataModelManager: anyManager(), updateCache: written),
        .any, "insertion of \(item.text)")
    default:
      expect(
        Provider.move(
          from: target, to: 0, cacheKey: key, dataModelManager: anyManager(),
          updateCache: written), .any, "move")
    }
  }
}
