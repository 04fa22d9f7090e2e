import Foundation
import Pando

/// Several processes with several threads each work on one store for minutes.
///
/// Every few seconds the store is verified, and a visitor dies in the middle of a read. At the end, memory
/// and file must be no larger than they were after the first part of the time, or nearly so.
struct SoakRun {
  private static let processCount = 3
  private static let tasksPerProcess = 2
  private static let taskCount = processCount * tasksPerProcess
  /// How much more than in the first part of the run there may be.
  private static let growthMaximum = 1.5
  /// What a dead reader can keep from being used again until the writer frees its slot.
  private static let fileSlackInBytes = 256 << 20
  /// Memory that comes and goes by itself: what the allocator keeps for its threads.
  private static let memorySlackInKibibytes = 16 << 10

  private let options: Options
  private let directory: WorkingDirectory
  private var workload: Workload
  private var memory: [[Int]] = []
  private var files: [Int] = []
  private var steps = [Int](repeating: 0, count: taskCount)
  private var verifications = 0
  private var visitors = 0

  private var path: String { "\(directory.path)/store" }

  init(_ options: Options) throws {
    var options = options
    if options.seconds == 0 { options.seconds = 10 }
    self.options = options
    directory = try WorkingDirectory("soak")
    workload = Workload(seed: options.seed, taskCount: Self.taskCount)
  }

  mutating func run() throws {
    say(
      """
      soak: seed \(options.seed), \(options.seconds) seconds, \(Self.processCount) processes with \
      \(Self.tasksPerProcess) writing tasks each
      """)
    try directory.use {
      try ModelStore(path: path, configuration: SoakRoles.soakConfiguration).close()
      let processes = try (0..<Self.processCount).map { try start($0) }
      memory = processes.map { _ in [] }
      try watch(processes)
      for (index, process) in processes.enumerated() {
        for line in process.remainingLines() { note(line, of: index) }
        try process.requireSuccess("process \(index)")
      }
      try finish()
    }
  }

  private func start(_ index: Int) throws -> ChildProcess {
    let first = index * Self.tasksPerProcess
    return try ChildProcess([
      "soak-worker", path, "\(Self.taskCount)", "\(first)", "\(first + Self.tasksPerProcess - 1)",
      "--seed", "\(options.seed)", "--seconds", "\(options.seconds)",
    ])
  }

  private mutating func watch(_ processes: [ChildProcess]) throws {
    let deadline = ContinuousClock.now + .seconds(options.seconds)
    let interval = max(1, min(5, options.seconds / 8))
    var configuration = SoakRoles.soakConfiguration
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    while ContinuousClock.now < deadline {
      let visitor = try ChildProcess([
        "soak-visitor", path, "\(Self.taskCount)", "--seed", "\(options.seed)",
      ])
      let report = try store.verify()
      try require(report.isClean, "verify: \(report.problems)")
      verifications += 1
      try store.read { snapshot in
        try workload.check(snapshot, steps: try workload.steps(in: snapshot))
      }
      files.append(try store.statistics().fileSizeInBytes)
      try visitor.requireSuccess("the visitor")
      visitors += 1
      let next = ContinuousClock.now + .seconds(interval)
      while ContinuousClock.now < next {
        for (index, process) in processes.enumerated() {
          while let line = process.line(timeoutInMilliseconds: 50) { note(line, of: index) }
        }
      }
    }
  }

  private mutating func note(_ line: String, of index: Int) {
    let fields = line.split(separator: " ").compactMap { Int($0) }
    if line.hasPrefix("memory"), fields.count == 1 { memory[index].append(fields[0]) }
    if line.hasPrefix("steps"), fields.count == 2 { steps[fields[0]] = fields[1] }
  }

  private func finish() throws {
    let store = try ModelStore(path: path, configuration: SoakRoles.soakConfiguration)
    defer { store.close() }
    try store.read { try workload.check($0, steps: steps) }
    let report = try store.verify()
    try require(report.isClean, "verify: \(report.problems)")
    try checkGrowth("the file", files, slack: Self.fileSlackInBytes)
    for (index, sizes) in memory.enumerated() {
      try checkGrowth("process \(index)", sizes, slack: Self.memorySlackInKibibytes)
    }
    let peak = memory.joined().max() ?? 0
    say(
      """
      soak: seed \(options.seed): \(steps.reduce(0, +)) commits, \(verifications) verifications, \
      \(visitors) readers that died; file \((files.max() ?? 0) >> 10) KiB, memory of a process at most \
      \(peak) KiB, nothing grows: nothing lost
      """)
  }

  /// The largest of the second half against the largest of the first.
  private func checkGrowth(_ name: String, _ sizes: [Int], slack: Int) throws {
    let half = sizes.count / 2
    guard half > 0, let early = sizes[..<half].max(), let late = sizes[half...].max() else {
      return
    }
    let limit = Int(Double(early) * Self.growthMaximum) + slack
    try require(late <= limit, "\(name) grew from \(early) to \(late)")
  }
}
