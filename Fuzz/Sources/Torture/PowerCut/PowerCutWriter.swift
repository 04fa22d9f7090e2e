import Glibc
import Pando

/// The process that is recorded: it opens a store a few times and commits, several tasks at once.
///
/// It marks in the recording when an opening has returned, when the commit handler is called, and
/// when the caller of a commit has its answer.
enum PowerCutWriter {
  /// The descriptor whose writes the preloaded library takes as marks.
  private static let marks: CInt = 3
  private static let sessionCount = 3

  private struct Place: Sendable {
    let task: Int
    let step: Int
  }

  /// Positional: directory, level; `--commits` in all.
  static func run(_ options: Options) async throws {
    let workload = Workload(seed: options.seed, taskCount: PowerCutRun.taskCount)
    let path = "\(try options.text(0))/store"
    let level = try Durability(named: options.text(1))
    let stepCount = max(1, options.commits / workload.taskCount / sessionCount)
    var flushes = 0
    for session in 0..<sessionCount {
      let store = try ModelStore(path: path, configuration: .torture(level))
      write("opened", to: marks)
      let earlier = flushes
      store.setCommitHandler { [unowned store] changeSet in
        guard let place = changeSet.context as? Place else { return }
        let flush = earlier + store.counters.flushes
        write(
          "commit \(changeSet.commitNumber.value) \(flush) \(place.task) \(place.step)", to: marks)
      }
      try await withThrowingTaskGroup { group in
        for task in 0..<workload.taskCount {
          group.addTask {
            for step in session * stepCount + 1...(session + 1) * stepCount {
              // Some wait for the disk by themselves, as far as their level does not.
              let isFlushed = level.isRelaxed && (task + step) % 5 == 0
              let commit = try await store.commit(context: Place(task: task, step: step)) {
                if isFlushed { $0.flushWhenCommitted() }
                try workload.perform(task: task, step: step, in: &$0)
              }
              let number = commit.changeSet?.commitNumber.value ?? 0
              write("returned \(number)", to: marks)
              if level.isRelaxed, (task + step) % 7 == 0 { try await store.flush() }
              if isFlushed || level.isRelaxed && (task + step) % 7 == 0 {
                write("disk \(number)", to: marks)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      flushes += store.counters.flushes
      await store.close()
    }
  }
}
