import Pando

extension PandoModels {
  private static let key = "list"
  /// How many elements a page has.
  static let pageLength = 50

  /// Makes the list in one commit.
  func fill(_ list: ItemList) throws {
    let items = list.items
    try store.write { try $0.setCollection(Self.key, to: items) }
  }

  /// Inserts items before positions, or at the end where the position is -1, a commit each.
  func insertEach(_ items: [Item], at indexes: [Int], _ latencies: Latencies) throws {
    for (item, index) in zip(items, indexes) {
      try latencies.time {
        try store.write { transaction in
          if index < 0 {
            try transaction.append([item], toCollection: Self.key)
          } else {
            try transaction.insert([item], at: index, inCollection: Self.key)
          }
        }
      }
    }
  }

  /// Removes the elements at positions, a commit each; the items stay.
  func removeEach(at indexes: [Int], _ latencies: Latencies) throws {
    for index in indexes {
      try latencies.time {
        try store.write { transaction in
          try transaction.removeElements(in: index..<index + 1, fromCollection: Self.key)
        }
      }
    }
  }

  /// Deletes items, and so removes them from the list, in one commit.
  func delete(_ items: [Item]) throws {
    try store.write { transaction in
      for item in items { try transaction.deleteIfPresent(item.identifier) }
    }
  }

  /// Reads a page from each of some positions on, each in a read transaction of its own.
  func pages(starts: [Int], _ latencies: Latencies? = nil) throws -> UInt64 {
    let latencies = latencies ?? Latencies(stride: starts.count + 1)
    var checksum = ModelChecksum(isThorough: false)
    for start in starts {
      try latencies.time {
        let page = try store.read { snapshot in
          try snapshot.collection(
            Self.key, as: Item.self, in: start..<start + Self.pageLength)
        }
        for item in page ?? [] { checksum.add(item) }
      }
    }
    return checksum.value
  }
}

extension ModelChecksum {
  mutating func add(_ item: Item) {
    add(item.identifier)
    add(item.title)
    add(item.number)
  }
}
