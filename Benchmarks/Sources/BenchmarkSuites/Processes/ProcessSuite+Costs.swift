import CPeerSupport
import Foundation
import Pando

extension ProcessSuite {
  /// The cost of following others, to a process that writes while no process watches.
  func measureFollowing() throws {
    try measureTurns(
      "following", "set of a model that no provider shows, with followsOtherProcesses",
      "a commit, with followsOtherProcesses"
    ) { isSecond in
      let directory = try runner.makeDirectory()
      let store = try SharedStore.open(directory.path, follows: isSecond)
      let manager = try DataModelManager(store: store)
      let provider = DataProvider<LiveAuthor>(dataModelManager: manager)
      provider.setData(SharedStore.author(0))
      waitUntilDone { await manager.drain() }
      return Contender { number in
        try store.write { try $0.set(LiveAuthor(identifier: "author:1", number: number)) }
      } end: {
        _ = provider
        waitUntilDone { await manager.close() }
        store.close()
        _ = directory
      }
    }
  }

  /// The cost of a wake without a sleeper: one more of them after each commit.
  func measureWaking() throws {
    try measureTurns(
      "waking", "commit of a row, and one more wake without a sleeper", "a wake without a sleeper"
    ) { isSecond in
      let directory = try runner.makeDirectory()
      let rows = try SharedRows(directory.path)
      guard let word = wake_map("\(directory.path)/word") else {
        throw BenchmarkError(.system, "a file can't be mapped: error \(errno)")
      }
      return Contender { number in
        try rows.write(number)
        if isSecond { wake_others(word) }
      } end: {
        wake_unmap(word)
        rows.close()
        _ = directory
      }
    }
  }

  /// One of two ways to do the same, which take turns.
  private struct Contender {
    let run: (Int) throws -> Void
    let end: () -> Void
  }

  /// Measures two ways that take turns of a few milliseconds, and judges the difference.
  private func measureTurns(
    _ name: String, _ operation: String, _ title: String,
    _ make: @escaping (_ isSecond: Bool) throws -> Contender
  ) throws {
    let turnCount = runner.options.scaled(smoke: 4, standard: 400)
    let perTurn = runner.options.scaled(smoke: 5, standard: 50)
    var times: [[Double]] = [[], []]
    try measure(name, operation, ["operations": turnCount * perTurn]) {
      let contenders = try [make(false), make(true)]
      defer { for contender in contenders { contender.end() } }
      let latencies = Latencies(stride: 1)
      var number = 0
      func take(_ way: Int, _ latencies: Latencies?) throws {
        let start = latency_now()
        for _ in 0..<perTurn {
          number += 1
          try contenders[way].run(number)
        }
        let time = latency_now() - start
        times[way].append(Double(time) / Double(perTurn))
        latencies?.record(nanoseconds: time / UInt64(perTurn))
      }
      let processor = ProcessCounters.processorTime
      for turn in 0..<turnCount {
        // Each goes first as often as the other.
        try take(turn % 2, turn % 2 == 1 ? latencies : nil)
        try take(1 - turn % 2, turn % 2 == 0 ? latencies : nil)
      }
      return Measurement(
        operationCount: turnCount * perTurn,
        duration: .seconds(times[1].suffix(turnCount).reduce(0, +) * Double(perTurn) / 1e9),
        processorDuration: (ProcessCounters.processorTime - processor) / 2,
        checksum: UInt64(number), latencies: latencies.distribution)
    }
    guard !times[0].isEmpty else { return }
    let differences = zip(times[1], times[0]).map { $0 - $1 }
    runner.add(
      Comparison(
        name: "processes/\(name)/difference", title: "processes, what \(title) takes more",
        value: differences.median / 1e3, unit: "µs", goal: .atMost(1)))
    runner.add(
      Comparison(
        name: "processes/\(name)/ratio", title: "processes, \(title) : without",
        value: times[1].median / times[0].median, goal: nil))
  }

  /// The processor time of a process that shows a model while no process commits.
  func measureIdle() throws {
    let milliseconds = runner.options.scaled(smoke: 20, standard: 5_000)
    try measure(
      "idle", "a second of a process that shows a model without any commit; its processor time",
      ["milliseconds": milliseconds]
    ) {
      let directory = try runner.makeDirectory()
      let store = try SharedStore.open(directory.path, follows: false)
      defer { store.close() }
      try store.write { try $0.set(SharedStore.author(0)) }
      let watcher = try OtherProgram(.show, directory, 1)
      defer { watcher.end() }
      try watcher.wait(for: Worker.ready)
      // The remaining work of its start.
      usleep(UInt32(milliseconds) * 100)
      let latencies = Latencies(stride: 1)
      let start = (latency_now(), try watcher.processorTime())
      usleep(UInt32(milliseconds) * 1_000)
      let end = (latency_now(), try watcher.processorTime())
      let share = Double(end.1 - start.1) / Double(end.0 - start.0)
      latencies.record(nanoseconds: UInt64(share * 1e9))
      return Measurement(
        operationCount: 1, duration: .seconds(1), processorDuration: .seconds(share),
        checksum: 0, latencies: latencies.distribution)
    }
    guard let entry = runner.entry(.pando, in: "idle") else { return }
    runner.add(
      Comparison(
        name: "processes/idle/processor", title: "processes idle, processor time of a second",
        value: entry.processorNanosecondsPerOperation / 1e3, unit: "µs", goal: .atMost(500)))
  }
}
