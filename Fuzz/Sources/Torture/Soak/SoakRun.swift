import Foundation
import Pando

/// Several processes with several threads each work on one store for minutes.
///
/// Every few seconds the store is verified, and a visitor dies in the middle of a read. At the end, memory
/// must be no larger than after the first part of the time, or nearly so, and the file no larger than
/// ``SoakFile`` allows.
struct SoakRun {
  private static let processCount = 3
  private static let tasksPerProcess = 2
  private static let taskCount = processCount * tasksPerProcess
  /// How much more than in the first part of the run there may be.
  private static let growthMaximum = 1.5
  /// Memory that comes and goes by itself: what the allocator keeps for its threads.
  private static let memorySlackInKibibytes = 16 << 10

  private let options: Options
  private let directory: WorkingDirectory
  private var workload: Workload
  private var memory: [[Int]] = []
  private var file = SoakFile()
  private var bytesWritten = 0
  private var looks = 0
  private var edits = 0
  private var steps = [Int](repeating: 0, count: taskCount)
  private var verifications = 0
  private var visitors = 0

  private var path: String { "\(directory.path)/store" }

  init(_ options: Options) throws {
    var options = options
    if options.seconds == 0 { options.seconds = 10 }
    self.options = options
    directory = try WorkingDirectory("soak")
    workload = Workload(
      seed: options.seed, taskCount: Self.taskCount, otherTypes: SoakViews.ownTypes)
  }

  mutating func run() throws {
    say(
      """
      soak: seed \(options.seed), \(options.seconds) seconds, \(Self.processCount) processes with \
      \(Self.tasksPerProcess) writing tasks each
      """)
    try directory.use {
      try make()
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

  private func make() throws {
    let store = try ModelStore(path: path, configuration: SoakRoles.soakConfiguration)
    defer { store.close() }
    try store.write { transaction in
      for type in SoakViews.ownTypes {
        try transaction.set(TreeNode("type", type: type))
        try transaction.deleteIfPresent("type")
      }
      try transaction.setCollection(SoakViews.marks, to: [])
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
      let visit = ContinuousClock.now
      let visitor = try ChildProcess([
        "soak-visitor", path, "\(Self.taskCount)", "--seed", "\(options.seed)",
      ])
      let start = try store.statistics().commitNumber.value
      let report = try store.verify()
      try require(report.isClean, "verify: \(report.problems)")
      verifications += 1
      try store.read { snapshot in
        try workload.check(snapshot, steps: try workload.steps(in: snapshot))
      }
      try visitor.requireSuccess("the visitor")
      visitors += 1
      file.noteRead(commits: Int(try store.statistics().commitNumber.value - start))
      file.noteVisit(ContinuousClock.now - visit)
      let next = ContinuousClock.now + .seconds(interval)
      while ContinuousClock.now < next {
        file.note(try store.statistics())
        for (index, process) in processes.enumerated() {
          while let line = process.line(timeoutInMilliseconds: 30) { note(line, of: index) }
        }
      }
    }
  }

  private mutating func note(_ line: String, of index: Int) {
    let fields = line.split(separator: " ").compactMap { Int($0) }
    if line.hasPrefix("memory"), fields.count == 1 { memory[index].append(fields[0]) }
    if line.hasPrefix("steps"), fields.count == 2 { steps[fields[0]] = fields[1] }
    if line.hasPrefix("written"), fields.count == 1 { bytesWritten += fields[0] }
    if line.hasPrefix("looks"), fields.count == 1 { looks += fields[0] }
    if line.hasPrefix("edits"), fields.count == 2 { edits += fields[1] }
  }

  private func finish() throws {
    let store = try ModelStore(path: path, configuration: SoakRoles.soakConfiguration)
    defer { store.close() }
    try store.read { try workload.check($0, steps: steps) }
    let report = try store.verify()
    try require(report.isClean, "verify: \(report.problems)")
    for (index, sizes) in memory.enumerated() { try checkMemory("process \(index)", sizes) }
    let commits = Int(try store.statistics().commitNumber.value)
    let limit = try file.check(bytesPerCommit: bytesWritten / max(1, commits))
    let peak = memory.joined().max() ?? 0
    say(
      """
      soak: seed \(options.seed): \(steps.reduce(0, +)) commits of the workload and \(edits) calls of \
      providers made \(commits) commits; \(looks) times all providers showed what is stored; \
      \(verifications) verifications, \(visitors) readers that died; file \(file.sizeMax >> 10) KiB of \
      \(limit >> 10) that commits of \((bytesWritten / max(1, commits)) >> 10) KiB explain, memory of a process at most \(peak) KiB, nothing grows: nothing lost
      """)
  }

  /// The largest of the second half against the largest of the first.
  private func checkMemory(_ name: String, _ sizes: [Int]) throws {
    let half = sizes.count / 2
    guard half > 0, let early = sizes[..<half].max(), let late = sizes[half...].max() else {
      return
    }
    let limit = Int(Double(early) * Self.growthMaximum) + Self.memorySlackInKibibytes
    try require(late <= limit, "\(name) grew from \(early) to \(late)")
  }
}
