import Pando

extension FanoutSuite {
  /// Changes of a live collection that a provider shows, made by others.
  func measureRows() throws {
    let count = 10_000
    let changeCount = runner.options.scaled(smoke: 5, standard: 500)
    let parameters = ["rows": count, "operations": changeCount]
    try measure("rows-update-\(count)", "update of a row of a live collection", parameters) {
      let rows = LiveRows(count: count)
      return try .time(
        changeCount,
        { latencies in
          for number in 1...changeCount {
            let row = LiveAuthor(identifier: "row:\(number * 7 % count)", number: number)
            latencies.time { rows.change { rows.manager.updateModel(row) } }
          }
          return 0
        }, checksum: { rows.checksum })
    }
    judge("rows-update-\(count)", in: "ms", original: 17, goal: .atMost(0.2))
    try measure("rows-insert-\(count)", "insert of a row at 0 of a live collection", parameters) {
      let rows = LiveRows(count: count)
      return try .time(
        changeCount,
        { latencies in
          for number in 1...changeCount {
            let row = LiveAuthor(identifier: "new:\(number)", number: number)
            latencies.time {
              rows.change {
                CollectionDataProvider.insert(
                  [row], at: 0, cacheKey: LiveRows.key, dataModelManager: rows.manager)
              }
            }
          }
          return 0
        }, checksum: { rows.checksum })
    }
    judge("rows-insert-\(count)", in: "ms", original: 37, goal: .atMost(0.2))
  }
}
