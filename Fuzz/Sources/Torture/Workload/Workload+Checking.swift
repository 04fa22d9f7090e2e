import Pando

extension Workload {
  /// How many steps of each task a snapshot shows.
  func steps(in snapshot: borrowing ModelSnapshot) throws -> [Int] {
    var steps: [Int] = []
    for task in 0..<taskCount {
      let tree = try snapshot.tree("task:\(task)", depth: 0)
      steps.append(Int(tree?["version"]?.integerValue ?? 0))
    }
    return steps
  }

  /// Throws unless a snapshot shows exactly so many steps of each task.
  func check(_ snapshot: borrowing ModelSnapshot, steps: [Int]) throws {
    let commitCount = steps.reduce(0, +)
    let number = try snapshot.commitNumber.value % UInt64(Self.numbersPerCut)
    let isWhole = otherTypes.isEmpty ? Int(number) == commitCount : Int(number) >= commitCount
    try require(isWhole, "commit \(number) with steps \(steps)")
    let others = try (otherTypes + [Self.ballast]).reduce(0) { try $0 + snapshot.count(ofType: $1) }
    guard commitCount > 0 else {
      return try require(try snapshot.count() == others, "nodes without a commit")
    }
    let count = try snapshot.tree(Self.shared)?["count"]?.integerValue
    try require(count == Int64(commitCount), "the shared node counts \(count ?? -1), \(steps)")
    var nodeCount = 1 + others
    for (task, step) in steps.enumerated() where step > 0 {
      try check(snapshot, task: task, step: step)
      nodeCount += 3 + partCount(task: task, step: step) + (step >= 3 ? 1 : 0)
    }
    let found = try snapshot.count()
    try require(found == nodeCount, "\(found) nodes instead of \(nodeCount), steps \(steps)")
    try checkJournal(snapshot, steps: steps)
    try checkChanges(snapshot)
  }

  private func check(_ snapshot: borrowing ModelSnapshot, task: Int, step: Int) throws {
    let place = "task \(task), step \(step)"
    try require(
      try snapshot.tree("task:\(task)") == tree(task: task, step: step), "\(place): another tree")
    let guest = try snapshot.tree("guest:\(task):\(step)", depth: 0)
    try require(guest == self.guest(task: task, step: step), "\(place): no guest")
    if step >= 3 {
      let extra = try snapshot.tree("extra:\(task)")
      try require(extra == self.extra(task: task, step: step / 3 * 3), "\(place): another extra")
    }
    if step >= 5 {
      let badge = try snapshot.tree("part:\(task):0", as: "Badge", depth: 0)
      try require(
        badge?["version"]?.integerValue == Int64(step)
          && badge?["badge"]?.integerValue == Int64(step / 5 * 5), "\(place): another badge")
    }
    let parents = try snapshot.parents(of: "part:\(task):0")
    try require(
      Set(parents) == ["task:\(task)", "guest:\(task):\(step)"], "\(place): parents \(parents)")
    let listed = try snapshot.collectionCount(Self.partList(task)) ?? 0
    try require(listed == Self.partListLength(step: step), "\(place): \(listed) elements")
  }

  private func checkJournal(_ snapshot: borrowing ModelSnapshot, steps: [Int]) throws {
    let commitCount = steps.reduce(0, +)
    let length = Self.length(appended: commitCount, maximum: Self.journalMaximum)
    let entries = try snapshot.collectionTrees(Self.journal) ?? []
    try require(entries.count == length, "a journal of \(entries.count) instead of \(length)")
    // From its end on, each task's steps must count down without a gap.
    var next = steps
    for entry in entries.reversed() {
      let fields = (entry.stringValue ?? "").split(separator: ":").compactMap { Int($0) }
      try require(fields.count == 2 && next.indices.contains(fields[0]), "the journal: \(entry)")
      try require(next[fields[0]] == fields[1], "the journal: \(entry) instead of \(next)")
      next[fields[0]] -= 1
    }
  }

  /// Throws unless the change log has the newest commits, as far as a power cut has left it.
  private func checkChanges(_ snapshot: borrowing ModelSnapshot) throws {
    let newest = try snapshot.commitNumber.value
    let isCut = newest >= Self.numbersPerCut
    var since = newest - min(newest % UInt64(Self.numbersPerCut), 20)
    while true {
      do {
        let numbers = try snapshot.changes(since: CommitNumber(value: since)).map(
          \.commitNumber.value)
        let expected = since == newest ? [] : Array(since + 1...newest)
        return try require(numbers == expected, "the change log: \(numbers), not \(expected)")
      } catch let error as StoreError
        where error.code == .changesExpired && (isCut || mayForgetChanges)
      {
        try require(since < newest, "no changes since commit \(newest), the newest")
        since += 1
      }
    }
  }
}
