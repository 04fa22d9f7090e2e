import Pando

extension FanoutSuite {
  /// Writers beside live views that no write concerns: of all kinds, and of each kind alone.
  func measureUnconcerned() throws {
    let count = runner.options.scaled(smoke: 40, standard: 1_000, large: 10_000)
    for waiting in [Waiting.blocking, .awaiting] {
      let name = waiting == .blocking ? "unconcerned" : "unconcerned-awaited"
      let kinds = waiting == .blocking ? Bystanders.Kind.allCases : []
      try runner.measure(
        [unconcerned("\(name)-0", [], 0, of: count, waiting)]
          + [unconcerned("\(name)-\(count)", Bystanders.Kind.allCases, count, of: count, waiting)]
          + kinds.map {
            unconcerned("\(name)-\($0.rawValue)-\(count)", [$0], count, of: count, waiting)
          })
      runner.compare(
        "\(name)-\(count)", with: "\(name)-0",
        "writes a second that \(waiting.text) beside \(count) live views : none",
        goal: .atLeast(0.95))
      for kind in kinds {
        runner.compare(
          "\(name)-\(kind.rawValue)-\(count)", with: "\(name)-0",
          "writes a second beside \(kind.rawValue) only : none", goal: .atLeast(0.95))
      }
    }
  }

  /// How a writer waits for its commit.
  private enum Waiting {
    case blocking
    case awaiting

    var text: String {
      switch self {
      case .blocking: "block a thread"
      case .awaiting: "are awaited"
      }
    }
  }

  private func unconcerned(
    _ name: String, _ kinds: [Bystanders.Kind], _ viewCount: Int, of assigneeCount: Int,
    _ waiting: Waiting
  ) -> Workload {
    let durability = runner.options.durability(default: .unsynchronized)
    let writerCount = min(64, runner.options.threads)
    let perWriter = runner.options.scaled(smoke: 10, standard: 50, large: 500)
    return Workload(
      name: name,
      operation: "set of a new entity that concerns no live view, a commit each, by writers that "
        + waiting.text,
      parameters: [
        "operations": writerCount * perWriter, "views": viewCount, "writers": writerCount,
      ],
      durability: durability,
      contenders: [
        Workload.Contender(.pando) {
          let directory = try runner.makeDirectory()
          let models = try PandoModels(directory, durability)
          try models.put(Job.make(assigneeCount: assigneeCount))
          let bystanders =
            viewCount > 0
            ? try Bystanders(models.store, kinds, count: viewCount) : nil
          return try .time(
            writerCount * perWriter, stride: 1, in: directory, threadCount: writerCount,
            { latencies in
              let shared = ThreadLatencies(latencies)
              switch waiting {
              case .blocking:
                try Threads.run(writerCount) { writer in
                  for job in Self.jobs(of: writer, perWriter) {
                    try shared[writer].time { try models.store.write { try $0.set(job) } }
                  }
                }
              case .awaiting:
                try Self.runTasks(writerCount) { writer in
                  for job in Self.jobs(of: writer, perWriter) {
                    try await shared[writer].timeWaiting {
                      _ = try await models.store.write { try $0.set(job) }
                    }
                  }
                }
              }
              return 0
            }, settle: {},
            checksum: {
              let jobs = try models.store.read {
                try $0.find(Query<Job>.all).entities
              }
              let efforts = jobs.reduce(0) { $0 + $1.effort }
              return UInt64(jobs.count) << 32 + UInt64(efforts) + (bystanders?.checksum ?? 0)
            })
        }
      ])
  }

  /// The jobs that a writer sets: their assignee is in no view.
  private static func jobs(of writer: Int, _ count: Int) -> [Job] {
    (0..<count).map { number in
      let identifier = 1_000_000 + writer * count + number
      return Job(
        id: .remote(identifier), title: "Job number \(identifier)", assignee: 1_000_000 + writer,
        state: .open, effort: number)
    }
  }

  /// Runs so many tasks, each with its number, and waits for them.
  private static func runTasks(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) throws {
    let outcome = TaskOutcome<Void>()
    waitUntilDone {
      await outcome.run {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<count { group.addTask { try await body(number) } }
          try await group.waitForAll()
        }
      }
    }
    try outcome.value()
  }
}
