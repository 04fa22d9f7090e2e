import CPandoFaults
import Glibc
import PandoLMDB
import PandoModels
import PandoStore

/// What the other process does.
enum Scenario {
  static let versionCount = 150
  static let partCount = 20

  static var configuration: ModelStore.Configuration {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 1 << 28
    configuration.durability = .unsynchronized
    return configuration
  }

  /// A child refuses its parent's store at once, and closing it there takes nothing from the parent.
  static func fork(_ path: String) throws {
    let store = try ModelStore.temporary(configuration: configuration)
    try store.write { try $0.set(TreeNode("a", type: "Leaf")) }
    let child = faults_fork()
    if child == 0 {
      // Was: the child waited for a thread that only the parent has.
      expectError(.usedAfterFork) { try store.read { _ in } }
      expectError(.usedAfterFork) { try store.write { try $0.set(TreeNode("b", type: "Leaf")) } }
      store.close()
      _exit(0)
    }
    var status: CInt = 0
    waitpid(child, &status, 0)
    expect(status == 0, "the child ended with \(status)")
    expect(access("\(store.path)/data.mdb", F_OK) == 0, "the file has gone")
    try store.write { try $0.set(TreeNode("c", type: "Leaf")) }
    expect(try store.read { try $0.count() } == 2, "the parent goes on")
    store.close()
  }

  /// Migrates a store, and goes on in the middle when it gets a line.
  static func migrate(_ path: String) throws {
    var configuration = configuration
    configuration.migrations = [
      Migration(typeName: "Leaf", version: 2) { leaf in
        say("migrating")
        _ = readLine()
        leaf["version"] = 2
      }
    ]
    try ModelStore(path: path, configuration: configuration).close()
  }

  /// A tree whose parts all say the same version.
  static func tree(_ version: Int) -> TreeNode {
    let text = TreeValue.string(String(repeating: "v\(version) ", count: 1 + version))
    let parts = (0..<partCount).map { part in
      TreeValue.node(
        TreeNode("part:\(part)", type: "Part", fields: ["text": text, "part": 1]))
    }
    return TreeNode(
      "root", type: "Root", fields: ["version": .integer(Int64(version)), "parts": .array(parts)])
  }

  /// Commits one version of the tree after another, with a list as long as the number of commits.
  static func writeVersions(_ path: String) throws {
    let store = try ModelStore(path: path, configuration: configuration)
    for version in 1...versionCount {
      try store.write { transaction in
        try transaction.set(tree(version))
        try transaction.append([.string("\(version)")], toCollection: "versions")
        // A node that comes and goes, so that the cascade and the index are at work too.
        try transaction.set(
          TreeNode(
            "guest:\(version)", type: "Guest",
            fields: ["of": .required(.reference(identifier: "part:0", typeName: "Part"))]))
        try transaction.deleteIfPresent("guest:\(version - 1)")
      }
    }
    store.close()
  }

  /// Reads until the last version has come; each read must be one whole version.
  static func readVersions(_ path: String) throws {
    var configuration = configuration
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    say("ready")
    var seen: Set<Int> = []
    var last = 0
    var known: UInt64 = 0
    while last < versionCount {
      let (version, changes) = try store.read { snapshot in
        (try wholeVersion(snapshot), try snapshot.changes(since: CommitNumber(value: known)))
      }
      expect(version >= last, "version \(version) after \(last)")
      expect(changes.count == version - Int(known), "\(changes.count) changes since \(known)")
      last = version
      known = UInt64(version)
      seen.insert(version)
    }
    let report = try store.verify()
    expect(report.isClean, "\(report.problems)")
    store.close()
    say("\(seen.count)")
  }

  /// The version that a snapshot shows; ends the process if it shows two.
  private static func wholeVersion(_ snapshot: borrowing ModelSnapshot) throws -> Int {
    let number = Int(try snapshot.commitNumber.value)
    guard number > 0 else { return 0 }
    let shown = try snapshot.tree("root")
    expect(shown == tree(number), "commit \(number) shows \(shown?["version"]?.integerValue ?? 0)")
    let count = try snapshot.collectionCount("versions")
    expect(count == number, "commit \(number) lists \(count ?? 0) versions")
    let parents = try snapshot.parents(of: "part:0")
    expect(parents.sorted() == ["guest:\(number)", "root"], "commit \(number): \(parents)")
    return number
  }

  /// A full disk fails one write; reads go on, and so do writes when there is space again.
  static func diskFull(_ path: String) throws {
    let store = try ModelStore(path: path, configuration: configuration)
    try store.write { try $0.set(tree(1)) }
    faults_set(FAULT_PAGES)
    expectFailure(.diskFull) { try store.write { try $0.set(tree(2)) } }
    expect(try store.read { try $0.tree("root") } == tree(1), "not the version before")
    faults_set(FAULT_NONE)
    try store.write { try $0.set(tree(3)) }
    expect(try store.read { try wholeTree($0) } == 3, "not the version after")
    expect(try store.read { try $0.commitNumber.value } == 2, "the failed write has no number")
    expect(try store.verify().isClean, "not clean")
    store.close()
  }

  /// After a failed flush reads go on and writes are refused until the store is opened again.
  static func failedFlush(_ path: String) throws {
    var configuration = configuration
    configuration.durability = .full
    let store = try ModelStore(path: path, configuration: configuration)
    try store.write { try $0.set(tree(1)) }
    faults_set(FAULT_FLUSH)
    expectFailure(.failedFlush) { try store.write { try $0.set(tree(2)) } }
    faults_set(FAULT_NONE)
    expectFailure(.failedFlush) { try store.write { try $0.set(tree(3)) } }
    expect(try store.read { try wholeTree($0) } == 1, "not the version before")
    store.close()
    let again = try ModelStore(path: path, configuration: configuration)
    try again.write { try $0.set(tree(4)) }
    expect(try again.read { try wholeTree($0) } == 4, "not the version after")
    expect(try again.verify().isClean, "not clean")
    again.close()
  }

  private static func wholeTree(_ snapshot: borrowing ModelSnapshot) throws -> Int64? {
    try snapshot.tree("root")?["version"]?.integerValue
  }

  private static func expectFailure(_ code: LMDBError.Code, _ body: () throws -> Void) {
    do {
      try body()
      fail("no error instead of \(code)")
    } catch {
      expect((error as? LMDBError)?.code == code, "\(error) instead of \(code)")
    }
  }

  /// Commits what the lines of standard input say: `set ID NAME`, `delete ID`, `append ID KEY`,
  /// `insert ID KEY` at the front, or `remove INDEX KEY`; answers each.
  static func writePeople(_ path: String) throws {
    // What the store keeps is for the process that is tested to say.
    var configuration = configuration
    configuration.changeLogLimit = 1
    let store = try ModelStore(path: path, configuration: configuration)
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      if words == ["hold"] {
        try store.write { _ in
          say("done")
          _ = readLine()
        }
        say("done")
        continue
      }
      if words[0] == "rename", let id = Int64(words[1]), let count = Int(words[2]) {
        for number in 0..<count { try store.write { try $0.set(person(id, "C\(number)")) } }
        say("done")
        continue
      }
      let identifier = "Person:\(words[1])"
      try store.write { transaction in
        if words[0] == "insert" {
          try transaction.insert(
            [.reference(identifier: identifier, typeName: "Person")], at: 0, inCollection: words[2])
          return
        }
        if words[0] == "remove", let index = Int(words[1]) {
          try transaction.removeElements(in: index..<index + 1, fromCollection: words[2])
          return
        }
        if words[0] == "append" {
          try transaction.append(
            [.reference(identifier: identifier, typeName: "Person")], toCollection: words[2])
          return
        }
        guard words[0] == "set", let id = Int64(words[1]) else {
          try transaction.deleteIfPresent(identifier)
          return
        }
        try transaction.set(person(id, words[2]))
      }
      say("done")
    }
    store.close()
  }

  /// The same, and its commits wake nobody.
  static func writePeopleSilently(_ path: String) throws {
    faults_set(FAULT_SIGNAL)
    try ModelStore(path: path, configuration: configuration).close()
    expect(faults_count() == 1, "the lock file is mapped")
    try writePeople(path)
  }

  private static func person(_ id: Int64, _ name: String) -> TreeNode {
    TreeNode(
      "Person:\(id)", type: "Person",
      fields: ["id": .integer(id), "name": .string(name), "isOnline": .bool(false)])
  }
}
