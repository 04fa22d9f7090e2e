import Glibc
import PandoLMDB
import Synchronization
import PandoFixtures
import Testing

@Suite struct CopyTests {
  @Test(arguments: [false, true])
  func `a copy holds one version while writes go on`(compacting: Bool) throws {
    try withEnvironment { environment in
      let left = try environment.table("left", keys: .uint32, values: .uint64)
      let right = try environment.table("right", keys: .uint32, values: .uint64)
      let isDone = Atomic(false)
      try Self.write(0, environment, left, right)
      try onThreads(2) { thread in
        if thread == 0 {
          var version: UInt64 = 1
          while !isDone.load(ordering: .acquiring) {
            try Self.write(version, environment, left, right)
            version += 1
          }
        } else {
          defer { isDone.store(true, ordering: .releasing) }
          for round in 0..<5 {
            try environment.copy(to: "\(environment.path)/copy\(round)", compacting: compacting)
          }
        }
      }
      for round in 0..<5 { try Self.checkCopy("\(environment.path)/copy\(round)") }
    }
  }

  private static func write(
    _ version: UInt64, _ environment: Environment, _ left: Table<UInt32, UInt64>,
    _ right: Table<UInt32, UInt64>
  ) throws {
    try environment.write { transaction in
      for key in UInt32(0)..<300 {
        try transaction.put(version, forKey: key, in: left)
        try transaction.put(version, forKey: 299 - key, in: right)
      }
    }
  }

  private static func checkCopy(_ path: String) throws {
    let copy = try Environment(path: path, configuration: .forTests)
    defer { copy.close() }
    var versions: Set<UInt64> = []
    for name in ["left", "right"] {
      let table = try copy.table(name, keys: .uint32, values: .uint64, create: false)
      try copy.read { snapshot in
        let count = try snapshot.count(of: table)
        #expect(count == 300)
        try snapshot.scan(table) { entry in
          versions.insert(try entry.value)
          return true
        }
      }
    }
    #expect(versions.count == 1, "\(versions)")
  }

  @Test func `a compacted copy is smaller`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let value = [UInt8](repeating: 1, count: 1000)
      try environment.write { transaction in
        for key in UInt32(0)..<1000 { try transaction.put(value, forKey: key, in: table) }
      }
      try environment.write { try $0.delete(in: .from(10), of: table) }
      try environment.copy(to: environment.path + "/plain")
      try environment.copy(to: environment.path + "/compact", compacting: true)
      let plain = try DamagedFileTests.read(environment.path + "/plain/data.mdb").count
      let compact = try DamagedFileTests.read(environment.path + "/compact/data.mdb").count
      #expect(compact * 10 < plain)
    }
  }

  @Test func `a copy does not replace a file`() throws {
    try withEnvironment { environment in
      expectError(.fileExists) { try environment.copy(to: environment.path) }
      try environment.copy(to: environment.path + "/copy")
      expectError(.fileExists) { try environment.copy(to: environment.path + "/copy") }
    }
  }

  @Test func `a copy that cannot be written leaves nothing`() throws {
    try withEnvironment { environment in
      expectError(.noSuchFile) { try environment.copy(to: environment.path + "/not/there") }
      // A folder in the place of the partial file.
      mkdir(environment.path + "/copy", 0o700)
      mkdir(environment.path + "/copy/data.mdb.partial", 0o700)
      expectError(LMDBError.Code(rawValue: EISDIR)) {
        try environment.copy(to: environment.path + "/copy")
      }
      #expect(access(environment.path + "/copy/data.mdb", F_OK) != 0)
    }
  }
}
