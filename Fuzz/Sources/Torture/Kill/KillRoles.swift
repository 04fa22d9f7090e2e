import Glibc
import Pando

/// The processes of the kill run; each works until it is killed.
enum KillRoles {
  /// Commits step after step of some tasks at once, and says each commit when it has returned.
  ///
  /// Positional: directory, count of tasks, first and last of its own, level.
  static func write(_ options: Options) async throws {
    let workload = Workload(seed: options.seed, taskCount: try options.integer(1))
    let own = try options.integer(2)...options.integer(3)
    let store = try ModelStore(
      path: options.text(0), configuration: .torture(Durability(named: options.text(4))))
    let steps = try await store.read { try workload.steps(in: $0) }
    let isControl = options.isControl
    await withTaskGroup { group in
      for task in own {
        group.addTask {
          do {
            for step in (steps[task] + 1)... {
              if isControl { say("\(task) \(step)") }
              try await store.write { try workload.perform(task: task, step: step, in: &$0) }
              if !isControl { say("\(task) \(step)") }
            }
          } catch {
            complain("writer, task \(task): \(error)")
            exit(1)
          }
        }
      }
    }
  }

  /// Reads version after version; each must be a whole one, and none older than the one before.
  ///
  /// Positional: directory, count of tasks.
  static func read(_ options: Options) throws {
    let workload = Workload(seed: options.seed, taskCount: try options.integer(1))
    let store = try openForReading(options.text(0))
    var last = [Int](repeating: 0, count: workload.taskCount)
    while true {
      let steps = try store.read { snapshot in
        let steps = try workload.steps(in: snapshot)
        try workload.check(snapshot, steps: steps)
        return steps
      }
      try require(zip(steps, last).allSatisfy { $0 >= $1 }, "steps \(steps) after \(last)")
      last = steps
      say("read")
    }
  }

  /// Begins a read, says so, and stays in it.
  ///
  /// Positional: directory.
  static func hold(_ options: Options) throws {
    let store = try openForReading(options.text(0))
    try store.read { _ in
      say("reading")
      while true { pause() }
    }
  }

  /// Opens a store that a writer may still be making.
  private static func openForReading(_ path: String) throws -> ModelStore {
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      do {
        return try ModelStore(path: path, configuration: .torture(isReadOnly: true))
      } catch {
        guard ContinuousClock.now < deadline else { throw error }
        usleep(500)
      }
    }
  }
}

extension Options {
  func text(_ index: Int) throws -> String {
    guard positional.indices.contains(index) else {
      throw TortureFailure("\(command) needs more than \(positional.count) arguments")
    }
    return positional[index]
  }

  func integer(_ index: Int) throws -> Int {
    let text = try text(index)
    guard let number = Int(text) else { throw TortureFailure("\(text) is no number") }
    return number
  }
}
