import CPandoFaults
import Glibc
import PandoLMDB

extension Scenario {
  /// After a failed flush no write is accepted until the environment is opened again.
  static func failedFlush(_ path: String) throws {
    try failedCommit(path, FAULT_FLUSH)
  }

  /// After a failed meta write neither, and reads go on although liblmdb gives up.
  static func failedMeta(_ path: String) throws {
    try failedCommit(path, FAULT_META)
  }

  /// A new file can be found again after a power cut: its name and its folder's are flushed.
  static func flushedNames(_ path: String) throws {
    var configuration = configuration
    configuration.durability = .full
    // Was: nothing but the file was flushed, so the first commits could be lost with its name.
    try Environment(path: "\(path)/new", configuration: configuration).close()
    expect(faults_flushed_folders() == 2, "\(faults_flushed_folders()) folders flushed")
  }

  /// A file that looks unfinished may be one that another process is making at the moment.
  static func openCutShort(_ path: String) throws {
    truncate("\(path)/data.mdb", 4096)
    expectError(.truncatedFile) { _ = try Environment(path: path, configuration: configuration) }
  }

  private static func failedCommit(_ path: String, _ fault: fault) throws {
    var configuration = configuration
    configuration.durability = .full
    let environment = try Environment(path: path, configuration: configuration)
    let table = try environment.table("t", keys: .string, values: .int64)
    let other = try environment.table("u", keys: .string, values: .int64)
    try environment.write { transaction in
      try transaction.put(1, forKey: "a", in: table)
      try transaction.put(5, forKey: "a", in: other)
    }
    faults_set(fault)
    expectError(.failedFlush) { try environment.write { try $0.put(2, forKey: "a", in: table) } }
    faults_set(FAULT_NONE)
    expectError(.failedFlush) { try environment.write { try $0.put(3, forKey: "a", in: table) } }
    for _ in 0..<3 {
      let (value, unchanged) = try environment.read { snapshot in
        (
          try snapshot.value(forKey: "a", in: table), try snapshot.value(forKey: "a", in: other)
        )
      }
      expect(value == 1, "\(value ?? -1) after a commit that failed")
      expect(unchanged == 5, "\(unchanged ?? -1) in a table that was opened again")
    }
    environment.close()
    let reopened = try Environment(path: path, configuration: configuration)
    let again = try reopened.table("t", keys: .string, values: .int64)
    try reopened.write { try $0.put(4, forKey: "a", in: again) }
    let value = try reopened.read { try $0.value(forKey: "a", in: again) }
    expect(value == 4, "\(value ?? -1) after reopening")
  }
}
