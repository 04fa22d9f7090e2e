import CPeerSQLite

/// An ordered list, and how it changes.
final class ItemList {
  /// The elements in order.
  let items: [Item]
  /// Elements to insert.
  let newItems: [Item]
  private let seed: UInt64

  init(seed: UInt64, count: Int, newCount: Int = 0) {
    self.seed = seed
    let data = ModelData(seed: seed)
    func make(_ range: Range<Int>) -> [Item] {
      range.map { number in
        Item(
          identifier: data.identifier("Item", number), title: "row \(number) of the list",
          number: number)
      }
    }
    items = make(0..<count)
    newItems = make(count..<count + newCount)
  }

  /// Positions in the middle half of the list.
  func randomIndexes(_ count: Int) -> [Int] {
    var random = SeededGenerator(seed: seed)
    let range = items.count / 4..<items.count / 4 * 3
    return (0..<count).map { _ in Int.random(in: range, using: &random) }
  }
}

/// Items as C structs.
final class FlatItems {
  let rows: [peer_item]
  private let arena = TextArena()

  init(_ items: [Item]) {
    let arena = arena
    rows = items.map { item in
      peer_item(
        identifier: arena.text(item.identifier), title: arena.text(item.title),
        number: Int64(item.number))
    }
  }
}
