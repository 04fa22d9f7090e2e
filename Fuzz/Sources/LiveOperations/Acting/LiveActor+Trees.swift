import Pando

/// Calls on trees that are not awaited.
extension LiveActor {
  func callTree(_ kind: Int) {
    let name = anyName()
    let written = isWritten()
    switch kind {
    case 0...1: setItem(name, written)
    case 2:
      let item = newItem(name, isWritten: written)
      ledger.step(task, "updateModel \(item.text) \(written)")
      expect(anyManager().updateModel(item, updateCache: written), .success, "updateModel")
    case 3:
      let all = LiveNames.items(of: task).map { newItem($0, isWritten: written) }
      ledger.step(task, "updateModels \(all.map(\.text)) \(written)")
      expect(anyManager().updateModels(all, updateCache: written), .success, "updateModels")
    case 4...5: deleteItem(name, written)
    case 6: setCard(name)
    case 7...8: setShelf(written)
    case 9: renameShelf()
    case 10: setBox(name, written)
    default:
      if choices.chance(50) {
        ledger.step(task, "deletes its shelf")
        let shelf = Models.Shelf(id: .remote(task), name: "", books: [])
        expect(anyManager().deleteModel(shelf), .success, "deletion of a shelf")
        naive.shelf = nil
      } else {
        ledger.step(task, "clears a provider")
        items[1].provider.setData(nil)
        items[1].note()
      }
    }
  }

  private func setItem(_ name: Int, _ written: Bool) {
    let index = choices.below(2)
    let item = newItem(name, isWritten: written)
    ledger.step(task, "provider \(index) sets \(item.text) \(written)")
    expect(items[index].provider.setData(item, updateCache: written), .success, "setData")
    items[index].note()
  }

  private func deleteItem(_ name: Int, _ written: Bool) {
    ledger.step(task, "deletes \(name) \(written)")
    let item = Models.Item(name, 0)
    expect(anyManager().deleteModel(item, updateCache: written), .success, "deleteModel")
    naive.delete(name, isWritten: written)
  }

  /// Sets the other type of an item that is there.
  private func setCard(_ name: Int) {
    guard case .some(.some) = naive.certain(name), naive.taint.items.isEmpty else { return }
    let card = Models.Card(name, ledger.nextNumber())
    ledger.step(task, "card \(card.contents)")
    naive.set(name, card.contents[0].number, isWritten: true)
    if choices.chance(50) {
      expect(cards.provider.setData(card), .success, "setData of a card")
      cards.note()
    } else {
      expect(anyManager().updateModel(card), .success, "updateModel of a card")
    }
  }

  /// Makes a shelf with new content of all its books, some of them twice.
  func makeShelf(_ written: Bool) -> Models.Shelf {
    var made: [Int: Models.Item] = [:]
    func item(_ name: Int) -> Models.Item {
      let item = made[name] ?? newItem(name, isWritten: written)
      made[name] = item
      return item
    }
    var names = LiveNames.items(of: task).filter { _ in choices.chance(60) }
    if choices.chance(25) { names += names.prefix(1) }
    let books = names.map(item)
    let lead = choices.chance(50) ? item(anyName()) : nil
    let name = "shelf \(ledger.nextNumber())"
    naive.shelf = NaiveTask.Shelf(name: name, books: names, lead: lead?.name)
    if !written { naive.taintTask() }
    return Models.Shelf(id: .remote(task), name: name, books: books, lead: lead)
  }

  private func setShelf(_ written: Bool) {
    let shelf = makeShelf(written)
    let index = choices.below(3)
    ledger.step(task, "shelf of \(shelf.contents), \(index), \(written)")
    if index < 2 {
      expect(
        shelves[index].provider.setData(shelf, updateCache: written), .success, "set of a shelf")
      shelves[index].note()
    } else {
      expect(
        anyManager().updateModel(shelf, updateCache: written), .success, "updateModel of a shelf")
    }
  }

  /// Sets a shelf as it is shown, with another name: a set names its whole tree, so that its books get
  /// the content again that they are shown with.
  private func renameShelf() {
    let watch = shelves[choices.below(2)]
    guard var shelf = watch.provider.data else { return }
    shelf.name = "shelf \(ledger.nextNumber())"
    ledger.step(task, "renames a shelf of \(shelf.contents)")
    for (name, number) in shelf.contents where naive.certain(name) != .some(number) {
      ledger.loosen(name)
    }
    for (name, number) in shelf.contents { naive.set(name, number, isWritten: true) }
    naive.shelf = NaiveTask.Shelf(
      name: shelf.name, books: shelf.books.map(\.name), lead: shelf.lead?.name)
    expect(watch.provider.setData(shelf), .success, "set of a renamed shelf")
    watch.note()
  }

  private func setBox(_ name: Int, _ written: Bool) {
    let item = newItem(name, isWritten: written)
    if !written { naive.taintTask() }
    let box = Models.Box(name: task, item: item)
    ledger.step(task, "box of \(item.text) \(written)")
    expect(anyManager().updateModel(box, updateCache: written), .success, "updateModel of a box")
  }
}
