import Glibc
import Pando

/// The processes of the soak run: each writes and reads with several threads until told to stop.
enum SoakRoles {
  /// Commits steps of its own tasks, in threads that also read, and says now and then how it stands.
  ///
  /// Positional: directory, count of tasks, first and last of its own..
  static func work(_ options: Options) async throws {
    let workload = Workload(seed: options.seed, taskCount: try options.integer(1))
    let own = try options.integer(2)...options.integer(3)
    let store = try ModelStore(path: options.text(0), configuration: soakConfiguration)
    let deadline = ContinuousClock.now + .seconds(options.seconds)
    let start = try store.read { try workload.steps(in: $0) }
    try await withThrowingTaskGroup { group in
      for task in own {
        group.addTask {
          var step = start[task]
          while ContinuousClock.now < deadline {
            step += 1
            try await store.write { [step] in
              try workload.perform(task: task, step: step, in: &$0)
            }
            try read(store, workload, own: task, step: step)
          }
          say("steps \(task) \(step)")
        }
      }
      try await group.waitForAll()
    }
    say("memory \(memoryInKibibytes())")
    await store.close()
  }

  /// What this process has committed it sees; what others do it sees as whole commits.
  private static func read(
    _ store: ModelStore, _ workload: Workload, own task: Int, step: Int
  ) throws {
    try store.read { snapshot in
      let steps = try workload.steps(in: snapshot)
      try require(steps[task] == step, "task \(task) at step \(steps[task]) instead of \(step)")
      if step % 8 == 0 { try workload.check(snapshot, steps: steps) }
    }
    guard step % 200 == 0 else { return }
    say("memory \(memoryInKibibytes())")
  }

  /// Opens the store, reads it once, and ends without closing it, again and again.
  ///
  /// Positional: directory, count of tasks.
  static func visit(_ options: Options) throws {
    let workload = Workload(seed: options.seed, taskCount: try options.integer(1))
    var configuration = soakConfiguration
    configuration.isReadOnly = true
    let store = try ModelStore(path: options.text(0), configuration: configuration)
    try store.read { snapshot in
      try workload.check(snapshot, steps: try workload.steps(in: snapshot))
      // As a process that dies in the middle of a read.
      _exit(0)
    }
  }

  static var soakConfiguration: ModelStore.Configuration {
    var configuration = ModelStore.Configuration.torture(.consistent)
    // So that the log is bounded within the time of a short run.
    configuration.changeLogLimit = 500
    return configuration
  }

  /// The memory of this process that is no file.
  static func memoryInKibibytes() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      guard text.hasPrefix("RssAnon:") else { continue }
      return text.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
    return 0
  }
}
