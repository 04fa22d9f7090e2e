import Pando
import PandoLMDB

/// The process whose calls fail: two tasks commit side by side, and whatever an error allows is tried.
///
/// It says what happened, one line each: `ack TASK STEP`, `error PLACE CODE`, `unknown TASK STEP` for a
/// write that may or may not be there, `done` or `gave-up` at the end. An impossible result ends it.
struct FaultsWriter {
  static let taskCount = 2
  /// How often a thing is tried that goes wrong.
  private static let attemptMaximum = 8

  private let path: String
  private let firstStep: Int
  private let lastStep: Int
  private let level: Durability
  private let workload: Workload
  private var store: ModelStore?
  /// Steps that are there.
  private var steps = [Int](repeating: 0, count: taskCount)

  private struct GaveUp: Error {}

  /// Positional: directory, the steps of each task that are there, level; `--commits` for each task.
  init(_ options: Options) throws {
    path = "\(try options.text(0))/store"
    firstStep = try options.integer(1) + 1
    level = try Durability(named: options.text(2))
    lastStep = firstStep + max(1, options.commits) - 1
    steps = [Int](repeating: firstStep - 1, count: Self.taskCount)
    workload = Workload(seed: options.seed, taskCount: Self.taskCount)
  }

  mutating func run() async throws {
    do {
      try open()
      if firstStep > 1 { try look() }
      for step in firstStep...lastStep {
        // Half way the store is closed and opened again.
        if step == (firstStep + lastStep + 1) / 2 { try reopen(mayHave: []) }
        try await commit(step)
      }
      await store?.close()
      say("done")
    } catch is GaveUp {
      await store?.close()
      say("gave-up")
    }
  }

  private mutating func open() throws {
    for _ in 0..<Self.attemptMaximum {
      do {
        store = try ModelStore(path: path, configuration: .torture(level))
        return
      } catch {
        try report(error, "open")
      }
    }
    throw GaveUp()
  }

  /// Closes and opens the store, and looks at what it shows.
  ///
  /// - Parameter unknown: Tasks whose next step may be there.
  /// - Throws: ``TortureFailure`` if it shows something else.
  private mutating func reopen(mayHave unknown: [Int]) throws {
    store?.close()
    store = nil
    try open()
    try look(mayHave: unknown)
  }

  /// Reads go on whatever happened to a write, and show exactly what was committed.
  private mutating func look(mayHave unknown: [Int] = []) throws {
    guard let store else { throw GaveUp() }
    for _ in 0..<Self.attemptMaximum {
      do {
        var expected = steps
        let shown = try store.read { snapshot in
          let shown = try workload.steps(in: snapshot)
          for task in unknown where shown[task] == steps[task] + 1 { expected[task] += 1 }
          try require(shown == expected, "steps \(shown) instead of \(expected)")
          try workload.check(snapshot, steps: shown)
          return shown
        }
        for (task, step) in shown.enumerated() where step > steps[task] {
          say("ack \(task) \(step)")
        }
        steps = shown
        return
      } catch let failure as TortureFailure {
        throw failure
      } catch {
        try report(error, "read")
      }
    }
    throw GaveUp()
  }

  /// Commits a step of each task at once, and again until both are there.
  private mutating func commit(_ step: Int) async throws {
    for _ in 0..<Self.attemptMaximum {
      let missing = (0..<Self.taskCount).filter { steps[$0] < step }
      if missing.isEmpty { return }
      guard let store else { throw GaveUp() }
      var unknown: [Int] = []
      var mustReopen = false
      for (task, error) in await write(missing, step, store) {
        if let error {
          try report(error, "write")
          guard (error as? LMDBError)?.code == .failedFlush else { continue }
          // Perhaps it reached the disk: only opening the store again tells.
          mustReopen = true
          say("unknown \(task) \(step)")
          unknown.append(task)
        } else {
          steps[task] = step
          say("ack \(task) \(step)")
        }
      }
      try look(mayHave: unknown)
      if mustReopen { try reopen(mayHave: unknown) }
    }
    if steps.contains(where: { $0 < step }) { throw GaveUp() }
  }

  private func write(
    _ tasks: [Int], _ step: Int, _ store: ModelStore
  ) async -> [(task: Int, error: (any Error)?)] {
    await withTaskGroup(of: (Int, (any Error)?).self) { [workload] group in
      for task in tasks {
        group.addTask {
          do {
            try await store.write { try workload.perform(task: task, step: step, in: &$0) }
            return (task, nil)
          } catch {
            return (task, error)
          }
        }
      }
      var outcomes: [(task: Int, error: (any Error)?)] = []
      for await (task, error) in group { outcomes.append((task, error)) }
      return outcomes
    }
  }

  /// Only errors of the engine and the store are answers.
  private func report(_ error: any Error, _ place: String) throws {
    switch error {
    case let error as LMDBError: say("error \(place) \(error.code.rawValue) \(error)")
    case let error as StoreError:
      let code = (error.underlying as? LMDBError)?.code.rawValue.description ?? error.code.rawValue
      say("error \(place) \(code) \(error)")
    default: throw TortureFailure("\(place) threw \(error)")
    }
  }
}
