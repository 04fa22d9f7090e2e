import Glibc
import Pando

/// The processes of the soak run: each writes, reads and shows with several threads until it has to
/// stop.
enum SoakRoles {
  /// Works on the store with several tasks of the workload, with one that writes through providers,
  /// and with one that looks whether all that providers show is what the store holds.
  ///
  /// Positional: directory, count of tasks, first and last of its own.
  static func work(_ options: Options) async throws {
    let workload = Workload(
      seed: options.seed, taskCount: try options.integer(1), otherTypes: SoakViews.ownTypes)
    let own = try options.integer(2)...options.integer(3)
    let path = try options.text(0)
    let store = try ModelStore(path: path, configuration: soakConfiguration)
    let views = try await SoakViews(
      store, workload, process: own.lowerBound / own.count,
      processCount: workload.taskCount / own.count)
    let deadline = ContinuousClock.now + .seconds(options.seconds)
    try await withThrowingTaskGroup { group in
      for task in own {
        group.addTask { try await commit(store, workload, task, views, path, until: deadline) }
      }
      group.addTask {
        var editor = SoakEditor(views, options.seed)
        try await editor.run(path, until: deadline)
      }
      group.addTask { try await look(store, views, path, until: deadline) }
      try await group.waitForAll()
    }
    say("memory \(memoryInKibibytes())")
    say("written \(bytesWritten())")
    await views.manager.close()
    await store.close()
  }

  private static func commit(
    _ store: ModelStore, _ workload: Workload, _ task: Int, _ views: SoakViews, _ path: String,
    until deadline: ContinuousClock.Instant
  ) async throws {
    let lock = try QuietLock(path)
    var step = try await store.read { try workload.steps(in: $0)[task] }
    while ContinuousClock.now < deadline {
      step += 1
      try await lock.working {
        try await store.write { [step] in try workload.perform(task: task, step: step, in: &$0) }
      }
      try await store.read { [step] snapshot in
        let steps = try workload.steps(in: snapshot)
        try require(steps[task] == step, "task \(task) at step \(steps[task]) instead of \(step)")
        if step % 8 == 0 { try workload.check(snapshot, steps: steps) }
      }
      if step % 8 == 4 { try views.checkMoment() }
      if step % 32 == 16 { try await views.checkFresh(store) }
      if step % 200 == 0 { say("memory \(memoryInKibibytes())") }
    }
    say("steps \(task) \(step)")
  }

  /// Looks a few times a second, between two writes.
  private static func look(
    _ store: ModelStore, _ views: SoakViews, _ path: String,
    until deadline: ContinuousClock.Instant
  ) async throws {
    let lock = try QuietLock(path)
    var count = 0
    while ContinuousClock.now < deadline {
      try await lock.quiet { try await views.checkQuiet(store) }
      count += 1
      try await Task.sleep(for: .milliseconds(300))
    }
    say("looks \(count)")
  }

  /// Opens the store, reads it once, and ends without closing it, again and again.
  ///
  /// Positional: directory, count of tasks.
  static func visit(_ options: Options) throws {
    let workload = Workload(
      seed: options.seed, taskCount: try options.integer(1), otherTypes: SoakViews.ownTypes)
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
  static func memoryInKibibytes() -> Int { number(in: "/proc/self/status", after: "RssAnon:") }

  /// The bytes that this process has written to files.
  static func bytesWritten() -> Int { number(in: "/proc/self/io", after: "wchar:") }

  private static func number(in path: String, after label: String) -> Int {
    guard let file = fopen(path, "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      guard text.hasPrefix(label) else { continue }
      return text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
    }
    return 0
  }
}
