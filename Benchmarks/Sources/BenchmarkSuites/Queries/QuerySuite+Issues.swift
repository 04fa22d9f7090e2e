import Pando

/// Questions that an index of several columns answers, and counts.
extension QuerySuite {
  func measureIssues(_ size: Int) throws {
    let tracker = IssueTracker(seed: runner.options.seed, count: size)
    let pando = try runner.fixture("issues-\(size)", of: .pando) {
      try PandoIssues($0).fill(tracker)
    }
    let sqlite = try runner.fixture("issues-\(size)", of: .sqlite) {
      try SQLiteIssues($0).fill(tracker)
    }
    func measure(_ name: String, _ operation: String, _ queries: [IssueQuery]) throws {
      let warmUp = Array(queries.prefix(max(1, queries.count / 5)))
      try runner.measure(
        Workload(
          name: "\(name)-\(size)", operation: operation + ", a read transaction each",
          parameters: ["entities": size, "operations": queries.count], goals: [.sqlite: 1],
          series: Workload.Series(name: name, unit: "entities", size: size),
          contenders: [
            Workload.Contender(.pando) {
              let issues = try PandoIssues(pando)
              _ = try issues.ask(warmUp, Latencies(stride: 1))
              return try .time(queries.count, in: pando, { try issues.ask(queries, $0) })
            },
            Workload.Contender(.sqlite) {
              let issues = try SQLiteIssues(sqlite)
              _ = try issues.ask(warmUp, Latencies(stride: 1))
              return try .time(queries.count, in: sqlite, { try issues.ask(queries, $0) })
            },
          ]))
    }
    let count = runner.options.scaled(smoke: 20, standard: 2_000)
    try measure(
      "composite", "query of the newest 20 of an author with a status, by an index of three fields",
      (0..<count).map {
        .newest(status: $0 % 3, author: IssueTracker.author($0 % IssueTracker.authorCount))
      })
    try measure(
      "count", "count of one in twenty by an index",
      (0..<count).map { .countOfLabel($0 % IssueTracker.labelCount) })
    try measure(
      "count-shared", "count of what two indexes share, one in two hundred",
      (0..<(count / 10)).map {
        .countOfBoth(
          label: $0 % IssueTracker.labelCount, milestone: $0 % IssueTracker.milestoneCount)
      })
  }
}
