import Pando

/// Updates of live providers, in memory: from the call that changes a model until the last delegate
/// has been called.
///
/// There is no other system to compare with. Figures are judged by themselves; beside them stands
/// what the library reached that the programming interface comes from.
struct FanoutSuite {
  let runner: Runner

  init(_ runner: Runner) {
    self.runner = runner
  }

  /// Measures everything.
  func run() throws {
    let sizes = [1_000, 10_000, 100_000].prefix(runner.options.scaled(smoke: 2, standard: 3))
    for (count, original, goal) in [
      (1_000, 22.0, 1.5), (10_000, 2_150, 15), (100_000, nil, 150),
    ] where sizes.contains(count) {
      try measureShared("shared-child", "key paths", KeyPathPost.self, count, original, goal)
    }
    try measureShared("shared-child-map", "its own map", HandmadePost.self, 10_000, 2_150, 15)
    try measureShared(
      "shared-child-automatic", "its coding", AutomaticPost.self, 10_000, nil, 40)
    try measureRegistering()
    try measureDistinct()
    try measureCarrying()
    try measurePaused()
    try measureRows()
    try measureStored()
    try measureUnconcerned()
    try measureBeside()
    try measureHops()
  }

  private func measureShared<Post: LivePost>(
    _ name: String, _ children: String, _ type: Post.Type, _ count: Int, _ original: Double?,
    _ goal: Double
  ) throws {
    let updateCount = runner.options.scaled(smoke: 2, standard: max(10, 200_000 / count))
    try measure(
      "\(name)-\(count)",
      "update of a child that all providers' trees hold, found through \(children)",
      ["providers": count, "operations": updateCount],
      series: name == "shared-child"
        ? Workload.Series(name: name, unit: "providers", size: count) : nil
    ) {
      let forest = LiveForest(type, count: count, sharesAuthor: true)
      forest.registerByFetching()
      return try .time(
        updateCount,
        { latencies in
          for number in 1...updateCount {
            let author = LiveAuthor(identifier: "author:0", number: number)
            latencies.time {
              forest.change(tells: count) { forest.manager.updateModel(author) }
            }
          }
          return 0
        }, checksum: { forest.checksum })
    }
    judge("\(name)-\(count)", in: "ms", original: original, goal: .atMost(goal))
  }

  private func measureRegistering() throws {
    // In the smoke size fewer: setting a tree costs more, the more others share its child.
    let count = runner.options.scaled(smoke: 1_000, standard: 10_000)
    for (name, what, register) in [
      ("register", "set", { $0.registerBySetting() }),
      ("register-fetch", "fetch", { $0.registerByFetching() }),
    ] as [(String, String, (LiveForest<KeyPathPost>) -> Void)] {
      var memory: Int?
      try measure(
        "\(name)-\(count)",
        "registration of providers that \(what) trees that share a child, all together",
        ["providers": count, "operations": 1]
      ) {
        let forest = LiveForest(KeyPathPost.self, count: count, sharesAuthor: true)
        let before = ProcessCounters.allocatedByteCount
        let measurement = try Measurement.time(
          1,
          { latencies in
            latencies.time { register(forest) }
            return 0
          }, checksum: { forest.checksum })
        memory = ProcessCounters.allocatedByteCount - before
        return measurement
      }
      guard count == 10_000 else { continue }
      judge("\(name)-\(count)", in: "ms", original: 3_700, goal: .atMost(30))
      guard let memory else { continue }
      runner.add(
        Comparison(
          name: "fanout/\(name)-\(count)/memory",
          title: "fanout \(name), memory that \(count) providers take when registered",
          value: Double(memory) / 1e6, unit: "MB", original: 13.7, goal: .atMost(5)))
    }
  }

  private func measureDistinct() throws {
    let count = 10_000
    let updateCount = runner.options.scaled(smoke: 2_000, standard: 200_000)
    try measure(
      "distinct-\(count)", "update of a child that one provider's tree holds, one after another",
      ["providers": count, "operations": updateCount]
    ) {
      let forest = LiveForest(KeyPathPost.self, count: count, sharesAuthor: false)
      forest.registerByFetching()
      return try .time(
        updateCount,
        { latencies in
          latencies.time {
            forest.change(tells: updateCount) {
              for number in 0..<updateCount {
                forest.manager.updateModel(
                  LiveAuthor(
                    identifier: forest.posts[number % count].author.identifier,
                    number: number / count + 1))
              }
            }
          }
          return 0
        }, checksum: { forest.checksum })
    }
    if let entry = runner.entry(.pando, in: "distinct-\(count)") {
      runner.add(
        Comparison(
          name: "fanout/distinct-\(count)/rate",
          title: "fanout, updates that touch one of \(count) providers",
          value: entry.operationsPerSecond, unit: "/s", original: 20_000,
          goal: .atLeast(200_000)))
    }
  }

  private func measureCarrying() throws {
    let count = 10_000
    let updateCount = runner.options.scaled(smoke: 20, standard: 1_000)
    try measure(
      "carrying-\(count)",
      "update of one provider's tree, which also holds a child that all hold, unchanged",
      ["providers": count, "operations": updateCount]
    ) {
      let forest = LiveForest(KeyPathPost.self, count: count, sharesAuthor: true)
      forest.registerByFetching()
      return try .time(
        updateCount,
        { latencies in
          for number in 0..<updateCount {
            let post = forest.posts[number % count]
            let changed = KeyPathPost(
              identifier: post.identifier, number: number / count + 1, author: post.author)
            latencies.time {
              forest.change(tells: 1) { forest.manager.updateModel(changed) }
            }
          }
          return 0
        }, checksum: { forest.checksum })
    }
    judge("carrying-\(count)", in: "µs", original: 31_000, goal: .atMost(20))
  }

  private func measurePaused() throws {
    let count = 10_000
    let updateCount = runner.options.scaled(smoke: 2, standard: 20)
    try measure(
      "paused-\(count)", "update of a child that all hold, while half of the providers are paused",
      ["providers": count, "paused": count / 2, "operations": updateCount]
    ) {
      let forest = LiveForest(KeyPathPost.self, count: count, sharesAuthor: true)
      forest.registerByFetching()
      for provider in forest.providers.prefix(count / 2) { provider.isPaused = true }
      return try .time(
        updateCount,
        { latencies in
          for number in 1...updateCount {
            let author = LiveAuthor(identifier: "author:0", number: number)
            latencies.time {
              forest.change(tells: count - count / 2) { forest.manager.updateModel(author) }
            }
          }
          return 0
        }, checksum: { forest.checksum })
    }
    judge("paused-\(count)", in: "ms", original: 2_000, goal: .atMost(10))
  }

  /// A workload for Pando alone.
  func measure(
    _ name: String, _ operation: String, _ parameters: [String: Int],
    durability: Durability? = nil, series: Workload.Series? = nil,
    _ run: @escaping () throws -> Measurement
  ) throws {
    try runner.measure(
      Workload(
        name: name, operation: operation, parameters: parameters, durability: durability,
        series: series, contenders: [Workload.Contender(.pando, run: run)]))
  }

  /// Judges the mean time of an operation.
  func judge(_ workload: String, in unit: String, original: Double?, goal: Goal) {
    guard let entry = runner.entry(.pando, in: workload) else { return }
    let unitsPerSecond = unit == "ms" ? 1e3 : 1e6
    runner.add(
      Comparison(
        name: "fanout/\(workload)/time", title: "fanout \(workload), time",
        value: unitsPerSecond / entry.operationsPerSecond, unit: unit, original: original,
        goal: goal))
  }
}
