import Pando

extension CommitSuite {
  /// Writers of which some are refused, each after it has changed something: what that costs those
  /// who share a flush with them.
  func measureRefusals(_ durability: Durability) throws {
    let writerCount = min(64, runner.options.threads)
    let suffix = durability == .full ? "" : "-\(durability.name)"
    let calls = runner.options.scaled(smoke: 20, standard: 600)
    // One in so many is refused; a number of calls that all of them divide gives exact shares.
    let shares: [(percent: Int, oneIn: Int?)] = [(0, nil), (10, 10), (25, 4)]
    try runner.measure(
      shares.map { share in
        refusals("refused-\(share.percent)\(suffix)", share, writerCount, calls, durability)
      })
    for (share, goal) in [(10, 0.9), (25, 0.75)] {
      runner.compare(
        "refused-\(share)\(suffix)", with: "refused-0\(suffix)",
        "answers a second, \(share) % refused : none (\(durability.name))", goal: .atLeast(goal))
    }
  }

  private func refusals(
    _ name: String, _ share: (percent: Int, oneIn: Int?), _ writerCount: Int, _ calls: Int,
    _ durability: Durability
  ) -> Workload {
    let people = data.people(calls * writerCount)
    return Workload(
      name: name,
      operation:
        "put of a new 8-field model, a commit each, of which \(share.percent) % are refused",
      parameters: ["calls": people.count, "writers": writerCount, "refusedPercent": share.percent],
      durability: durability,
      contenders: [
        Workload.Contender(.pando) {
          let directory = try runner.makeDirectory()
          let pando = try PandoModels(directory, durability)
          return try .time(
            people.count, stride: 1, in: directory, threadCount: writerCount,
            { latencies in
              let shared = ThreadLatencies(latencies)
              try Threads.run(writerCount) { writer in
                for call in 0..<calls {
                  // Writers refuse in different calls, as they would if they knew nothing of each other.
                  let isRefused = share.oneIn.map { (call + writer) % $0 == 0 } ?? false
                  let person = people[writer * calls + call]
                  try shared[writer].time { try pando.put(person, isRefused: isRefused) }
                }
              }
              return 0
            }, settle: {}, checksum: { try pando.hashOfIdentifiers() })
        }
      ])
  }
}

/// Why a write takes itself back.
private struct Refusal: Error {}

extension PandoModels {
  /// Sets a model in a commit of its own.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - isRefused: Whether the write takes itself back after it has set the model.
  /// - Throws: ``BenchmarkError`` if a write is stored that took itself back; the error of the store.
  fileprivate func put(_ model: some Model & Encodable, isRefused: Bool) throws {
    do {
      try store.write { transaction in
        try transaction.set(model)
        if isRefused { throw Refusal() }
      }
    } catch is Refusal {
      return
    }
    guard !isRefused else { throw BenchmarkError(.wrongResult, "a refused write was committed") }
  }
}
