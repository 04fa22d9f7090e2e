import CPandoFaults
import Glibc
import PandoLMDB

/// What the other process does.
enum Scenario {
  static var configuration: Environment.Configuration {
    var configuration = Environment.Configuration()
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 1 << 28
    configuration.mapGrowthTimeoutInSeconds = 1_000_000
    configuration.durability = .unsynchronized
    return configuration
  }

  /// A child refuses its parent's environment, and may open the file itself.
  static func fork(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("t", keys: .string, values: .int64)
    try environment.write { try $0.put(1, forKey: "a", in: table) }
    let child = faults_fork()
    if child == 0 {
      expectError(.usedAfterFork) { try environment.read { _ in } }
      expectError(.usedAfterFork) { try environment.write { _ in } }
      expectError(.usedAfterFork) { _ = try environment.statistics() }
      expectError(.usedAfterFork) { _ = try environment.rawTable("u") }
      let own = try Environment(path: path, configuration: configuration)
      let table = try own.table("t", keys: .string, values: .int64)
      try own.write { try $0.put(2, forKey: "a", in: table) }
      own.close()
      _exit(0)
    }
    expectSuccess(of: child)
    let value = try environment.read { try $0.value(forKey: "a", in: table) }
    expect(value == 2, "the parent reads \(value ?? -1)")
  }

  /// Waits for a child, and expects that it ends by itself and without an error.
  private static func expectSuccess(of child: pid_t) {
    var status: CInt = 0
    waitpid(child, &status, 0)
    expect(status == 0, "the child ended with \(status)")
  }

  /// The same in memory, where nothing is left to a child.
  static func forkInMemory(_: String) throws {
    let environment = try Environment.inMemory(configuration: configuration)
    let table = try environment.table("t", keys: .string, values: .int64)
    try environment.write { try $0.put(1, forKey: "a", in: table) }
    let child = faults_fork()
    if child == 0 {
      expectError(.usedAfterFork) { try environment.read { _ in } }
      expectError(.usedAfterFork) { try environment.write { _ in } }
      expectError(.usedAfterFork) { try environment.copy(to: "unused") }
      environment.close()
      let own = try Environment.inMemory(configuration: configuration)
      let table = try own.table("t", keys: .string, values: .int64)
      try own.write { try $0.put(2, forKey: "a", in: table) }
      own.close()
      _exit(0)
    }
    expectSuccess(of: child)
    let value = try environment.read { try $0.value(forKey: "a", in: table) }
    expect(value == 1, "the parent reads \(value ?? -1)")
    try environment.write { try $0.put(3, forKey: "a", in: table) }
    environment.close()
  }

  /// Grows the map well beyond what the test has mapped.
  static func grow(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("grown", keys: .uint32, values: .bytes)
    let value = [UInt8](repeating: 7, count: 100_000)
    for key in UInt32(0)..<100 {
      try environment.write { try $0.put(value, forKey: key, in: table) }
    }
    say("\(try environment.statistics().mapSizeInBytes)")
  }

  /// Reads, says so, and waits to be killed.
  static func holdReader(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    try environment.read { _ in
      say("reading")
      while true { pause() }
    }
  }

  /// Makes one commit.
  static func writeOnce(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("t", keys: .uint32, values: .uint64)
    try environment.write { try $0.put(UInt64(getpid()), forKey: 1, in: table) }
    environment.close()
  }

  /// Reads, says so, and has the file open until it is told to end.
  static func readAndWait(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    try environment.read { _ in }
    say("\(getpid())")
    _ = readLine()
    environment.close()
  }

  /// Writes with checkpoints, each line of its input as the row `line`, and goes on until it is killed.
  static func writeWithCheckpoints(_ path: String) throws {
    var configuration = configuration
    configuration.durability = .relaxed(every: .seconds(60))
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("lines", keys: .string, values: .string)
    say("open")
    while let line = readLine() {
      try environment.write { try $0.put(line, forKey: "line", in: table) }
      say("written")
    }
    environment.close()
  }

  /// While another process of the same number has the file open, it can't be read, but once that has ended.
  ///
  /// Was: “mdb_txn_begin: Resource temporarily unavailable”.
  static func sameNumber(_ path: String) throws {
    let environment = try Environment(path: path, configuration: configuration)
    for _ in 0..<2 { expectError(.processNumberTaken) { try environment.read { _ in } } }
    expectError(.processNumberTaken) { _ = try environment.rawTable("t") }
    expectError(.processNumberTaken) { try environment.copy(to: "\(path)/copy") }
    say("\(getpid())")
    _ = readLine()
    try environment.read { _ in }
    try environment.copy(to: "\(path)/copy")
  }

  /// A full disk fails one commit; the next one succeeds.
  ///
  /// Was: where the disk took a part of a write, an I/O error.
  static func diskFull(_ path: String) throws {
    for fault in [FAULT_PAGES, FAULT_SHORT] {
      try diskFull("\(path)/\(fault.rawValue)", fault)
    }
  }

  private static func diskFull(_ path: String, _ fault: fault) throws {
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("t", keys: .string, values: .int64)
    try environment.write { try $0.put(1, forKey: "a", in: table) }
    faults_set(fault)
    expectError(.diskFull) {
      try environment.write { transaction in
        for number in Int64(0)..<1000 {
          try transaction.put(number, forKey: "k\(number)", in: table)
        }
      }
    }
    faults_set(FAULT_NONE)
    let count = try environment.read { try $0.count(of: table) }
    expect(count == 1, "\(count) keys after a commit that failed")
    try environment.write { try $0.put(2, forKey: "a", in: table) }
    let value = try environment.read { try $0.value(forKey: "a", in: table) }
    expect(value == 2, "\(value ?? -1) after the disk had space again")
  }

  /// A map that can be made neither larger nor as it was is made again by whoever needs it next.
  ///
  /// Was: the environment seemed closed from then on.
  static func lostMap(_ path: String) throws {
    for (readsFirst, inMemory) in [(true, false), (false, false), (true, true), (false, true)] {
      let path = "\(path)/\(readsFirst)"
      let environment =
        inMemory
        ? try Environment.inMemory(configuration: configuration)
        : try Environment(path: path, configuration: configuration)
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { try $0.put([7], forKey: 0, in: table) }
      faults_set(FAULT_MAP)
      for _ in 0..<2 {
        expectError(.outOfMemory) {
          try environment.write { transaction in
            for key in UInt32(1)..<100 {
              try transaction.put([UInt8](repeating: 7, count: 100_000), forKey: key, in: table)
            }
          }
        }
        expectError(.outOfMemory) { _ = try environment.read { try $0.count(of: table) } }
        expectError(.outOfMemory) { _ = try environment.statistics() }
      }
      faults_set(FAULT_NONE)
      if !readsFirst { try environment.write { try $0.put([8], forKey: 0, in: table) } }
      let value = try environment.read { try $0.value(forKey: 0, in: table) }
      expect(value == [readsFirst ? 7 : 8], "\(value ?? []) after the map was made again")
      try environment.write { try $0.put([9], forKey: 1, in: table) }
      let count = try environment.read { try $0.count(of: table) }
      expect(count == 2, "\(count) keys after the map was made again")
      faults_set(FAULT_NONE)
      environment.close()
      expectError(.closed) { try environment.read { _ in } }
    }
  }

  /// A limit of the process on the size of files is an error, and no signal if that is ignored.
  static func fileSizeLimit(_ path: String) throws {
    signal(SIGXFSZ, SIG_IGN)
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("t", keys: .uint32, values: .bytes)
    var limit = rlimit(rlim_cur: 1 << 19, rlim_max: 1 << 19)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    let value = [UInt8](repeating: 7, count: 10_000)
    var stored = 0
    do {
      while stored < 1000 {
        try environment.write { try $0.put(value, forKey: UInt32(stored), in: table) }
        stored += 1
      }
    } catch let error as LMDBError where error.code == .fileTooLarge || error.code == .inputOutput {
      say("\(error)")
    }
    expect(stored > 0 && stored < 1000, "\(stored) values stored below half a megabyte")
    let count = try environment.read { try $0.count(of: table) }
    expect(count == stored, "\(count) values instead of \(stored)")
    // Space that becomes free can be written again.
    try environment.write { try $0.delete(key: 0, in: table) }
    try environment.write { try $0.put([1], forKey: 0, in: table) }
  }
}
