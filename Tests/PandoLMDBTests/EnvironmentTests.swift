import CPandoLMDB
import Glibc
import PandoFixtures
import PandoLMDB
import Testing

@Suite struct EnvironmentTests {
  @Test func `a second open of one file is refused by whatever path`() throws {
    try withTemporaryDirectory { path in
      let first = try Environment(path: path, configuration: .forTests)
      let table = try first.table(nil, keys: .uint8, values: .uint8)
      for other in [path, path + "/", path + "/../" + (path.split(separator: "/").last ?? "")] {
        expectError(.alreadyOpen) { _ = try Environment(path: other, configuration: .forTests) }
      }
      // The first one still works, and its locks are its own.
      try first.write { try $0.put(1, forKey: 1, in: table) }
      first.close()
      let second = try Environment(path: path, configuration: .forTests)
      let again = try second.table(nil, keys: .uint8, values: .uint8)
      #expect(try second.read { try $0.value(forKey: 1, in: again) } == 1)
      second.close()
    }
  }

  @Test func `growth waits for readers for half a minute by default`() {
    #expect(Environment.Configuration().mapGrowthTimeoutInSeconds == 30)
  }

  @Test func `an environment without references can be opened again`() throws {
    try withTemporaryDirectory { path in
      for _ in 0..<3 { _ = try Environment(path: path, configuration: .forTests) }
    }
  }

  @Test func `a closed environment refuses everything and closes twice`() throws {
    try withEnvironment { environment in
      let table = try environment.rawTable("t")
      environment.close()
      environment.close()
      expectError(.closed) { try environment.read { _ in } }
      expectError(.closed) { try environment.write { _ in } }
      expectError(.closed) { _ = try environment.rawTable("u") }
      expectError(.closed) { _ = try environment.statistics() }
      expectError(.closed) { try environment.sync() }
      expectError(.closed) { try environment.copy(to: environment.path + "/copy") }
      #expect(environment.clearStaleReaders() == 0)
      _ = table
    }
  }

  @Test func `close waits for readers on other threads`() throws {
    try withEnvironment { environment in
      let table = try environment.table(nil, keys: .uint8, values: .uint8)
      try environment.write { try $0.put(1, forKey: 1, in: table) }
      let isReading = Event()
      try onThreads(2) { thread in
        if thread == 0 {
          isReading.wait()
          environment.close()
        } else {
          try environment.read { snapshot in
            isReading.signal()
            for _ in 0..<1000 {
              let value = try snapshot.value(forKey: 1, in: table)
              #expect(value == 1)
            }
          }
        }
      }
      expectError(.closed) { try environment.read { _ in } }
    }
  }

  @Test func `a folder that does not exist is made, but not for reading only`() throws {
    try withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.isReadOnly = true
      expectError(.noSuchFile) {
        _ = try Environment(path: path + "/new", configuration: configuration)
      }
      try Environment(path: path + "/new", configuration: .forTests).close()
      expectError(.noSuchFile) {
        _ = try Environment(path: path + "/not/there", configuration: .forTests)
      }
    }
  }

  /// liblmdb maps the lock file and writes to it: a page without room would end the process with SIGBUS.
  @Test(arguments: [1, 126, 2000])
  func `the lock file has room on the disk for all of it`(readers: Int) throws {
    try withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.maximumReaders = readers
      // The second opening gives room to a file that was made without.
      for round in 0..<2 {
        let environment = try Environment(path: path, configuration: configuration)
        var status = stat()
        try #require(stat(path + "/lock.mdb", &status) == 0)
        #expect(status.st_size == (readers + 2) * 64)
        #expect(Int(status.st_blocks) * 512 >= Int(status.st_size))
        environment.close()
        if round == 0 {
          try #require(truncate(path + "/lock.mdb", 0) == 0)
          try #require(truncate(path + "/lock.mdb", status.st_size) == 0)
        }
      }
    }
  }

  @Test func `a read-only environment reads and refuses to write`() throws {
    try withTemporaryDirectory { path in
      let writable = try Environment(path: path, configuration: .forTests)
      let table = try writable.table("t", keys: .uint8, values: .uint8)
      try writable.write { try $0.put(1, forKey: 1, in: table) }
      writable.close()
      var configuration = Environment.Configuration.forTests
      configuration.isReadOnly = true
      let environment = try Environment(path: path, configuration: configuration)
      defer { environment.close() }
      let same = try environment.table("t", keys: .uint8, values: .uint8)
      #expect(try environment.read { try $0.value(forKey: 1, in: same) } == 1)
      expectError(.readOnly) { try environment.write { try $0.put(2, forKey: 1, in: same) } }
      expectError(.notFound) { _ = try environment.rawTable("u") }
    }
  }

  @Test(arguments: Durability.allCases)
  func `commits of every durability are there after reopening`(durability: Durability) throws {
    try withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.durability = durability
      for round in UInt8(0)..<3 {
        let environment = try Environment(path: path, configuration: configuration)
        let table = try environment.table("t", keys: .uint8, values: .uint8)
        #expect(try environment.read { try $0.count(of: table) } == Int(round))
        try environment.write { try $0.put(round, forKey: round, in: table) }
        try environment.sync()
        environment.close()
      }
    }
  }

  @Test func `a table that does not exist is an error unless it is to be created`() throws {
    try withEnvironment { environment in
      expectError(.notFound) { _ = try environment.rawTable("t", create: false) }
      let table = try environment.rawTable("t")
      #expect(try environment.rawTable("t", create: false) == table)
      #expect(try environment.rawTable("u") != table)
      expectError(.badKeySize) { _ = try environment.rawTable("") }
      expectError(.badKeySize) { _ = try environment.rawTable(String(repeating: "x", count: 512)) }
    }
  }

  @Test func `more tables than were allowed are an error`() throws {
    var configuration = Environment.Configuration.forTests
    configuration.maximumTables = 2
    try withEnvironment(configuration) { environment in
      _ = try environment.rawTable("a")
      _ = try environment.rawTable("b")
      expectError(.tooManyTables) { _ = try environment.rawTable("c") }
    }
  }

  @Test func `a table opened after a snapshot is unknown to it`() throws {
    try withEnvironment { environment in
      try environment.read { snapshot in
        let table = try environment.rawTable("late")
        expectError(.badTable) { _ = try snapshot.bytes(forKey: [1].span, in: table) }
        expectError(.badTable) { _ = try snapshot.count(of: table) }
        expectError(.badTable) { try snapshot.scan(table) { _, _ in true } }
        expectError(.badTable) { _ = try snapshot.cursor(in: table) }
      }
    }
  }

  @Test func `a table made with other flags is refused`() throws {
    try withTemporaryDirectory { path in
      var raw: OpaquePointer?
      mdb_env_create(&raw)
      mdb_env_set_maxdbs(raw, 4)
      try #require(mdb_env_open(raw, path, 0, 0o600) == 0)
      var transaction: OpaquePointer?
      try #require(mdb_txn_begin(raw, nil, 0, &transaction) == 0)
      var table = MDB_dbi()
      let flags = UInt32(MDB_CREATE | MDB_DUPSORT)
      try #require(mdb_dbi_open(transaction, "many", flags, &table) == 0)
      try #require(mdb_txn_commit(transaction) == 0)
      mdb_env_close(raw)
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      expectError(.incompatibleTable) { _ = try environment.rawTable("many") }
      _ = try environment.rawTable("one")
    }
  }

  @Test func `a map that fits no address space is an error and the file stays free`() throws {
    try withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.mapSizeInBytes = 1 << 60
      configuration.maximumMapSizeInBytes = 1 << 60
      expectError(.outOfMemory) { _ = try Environment(path: path, configuration: configuration) }
      try Environment(path: path, configuration: .forTests).close()
    }
  }

  @Test func `free pages of a version are those that its commits have freed`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let value = [UInt8](repeating: 1, count: 1000)
      try environment.write { transaction in
        for key in UInt32(0)..<1000 { try transaction.put(value, forKey: key, in: table) }
      }
      try environment.read { snapshot in
        let free = try snapshot.freeSizeInBytes()
        #expect(free < 100_000)
        try environment.write { transaction in
          for key in UInt32(0)..<1000 { try transaction.delete(key: key, in: table) }
        }
        // A version keeps its free list.
        #expect(try snapshot.freeSizeInBytes() == free)
      }
      let free = try environment.read { try $0.freeSizeInBytes() }
      #expect(free > 1_000_000)
    }
  }

  @Test func `statistics tell sizes and the oldest reader`() throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let value = [UInt8](repeating: 1, count: 1000)
      try environment.write { transaction in
        for key in UInt32(0)..<1000 { try transaction.put(value, forKey: key, in: table) }
      }
      let idle = try environment.statistics()
      #expect(idle.mapSizeInBytes == 64 << 20)
      #expect(idle.usedSizeInBytes > 1_000_000)
      #expect(idle.fileSizeInBytes > 1_000_000)
      #expect(idle.pageSizeInBytes == 4096)
      #expect(idle.readersMax == 1024)
      #expect(idle.readersInUse == 0)
      #expect(idle.oldestReaderTransactionID == nil)
      #expect(idle.oldestReaderAgeInSeconds == nil)
      try environment.read { snapshot in
        let version = snapshot.transactionID
        #expect(version == idle.lastTransactionID)
        try environment.write { try $0.put([], forKey: 0, in: table) }
        let busy = try environment.statistics()
        #expect(busy.readersInUse == 1)
        #expect(busy.oldestReaderTransactionID ?? 0 == version)
        #expect(busy.lastTransactionID == version + 1)
        #expect((busy.oldestReaderAgeInSeconds ?? -1) >= 0)
        let pages = try snapshot.statistics(of: table.raw)
        #expect(pages.count == 1000)
        #expect(pages.leafPageCount > 250)
        #expect(pages.depth >= 2)
        #expect(pages.sizeInBytes >= pages.leafPageCount * 4096)
      }
    }
  }
}
