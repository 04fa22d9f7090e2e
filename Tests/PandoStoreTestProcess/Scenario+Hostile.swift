import CPandoFaults
import Foundation
import Glibc
import PandoLMDB
import PandoModels
import PandoStore

extension Scenario {
  /// A store that was opened by a relative path is the same one after `chdir`, where another store has that path.
  static func otherFolder(_ path: String) throws {
    func make(_ folder: String, _ count: Int) throws -> ModelStore {
      mkdir("\(path)/\(folder)", 0o700)
      expect(chdir("\(path)/\(folder)") == 0, "chdir: \(errno)")
      var configuration = configuration
      configuration.durability = .full
      let store = try ModelStore(path: "store", configuration: configuration)
      for id in 0..<count { try store.write { try $0.set(TreeNode("leaf:\(id)", type: "Leaf")) } }
      return store
    }
    let first = try make("first", 3)
    let second = try make("second", 40)
    // Was: the report was that of the second store.
    let report = try first.verify()
    expect(report.isClean && report.nodeCount == 3, "\(report)")
    try first.write { try $0.set(TreeNode("leaf:new", type: "Leaf")) }
    expect(try first.read { try $0.count() } == 4, "a write after chdir")
    expect(try second.read { try $0.count() } == 40, "the other store")
    first.close()
    let again = try ModelStore(path: "\(path)/first/store", configuration: configuration)
    expect(try again.read { try $0.count() } == 4, "opened again")
  }

  private static func mode(_ path: String) -> mode_t {
    var status = stat()
    expect(stat(path, &status) == 0, "\(path): errno \(errno)")
    return status.st_mode & 0o777
  }

  /// What a store makes is for its owner alone, whatever the process gives away by default.
  static func ownerOnly(_ path: String) throws {
    for mask in [0, 0o022, 0o077] as [mode_t] {
      umask(mask)
      let folder = "\(path)/\(mask)"
      let store = try ModelStore(path: folder, configuration: configuration)
      try store.write { try $0.set(tree(1)) }
      try store.copy(to: "\(folder)/copy")
      store.close()
      let temporary = try ModelStore.temporary(configuration: configuration)
      for directory in [folder, "\(folder)/copy", temporary.path] {
        expect(mode(directory) == 0o700, "\(directory) has mode \(mode(directory))")
      }
      let names = [
        "\(folder)/data.mdb", "\(folder)/lock.mdb", "\(folder)/copy/data.mdb",
        "\(temporary.path)/data.mdb",
      ]
      for file in names { expect(mode(file) == 0o600, "\(file) has mode \(mode(file))") }
      temporary.close()
    }
  }

  /// A store that another process of the same number has open says so when it is opened.
  static func sameNumber(_ path: String) throws {
    for isReadOnly in [false, true] {
      var configuration = configuration
      configuration.isReadOnly = isReadOnly
      do {
        try ModelStore(path: path, configuration: configuration).close()
        fail("it was opened")
      } catch let error as LMDBError {
        expect(error.code == .processNumberTaken, "\(error)")
        for part in [path, "number \(getpid())", "share the PID namespace"] {
          expect(error.description.contains(part), "\(error) does not contain \(part)")
        }
      }
    }
  }

  /// A path that is a file, a link, not there, or not for this user.
  static func strangeDirectories(_ path: String) throws {
    func open(_ name: String, isReadOnly: Bool = false) throws {
      var configuration = configuration
      configuration.isReadOnly = isReadOnly
      try ModelStore(path: "\(path)/\(name)", configuration: configuration).close()
    }
    let notADirectory = LMDBError.Code(rawValue: ENOTDIR)
    let noPermission = LMDBError.Code(rawValue: EACCES)
    let store = try ModelStore(path: "\(path)/store", configuration: configuration)
    try store.write { try $0.set(tree(1)) }

    symlink("store", "\(path)/link")
    expectError(.alreadyOpen) { try open("link") }
    store.close()
    try open("link")
    symlink("nowhere", "\(path)/dangling")
    expectError(.noSuchFile) { try open("dangling") }
    symlink("circle", "\(path)/circle")
    expectError(LMDBError.Code(rawValue: ELOOP)) { try open("circle") }
    Glibc.close(creat("\(path)/file", 0o600))
    for isReadOnly in [false, true] {
      expectError(notADirectory) { try open("file", isReadOnly: isReadOnly) }
    }
    expectError(.noSuchFile) { try open("absent", isReadOnly: true) }
    expectError(.noSuchFile) { try open("absent/inside") }
    expect(access("\(path)/absent", F_OK) != 0, "a reader has made a folder")

    // Somebody else's: the superuser lets go of its rights; others lock themselves out.
    mkdir("\(path)/sealed", 0o700)
    mkdir("\(path)/open", 0o700)
    try ModelStore(path: "\(path)/open", configuration: configuration).close()
    chmod("\(path)/open", 0o755)
    for name in ["data.mdb", "lock.mdb"] { chmod("\(path)/open/\(name)", 0o444) }
    chmod("\(path)/sealed", 0o555)
    chmod(path, 0o755)
    if geteuid() == 0 {
      chmod("\(path)/store", 0o700)
      expect(seteuid(65534) == 0, "seteuid: errno \(errno)")
    } else {
      chmod("\(path)/store", 0)
    }
    for isReadOnly in [false, true] {
      expectError(noPermission) { try open("store", isReadOnly: isReadOnly) }
    }
    expectError(noPermission) { try open("sealed") }
    expectError(noPermission) { try open("sealed/inside") }
    // A reader takes a slot in the lock file, so reading takes the right to write that one.
    expectError(noPermission) { try open("open") }
    expectError(noPermission) { try open("open", isReadOnly: true) }
    expectError(noPermission) { _ = try ModelStore.verify(path: "\(path)/open") }
    expect(access("\(path)/sealed/data.mdb", F_OK) != 0, "a file was left")
    if geteuid() == 65534 { expect(seteuid(0) == 0, "seteuid: errno \(errno)") }
    chmod("\(path)/store", 0o700)
    chmod("\(path)/sealed", 0o700)
    chmod(path, 0o700)
    try open("store")
  }

  /// A temporary store that can't be opened leaves no directory.
  static func temporaryRefused(_ path: String) throws {
    setenv("TMPDIR", path, 1)
    let kept = try ModelStore.temporary(configuration: configuration)
    expect(kept.path.hasPrefix(path), "\(kept.path) is not in \(path)")
    kept.close()
    var configuration = configuration
    configuration.isReadOnly = true  // there is nothing to read
    do {
      _ = try ModelStore.temporary(configuration: configuration)
      fail("a temporary store was opened for reading only")
    } catch {}
    let left = try FileManager.default.contentsOfDirectory(atPath: path)
    expect(left.isEmpty, "\(left) is left")
  }

  /// The clock of the day decides nothing: it only shows in the dates of changes.
  static func clockJumps(_ path: String) throws {
    let day = 86_400
    // To the last century, to the next, back by a second, and where it was.
    let shifts = [0, -30_000 * day, 40_000 * day, 40_000 * day - 1, -1, 0]
    var configuration = configuration
    configuration.changeLogLimit = 4
    let store = try ModelStore(path: path, configuration: configuration)
    for (index, shift) in shifts.enumerated() {
      faults_shift_clock(shift)
      let before = Date()
      let commit = try store.commit { try $0.set(tree(index + 1)) }
      expect(
        commit.changeSet?.commitNumber.value == UInt64(index + 1),
        "commit \(index + 1) has another number")
      let after = Date()
      let date = commit.changeSet?.date ?? .distantPast
      // Dates are stored with less precision than the clock has.
      expect(
        date.timeIntervalSince(before) > -0.001 && date.timeIntervalSince(after) < 0.001,
        "\(date) instead of \(before) to \(after)")
      expect(try store.read { try $0.tree("root") } == tree(index + 1), "not the newest tree")
      let last = try store.read { try $0.changes(since: CommitNumber(value: UInt64(index))) }
      expect(last.map(\.commitNumber.value) == [UInt64(index + 1)], "the change log: \(last)")
      expect(
        abs((last.first?.date ?? .distantPast).timeIntervalSince(date)) < 0.001,
        "the log has another date")
    }
    let kept = try store.read { try $0.changes(since: CommitNumber(value: 2)) }.map(
      \.commitNumber.value)
    expect(kept == [3, 4, 5, 6], "the log keeps \(kept)")
    expect(try store.verify().isClean, "not clean")
    store.close()
  }

  /// Writes what needs a larger map again and again.
  static func grow(_ path: String) throws {
    let store = try ModelStore(path: path, configuration: configuration)
    let text = TreeValue.string(String(repeating: "grown ", count: 5_000))
    for step in 0..<100 {
      try store.write { transaction in
        try transaction.set(
          TreeNode("node:\(getpid()):\(step)", type: "Leaf", fields: ["text": text]))
      }
    }
    store.close()
  }
}
