import CPeerLMDB
import CPeerSupport
import Foundation
import Pando

/// Commits that other processes see: how long after a commit, and what that costs who writes and who waits.
///
/// There is no other system to compare with. The processes are this program itself, as ``Worker``.
struct ProcessSuite {
  let runner: Runner

  init(_ runner: Runner) { self.runner = runner }

  /// Measures everything.
  func run() throws {
    for count in runner.options.size == .smoke ? [1, 2] : [1, 8, 16] {
      try measureShown(count, whileHeld: false)
      try measureShown(count, whileHeld: true)
    }
    try measureBursts()
    try measureWoken()
    try measureUnwoken()
    try measureFollowing()
    try measureWaking()
    try measureIdle()
  }

  /// From a commit until the delegate of a provider is called in another process.
  ///
  /// The clock starts when the write closure has ended: callers may go on later than others have seen their commit.
  private func measureShown(_ watcherCount: Int, whileHeld: Bool) throws {
    let name = "\(whileHeld ? "shown-held" : "shown")-\(watcherCount)"
    let count =
      whileHeld
      ? runner.options.scaled(smoke: 3, standard: 40)
      : runner.options.scaled(smoke: 10, standard: watcherCount == 1 ? 1_000 : 300)
    let hold = runner.options.scaled(smoke: 5, standard: 300)
    var parameters = ["operations": count, "processes": watcherCount]
    if whileHeld { parameters["milliseconds"] = hold }
    try measure(
      name,
      "commit, until the delegates of providers in other processes are called"
        + (whileHeld ? ", while another one holds the writer's lock" : ""), parameters
    ) {
      let directory = try runner.makeDirectory()
      let store = try SharedStore.open(directory.path, follows: false)
      defer { store.close() }
      try store.write { try $0.set(SharedStore.author(0)) }
      let watchers = try start(watcherCount, .show, directory, count)
      let holder = whileHeld ? try start(1, .hold, directory, hold)[0] : nil
      defer { holder?.end() }
      return try observe(watchers, commits: count) { number in
        // The one who holds the lock has it again as soon as it has seen the commit.
        if let holder { try holder.wait(for: Worker.held) } else { pause(watcherCount) }
        return try store.write {
          try $0.set(SharedStore.author(number))
          return latency_now()
        }
      }
    }
    guard watcherCount < 16 else { return }
    if watcherCount == 1 { judge(name, atShare: 0.5, goal: 0.3) }
    judge(name, atShare: 0.99, goal: watcherCount == 1 ? 1 : 2)
  }

  /// Commits without a pause, while other processes show them.
  private func measureBursts() throws {
    let count = runner.options.scaled(smoke: 20, standard: 10_000)
    let watcherCounts = runner.options.size == .smoke ? [0, 1] : [0, 1, 8]
    try runner.measure(
      watcherCounts.map { watcherCount in
        workload(
          "burst-\(watcherCount)", "commit, one after another, while other processes show them",
          ["operations": count, "processes": watcherCount]
        ) {
          let directory = try runner.makeDirectory()
          let store = try SharedStore.open(directory.path, follows: false)
          defer { store.close() }
          try store.write { try $0.set(SharedStore.author(0)) }
          let watchers = try start(watcherCount, .show, directory, count)
          let measurement = try Measurement.time(count) { latencies in
            for number in 1...count {
              try latencies.time { try store.write { try $0.set(SharedStore.author(number)) } }
            }
            return UInt64(count)
          }
          for watcher in watchers {
            guard try watcher.sightings().last?.number == count else {
              throw BenchmarkError(.wrongResult, "a process has not seen the last commit")
            }
          }
          return measurement
        }
      })
    for watcherCount in watcherCounts.dropFirst() {
      guard let entry = runner.entry(.pando, in: "burst-\(watcherCount)"),
        let alone = runner.entry(.pando, in: "burst-0")
      else { continue }
      runner.add(
        Comparison(
          name: "processes/burst-\(watcherCount):burst-0",
          title: "processes, rate of commits that \(watcherCount) processes show : none shows",
          value: entry.operationsPerSecond / alone.operationsPerSecond, goal: nil))
    }
  }

  /// The wake alone: who sleeps in `waitForCommit`, and reads.
  private func measureWoken() throws {
    let watcherCount = runner.options.scaled(smoke: 2, standard: 16)
    let count = runner.options.scaled(smoke: 10, standard: 500)
    let name = "woken-\(watcherCount)"
    try measure(
      name, "commit of a row, until processes that wait for it have read it",
      ["operations": count, "processes": watcherCount]
    ) {
      let directory = try runner.makeDirectory()
      let rows = try SharedRows(directory.path)
      defer { rows.close() }
      let watchers = try start(watcherCount, .wait, directory, count)
      return try observe(watchers, commits: count) { number in
        pause(watcherCount)
        return try rows.write(number)
      }
    }
    judge(name, atShare: 0.99, goal: 0.5)
  }

  /// Commits without a wake, as those of a writer that is killed between commit and wake.
  private func measureUnwoken() throws {
    let watcherCount = runner.options.scaled(smoke: 2, standard: 4)
    let count = runner.options.scaled(smoke: 2, standard: 50)
    let name = "unwoken-\(watcherCount)"
    try measure(
      name, "commit of a row by C on LMDB, without a wake, until processes have read it",
      ["operations": count, "processes": watcherCount]
    ) {
      let directory = try runner.makeDirectory()
      let database = try PeerDatabase(
        System.lmdb.title, peer_lmdb, path: directory.path,
        mapSizeInBytes: SharedRows.mapSizeInBytes, KV_UNSYNCHRONIZED)
      defer { database.close() }
      let session = try database.makeSession()
      let watchers = try start(watcherCount, .wait, directory, count)
      return try observe(watchers, commits: count) { number in
        // At any place between two looks.
        usleep(UInt32(101_000 + number * 37 % 100 * 1_000))
        try session.write(SharedRows.row(number), [0], rowsPerCommit: 1, nil)
        return latency_now()
      }
    }
    judge(name, atShare: 1, goal: 120)
  }

  private func start(
    _ count: Int, _ role: Worker.Role, _ directory: WorkingDirectory, _ number: Int
  ) throws -> [OtherProgram] {
    let programs = try (0..<count).map { _ in try OtherProgram(role, directory, number) }
    for program in programs { try program.wait(for: Worker.ready) }
    return programs
  }

  /// Waits until all processes sleep.
  private func pause(_ watcherCount: Int) {
    usleep(UInt32(runner.options.scaled(smoke: 500, standard: 2_000 + 500 * watcherCount)))
  }

  /// Commits, and collects when the processes have seen that.
  ///
  /// - Parameters:
  ///   - watchers: The processes.
  ///   - count: How many commits.
  ///   - commit: Commits a number, and returns when all was done but the commit.
  /// - Returns: The run of the writer, with the latencies of all watchers.
  /// - Throws: The error of `commit`; ``BenchmarkError`` if a watcher has missed a commit.
  private func observe(
    _ watchers: [OtherProgram], commits count: Int, _ commit: (Int) throws -> UInt64
  ) throws -> Measurement {
    var dates: [UInt64] = []
    let measurement = try Measurement.time(count) { _ in
      for number in 1...count { dates.append(try commit(number)) }
      return 0
    }
    return try complete(measurement, watchers, dates)
  }

  private func complete(
    _ measurement: Measurement, _ watchers: [OtherProgram], _ dates: [UInt64]
  ) throws -> Measurement {
    var measurement = measurement
    let latencies = Latencies(stride: 1)
    for watcher in watchers {
      let seen = try watcher.sightings().latencies(after: dates)
      guard seen.count == dates.count else {
        throw BenchmarkError(
          .wrongResult, "a process has seen \(seen.count) of \(dates.count) commits")
      }
      for nanoseconds in seen { latencies.record(nanoseconds: nanoseconds) }
      measurement.checksum += UInt64(seen.count)
    }
    measurement.latencies = latencies.distribution
    return measurement
  }

  /// A workload for Pando alone.
  func measure(
    _ name: String, _ operation: String, _ parameters: [String: Int],
    _ run: @escaping () throws -> Measurement
  ) throws {
    try runner.measure(workload(name, operation, parameters, run))
  }

  private func workload(
    _ name: String, _ operation: String, _ parameters: [String: Int],
    _ run: @escaping () throws -> Measurement
  ) -> Workload {
    Workload(
      name: name, operation: operation, parameters: parameters, durability: .unsynchronized,
      contenders: [Workload.Contender(.pando, run: run)])
  }

  /// Judges a latency, in milliseconds.
  private func judge(_ workload: String, atShare share: Double, goal: Double) {
    guard let entry = runner.entry(.pando, in: workload) else { return }
    let title = share == 1 ? "max" : "p\(Int(share * 100))"
    runner.add(
      Comparison(
        name: "processes/\(workload)/\(title)", title: "processes \(workload), \(title)",
        value: Double(entry.latencies.nanoseconds(atShare: share)) / 1e6, unit: "ms",
        goal: .atMost(goal)))
  }
}
