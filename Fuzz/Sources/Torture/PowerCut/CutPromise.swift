import Pando

/// The contents that a store must show after a cut, as far as its process had come.
struct CutPromise {
  /// The commit that each number stands for, in order; from the whole recording.
  private(set) var commits: [(task: Int, step: Int)] = []
  private let level: Durability
  private let taskCount: Int

  /// The newest commit that has been reported, and its flush.
  private(set) var newest = 0
  private var newestFlush = 0
  /// The newest commit of an earlier flush.
  private var newestOfEarlierFlush = 0
  /// The newest commit that was on the disk by the answer that its writer got.
  private var newestOnDisk = 0
  /// Whether an opening has returned.
  private var isOpened = false

  init(_ entries: [DiskEntry], level: Durability, taskCount: Int) throws {
    self.level = level
    self.taskCount = taskCount
    for case .mark(let text) in entries {
      let fields = text.split(separator: " ")
      guard fields[0] == "commit" else { continue }
      let numbers = fields.dropFirst().compactMap { Int($0) }
      try require(numbers.count == 4 && numbers[0] == commits.count + 1, "the mark \(text)")
      commits.append((numbers[2], numbers[3]))
    }
  }

  /// Takes a mark of the process: `opened`, `commit NUMBER FLUSH TASK STEP` when the commit handler
  /// is called, `returned NUMBER` when the caller has its answer, `disk NUMBER` when a call has returned that says
  /// that the commit is on the disk.
  mutating func take(_ mark: String) throws {
    let fields = mark.split(separator: " ")
    let numbers = fields.dropFirst().compactMap { Int($0) }
    switch fields[0] {
    case "opened": isOpened = true
    case "commit":
      if numbers[1] != newestFlush {
        newestOfEarlierFlush = newest
        newestFlush = numbers[1]
      }
      newest = numbers[0]
    case "disk": newestOnDisk = max(newestOnDisk, numbers[0])
    default: try require(numbers[0] <= newest, "commit \(numbers[0]) returned before its report")
    }
  }

  /// The oldest commit that the disk may show.
  var minimum: Int {
    switch level {
    case .full: newest
    case .consistent: newestOfEarlierFlush
    case .relaxed: newestOnDisk
    case .unsynchronized: 0
    }
  }

  /// Whether there must be a store at all.
  var requiresStore: Bool {
    switch level {
    case .full, .relaxed: isOpened
    case .consistent: newest > 0
    case .unsynchronized: false
    }
  }

  /// How many steps of each task a commit number stands for.
  func steps(_ number: Int) throws -> [Int] {
    try require(number <= commits.count, "commit \(number) of \(commits.count)")
    var steps = [Int](repeating: 0, count: taskCount)
    for commit in commits[..<number] { steps[commit.task] = commit.step }
    return steps
  }
}
