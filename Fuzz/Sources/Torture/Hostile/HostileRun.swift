import Glibc
import Pando
import PandoLMDB

/// Uses a store as no program should, at full size, and reports the result.
///
/// The suite has the same in sizes that a test takes; `--scale` divides these.
struct HostileRun {
  private let options: Options
  private let directory: WorkingDirectory
  private var scale: Int { max(1, options.scale) }

  init(_ options: Options) throws {
    self.options = options
    directory = try WorkingDirectory("hostile")
  }

  func run() throws {
    say("hostile: seed \(options.seed), sizes divided by \(scale)")
    try directory.use {
      try part("identifiers", longIdentifiers)
      try part("parents", manyParents)
      try part("readers", manyReaders)
      try part("held", heldReader)
      try part("growing", growingTogether)
    }
    say("hostile: seed \(options.seed): each had the outcome that it must have")
  }

  /// Runs a part on a store of its own, and says what it found and how long it took.
  private func part(_ name: String, _ body: (String) throws -> String) throws {
    let start = ContinuousClock.now
    let path = "\(directory.path)/\(name)"
    do {
      let outcome = try body(path)
      let seconds = (ContinuousClock.now - start) / .milliseconds(100)
      say("hostile: \(outcome); \((seconds / 10).rounded()) s")
    } catch {
      throw TortureFailure("hostile: \(name): \(error)")
    }
    WorkingDirectory.remove(path)
  }

  private func open(_ path: String, mapSizeInBytes: Int = 256 << 10) throws -> ModelStore {
    var configuration = ModelStore.Configuration.torture(.unsynchronized)
    configuration.mapSizeInBytes = mapSizeInBytes
    configuration.maximumMapSizeInBytes = 64 << 30
    return try ModelStore(path: path, configuration: configuration)
  }

  private func requireClean(_ store: ModelStore) throws {
    let report = try store.verify()
    try require(report.isClean, "verify: \(report.problems.prefix(5))")
  }

  /// 10 000 identifiers of 10 000 characters, which differ at their end or at their beginning.
  private func longIdentifiers(_ path: String) throws -> String {
    let count = 10_000 / scale
    let store = try open(path)
    defer { store.close() }
    let stem = String(repeating: "ä", count: 9_990)
    @Sendable func identifier(_ number: Int) -> String {
      let digits = String(1_000_000_000 + number)
      return number.isMultiple(of: 2) ? stem + digits : digits + stem
    }
    @Sendable func leaf(_ number: Int) -> TreeNode {
      TreeNode(identifier(number), type: "Leaf", fields: ["number": .integer(Int64(number))])
    }
    for start in stride(from: 0, to: count, by: 500) {
      try store.write { transaction in
        for number in start..<min(start + 500, count) { try transaction.set(leaf(number)) }
      }
    }
    try store.read { snapshot in
      let found = try snapshot.count()
      try require(found == count, "\(found) nodes")
      for number in 0..<count {
        try require(try snapshot.tree(identifier(number)) == leaf(number), "leaf \(number)")
      }
    }
    try requireClean(store)
    try store.write { transaction in
      for number in stride(from: 0, to: count, by: 3) {
        try transaction.deleteIfPresent(identifier(number))
      }
    }
    try store.read { snapshot in
      for number in 0..<count {
        let isThere = try snapshot.contains(identifier(number))
        try require(isThere == (number % 3 != 0), "leaf \(number) after the deletion")
      }
    }
    try requireClean(store)
    let size = try store.statistics().fileSizeInBytes
    return "\(count) identifiers of 10 000 characters distinguished, in \(size >> 20) MiB"
  }

  /// A million parents of one node: they are found, and a deletion reaches all of them.
  private func manyParents(_ path: String) throws -> String {
    let count = 1_000_000 / scale
    let required = 1_000
    let store = try open(path)
    defer { store.close() }
    let child = TreeNode("child", type: "Child", fields: ["text": "one for all"])
    try store.write { try $0.set(child) }
    for start in stride(from: 0, to: count, by: 20_000) {
      try store.write { transaction in
        for number in start..<min(start + 20_000, count) {
          let reference = TreeValue.reference(identifier: "child", typeName: "Child")
          try transaction.set(
            TreeNode(
              "parent:\(number)", type: "Parent",
              fields: ["of": number % required == 0 ? .required(reference) : reference]))
        }
      }
    }
    let written = ContinuousClock.now
    let changed = try store.commit { transaction in
      try transaction.set(TreeNode("child", type: "Child", fields: ["text": "changed"]))
    }
    try require(changed.changeSet?.updated == ["child"], "one record says that the child changed")
    let updateTime = ContinuousClock.now - written
    let found = try store.read { try $0.parents(of: "child").count }
    try require(found == count, "\(found) parents")
    try requireClean(store)
    let start = ContinuousClock.now
    let deletion = try store.write { try $0.deleteIfPresent("child") }
    let deletionTime = ContinuousClock.now - start
    let gone = (count + required - 1) / required + 1
    try require(deletion?.deleted.count == gone, "\(deletion?.deleted.count ?? 0) deleted")
    try require(deletion?.updated.count == count + 1 - gone, "not all parents were updated")
    try store.read { snapshot in
      let left = try snapshot.count()
      try require(left == count + 1 - gone, "\(left) nodes left")
      let one = try snapshot.tree("parent:1")
      try require(one?["of"] == .null, "parent 1 holds \(String(describing: one?["of"]))")
    }
    try requireClean(store)
    let memory = SoakRoles.memoryInKibibytes() >> 10
    return
      "\(count) parents of one node: it changes in \(updateTime), and is deleted, with \(gone - 1) "
      + "parents, from all others in \(deletionTime), \(memory) MiB of memory"
  }

  /// 100 000 reads one after another, and as many at once as there may be.
  private func manyReaders(_ path: String) throws -> String {
    let store = try open(path)
    defer { store.close() }
    try store.write { try $0.set(TreeNode("a", type: "Leaf")) }
    let count = 100_000 / scale
    for _ in 0..<count { try require(try store.read { try $0.count() } == 1, "no node") }
    let maximum = try store.statistics().readerCountMaximum
    func nest(_ depth: Int, _ body: () throws -> Void) throws {
      if depth == 0 { return try body() }
      try store.read { _ in try nest(depth - 1, body) }
    }
    for _ in 0..<2 {
      try nest(1_000) { try require(try store.statistics().readerCount >= 1_000, "too few") }
      do {
        try nest(maximum + 1) {}
        throw TortureFailure("more than \(maximum) readers at once")
      } catch let error as LMDBError where error.code == .readersFull {}
    }
    return "\(count) readers one after another, 1000 at once, one more than \(maximum) refused"
  }

  /// A reader stands while others commit; then it goes.
  ///
  /// Meanwhile nothing that the commits replace can be used again, so the file grows by what they
  /// write; afterwards it does not grow any more.
  private func heldReader(_ path: String) throws -> String {
    let count = 20_000 / scale
    let store = try open(path, mapSizeInBytes: 8 << 30)
    defer { store.close() }
    let workload = Workload(seed: options.seed, taskCount: 1)
    func commit(_ steps: ClosedRange<Int>) throws -> Int {
      for step in steps {
        try store.write { try workload.perform(task: 0, step: step, in: &$0) }
      }
      return try store.statistics().fileSizeInBytes
    }
    _ = try commit(1...count)
    // The same again, as the file has its size only when all kinds of pages were free once.
    let quiet = try commit(count + 1...count * 2)
    let held = try store.read { snapshot in
      let size = try commit(count * 2 + 1...count * 3)
      try workload.check(snapshot, steps: [count * 2])
      return size
    }
    let afterwards = try commit(count * 3 + 1...count * 4)
    try require(held > quiet, "the file of \(quiet) bytes did not grow")
    try require(
      afterwards <= held + 1 << 20, "the file went on growing from \(held) to \(afterwards)")
    try requireClean(store)
    return
      "a reader stood for \(count) commits: the file grew from \(quiet >> 10) to \(held >> 10) KiB, "
      + "\((held - quiet) / count) bytes a commit, and to \(afterwards >> 10) KiB in as many without it"
  }

  /// Two processes write at once what needs a larger map all the time.
  private func growingTogether(_ path: String) throws -> String {
    let count = 2_000 / scale
    try open(path).close()
    let processes = try (0..<2).map { number in
      try ChildProcess(["hostile-grower", path, "\(number)", "\(count)"])
    }
    let store = try open(path)
    defer { store.close() }
    var last = 0
    for (number, process) in processes.enumerated() {
      while process.line(timeoutInMilliseconds: 1) != nil || process.isRunning {
        last = try store.read { try $0.count() }
      }
      try process.requireSuccess("process \(number)")
    }
    try require(try store.read { try $0.count() } == 2 * count, "\(last) nodes")
    try store.write { try $0.set(TreeNode("own", type: "Leaf")) }
    try requireClean(store)
    let statistics = try store.statistics()
    return
      "two processes grew the map from 256 KiB to \(statistics.mapSizeInBytes >> 20) MiB with "
      + "\(2 * count) commits, a third one read meanwhile"
  }

  /// Positional: directory, number of the process, count of commits.
  static func grow(_ options: Options) throws {
    let store = try ModelStore(path: options.text(0), configuration: .torture(.unsynchronized))
    let number = try options.integer(1)
    let text = TreeValue.string(String(repeating: "grown ", count: 5_000))
    for step in 0..<(try options.integer(2)) {
      try store.write { transaction in
        try transaction.set(
          TreeNode("node:\(number):\(step)", type: "Leaf", fields: ["text": text]))
      }
    }
    store.close()
  }
}
