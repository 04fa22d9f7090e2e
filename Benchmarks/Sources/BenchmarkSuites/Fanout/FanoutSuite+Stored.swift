import Pando

extension FanoutSuite {
  /// Tasks that each set a model through a provider of their own and wait for the commit.
  func measureStored() throws {
    let durability = runner.options.durability()
    let sets = runner.options.scaled(smoke: 4, standard: 200)
    for taskCount in [1, 64] {
      try measure(
        "stored-\(taskCount)", "set of a model through a provider, and its commit",
        ["tasks": taskCount, "operations": taskCount * sets], durability: durability
      ) {
        let directory = try runner.makeDirectory()
        let models = try PandoModels(directory, durability)
        let manager = try DataModelManager(store: models.store)
        defer { waitUntilDone { await manager.close() } }
        let latencies = (0..<taskCount).map { _ in Latencies(stride: 1) }
        let shared = ThreadLatencies(latencies)
        var measurement = try Measurement.time(
          taskCount * sets, in: directory,
          { _ in try runTasks(taskCount, sets, manager, shared) },
          checksum: { try models.hashOfIdentifiers() })
        measurement.latencies = latencies.reduce(into: .none) { $0.add($1.distribution) }
        return measurement
      }
    }
    guard let one = runner.rate(.pando, in: "stored-1"),
      let many = runner.rate(.pando, in: "stored-64")
    else { return }
    runner.add(
      Comparison(
        name: "fanout/stored-64:stored-1",
        title: "fanout, 64 tasks that wait for commits : one", value: many / one,
        goal: .atLeast(10)))
  }

  private func runTasks(
    _ taskCount: Int, _ sets: Int, _ manager: DataModelManager, _ latencies: ThreadLatencies
  ) throws -> UInt64 {
    let failure = TaskFailure()
    waitUntilDone {
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<taskCount {
          group.addTask {
            do {
              try await set(sets, task, manager, latencies[task])
            } catch {
              failure.keep(error)
            }
          }
        }
      }
    }
    if let error = failure.error { throw error }
    return 0
  }
}

/// Sets a model again and again, and waits for each commit.
@concurrent
private func set(
  _ count: Int, _ task: Int, _ manager: DataModelManager, _ latencies: Latencies
) async throws {
  let provider = DataProvider<LiveAuthor>(dataModelManager: manager)
  for number in 0..<count {
    let start = latencies.start()
    let write = provider.setData(LiveAuthor(identifier: "author:\(task)", number: number))
    _ = try await write.committed()
    latencies.end(start, sharedBy: 1)
  }
}
