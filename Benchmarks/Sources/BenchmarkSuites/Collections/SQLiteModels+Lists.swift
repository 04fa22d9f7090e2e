import CPeerSQLite

extension SQLiteModels {
  /// Makes the list in one commit.
  func fill(_ list: ItemList) throws {
    let flat = FlatItems(list.items)
    try Self.check(sqlite_models_fill_list(models, flat.rows, flat.rows.count))
    try settle()
  }

  /// Inserts items before positions, or at the end where the position is -1, a commit each.
  func insertEach(_ items: FlatItems, at indexes: [Int], _ latencies: Latencies) throws {
    try Self.check(
      sqlite_models_insert_items(
        models, indexes.map { Int64($0) }, items.rows, indexes.count, latencies.counters))
  }

  /// Removes the elements at positions, a commit each; the items stay.
  func removeEach(at indexes: [Int], _ latencies: Latencies) throws {
    try Self.check(
      sqlite_models_remove_items(
        models, indexes.map { Int64($0) }, indexes.count, latencies.counters))
  }

  /// Reads a page from each of some positions on, each in a read transaction of its own.
  func pages(starts: [Int], _ latencies: Latencies? = nil) throws -> UInt64 {
    let latencies = latencies ?? Latencies(stride: starts.count + 1)
    var checksum = ModelChecksum(isThorough: false)
    for start in starts {
      try latencies.time {
        for item in try page(start) { checksum.add(item) }
      }
    }
    return checksum.value
  }

  private func page(_ start: Int) throws -> [Item] {
    try Self.check(sqlite_models_page(models, start, PandoModels.pageLength))
    defer { sqlite_models_done(models) }
    var page: [Item] = []
    page.reserveCapacity(PandoModels.pageLength)
    var row = peer_item()
    var isThere: CInt = 0
    while true {
      try Self.check(sqlite_models_next_item(models, &row, &isThere))
      guard isThere != 0 else { return page }
      page.append(
        Item(
          identifier: row.identifier.string, title: row.title.string, number: Int(row.number)))
    }
  }
}
