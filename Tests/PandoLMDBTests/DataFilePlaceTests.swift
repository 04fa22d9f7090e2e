import Glibc
import PandoFixtures
import PandoLMDB
import Testing

/// An environment writes only to the file that it has opened, and only while that has its path and its contents.
@Suite struct DataFilePlaceTests {
  /// Each write of these looks at the path; of the others, one in a millisecond.
  private static let flushing: [Durability] = [.full, .consistent]

  private static func configuration(_ durability: Durability) -> Environment.Configuration {
    var configuration = Environment.Configuration.forTests
    configuration.durability = durability
    return configuration
  }

  /// Makes an environment with a number of commits; its values are those of a seed.
  private func make(
    _ path: String, commits: Int, seed: UInt64 = 1, _ durability: Durability = .full
  ) throws -> (environment: Environment, table: Table<UInt32, UInt64>) {
    let environment = try Environment(path: path, configuration: Self.configuration(durability))
    let table = try environment.table("t", keys: .uint32, values: .uint64)
    for commit in 0..<commits {
      try environment.write { transaction in
        for key in UInt32(0)..<200 {
          try transaction.put(seed + UInt64(commit), forKey: key, in: table)
        }
      }
    }
    return (environment, table)
  }

  /// Runs `body` with a folder that has an open environment, `store`, with the value 2 under key 7.
  private func withStore(
    _ durability: Durability,
    _ body: (String, Environment, Table<UInt32, UInt64>) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let (environment, table) = try make("\(path)/store", commits: 2, durability)
      defer { environment.close() }
      try body(path, environment, table)
    }
  }

  private func put(_ environment: Environment, _ table: Table<UInt32, UInt64>) throws {
    try environment.write { try $0.put(99, forKey: 7, in: table) }
  }

  private func value(_ environment: Environment, _ table: Table<UInt32, UInt64>) throws -> UInt64? {
    try environment.read { try $0.value(forKey: 7, in: table) }
  }

  /// Was: the commits went to where the folder had been moved.
  @Test(arguments: flushing)
  func `a folder that was moved takes no writes until it is back`(durability: Durability) throws {
    try withStore(durability) { path, environment, table in
      rename("\(path)/store", "\(path)/moved")
      for _ in 0..<2 {
        let error = expectError(.fileMoved) { try put(environment, table) }
        #expect(error?.detail.hasSuffix("/store/data.mdb is not there any more") == true)
      }
      #expect(try value(environment, table) == 2)
      rename("\(path)/moved", "\(path)/store")
      try put(environment, table)
      #expect(try value(environment, table) == 99)
    }
  }

  @Test(arguments: flushing)
  func `a data file that was removed takes no writes`(durability: Durability) throws {
    try withStore(durability) { path, environment, table in
      unlink("\(path)/store/data.mdb")
      expectError(.fileMoved) { try put(environment, table) }
      let kept = try value(environment, table)
      #expect(kept == 2)
      #expect(access("\(path)/store/data.mdb", F_OK) != 0)
    }
  }

  @Test(arguments: flushing, [false, true])
  func `a replaced folder or file takes no writes, nor does its replacement`(
    durability: Durability, isFolder: Bool
  ) throws {
    try withStore(durability) { path, environment, table in
      try make("\(path)/other", commits: 2, seed: 50).environment.close()
      if isFolder {
        rename("\(path)/store", "\(path)/moved")
        rename("\(path)/other", "\(path)/store")
      } else {
        rename("\(path)/other/data.mdb", "\(path)/store/data.mdb")
      }
      let before = try DamagedFileTests.read("\(path)/store/data.mdb")
      let error = expectError(.fileMoved) { try put(environment, table) }
      #expect(error?.detail.hasSuffix("is another file than the one that is open") == true)
      #expect(try value(environment, table) == 2)
      let after = try DamagedFileTests.read("\(path)/store/data.mdb")
      #expect(after == before)
    }
  }

  /// Was: the next commit went into the pages of another environment.
  @Test(arguments: flushing, ["older", "newer", "other", "fork", "text", "empty"])
  func `a data file that was written over takes no writes`(
    durability: Durability, kind: String
  ) throws {
    try withStore(durability) { path, environment, table in
      let file = "\(path)/store/data.mdb"
      let bytes: [UInt8]
      switch kind {
      case "older":
        bytes = try DamagedFileTests.read(file)
        try put(environment, table)
      case "newer":
        try make("\(path)/other", commits: 9).environment.close()
        bytes = try DamagedFileTests.read("\(path)/other/data.mdb")
      case "other":
        // As many commits, and more rows.
        let (other, rows) = try make("\(path)/other", commits: 1)
        try other.write { transaction in
          for key in UInt32(0)..<2_000 { try transaction.put(1, forKey: key, in: rows) }
        }
        other.close()
        bytes = try DamagedFileTests.read("\(path)/other/data.mdb")
      case "fork":
        // From the same version both have gone on by one commit.
        try environment.copy(to: "\(path)/other")
        let (other, rows) = try make("\(path)/other", commits: 0)
        try other.write { try $0.delete(in: .from(10), of: rows) }
        other.close()
        try put(environment, table)
        bytes = try DamagedFileTests.read("\(path)/other/data.mdb")
      case "text": bytes = Array("not an environment\n".utf8)
      default: bytes = []
      }
      try DamagedFileTests.write(bytes, to: file)
      for _ in 0..<2 { expectError(.fileMoved) { try put(environment, table) } }
      let after = try DamagedFileTests.read(file)
      #expect(after == bytes)
    }
  }

  @Test func `a data file that was written over takes no writes however often they come`() throws {
    try withStore(.unsynchronized) { path, environment, table in
      let older = try DamagedFileTests.read("\(path)/store/data.mdb")
      try put(environment, table)
      try DamagedFileTests.write(older, to: "\(path)/store/data.mdb")
      let error = expectError(.fileMoved) { try put(environment, table) }
      #expect(error?.detail.contains("was written over while it was open") == true)
      let after = try DamagedFileTests.read("\(path)/store/data.mdb")
      #expect(after == older)
    }
  }

  @Test func `writes that wait for no disk are refused a moment after a move`() throws {
    try withStore(.unsynchronized) { path, environment, table in
      rename("\(path)/store", "\(path)/moved")
      // Waits for the next look, which a millisecond brings.
      var error: LMDBError?
      while error == nil {
        do {
          try put(environment, table)
        } catch let found as LMDBError {
          error = found
        }
      }
      #expect(error?.code == .fileMoved)
      // All the others, too, however fast they come.
      for _ in 0..<2_000 { expectError(.fileMoved) { try put(environment, table) } }
    }
  }

  /// Was: the commit wrote its meta page over one of the two, and the next ones found nothing wrong.
  @Test(arguments: flushing)
  func `a data file that is written over during a commit takes no more writes`(
    durability: Durability
  ) throws {
    try withStore(durability) { path, environment, table in
      let file = "\(path)/store/data.mdb"
      let older = try DamagedFileTests.read(file)
      for _ in 0..<4 { try put(environment, table) }
      try environment.write { transaction in
        try transaction.put(99, forKey: 7, in: table)
        let descriptor = open(file, O_WRONLY)
        #expect(unsafe pwrite(descriptor, older, older.count, 0) == older.count)
        close(descriptor)
      }
      for _ in 0..<2 { expectError(.fileMoved) { try put(environment, table) } }
    }
  }

  @Test func `a link that leads elsewhere is no move`() throws {
    try withTemporaryDirectory { path in
      try make("\(path)/first", commits: 1).environment.close()
      try make("\(path)/second", commits: 1).environment.close()
      symlink("first", "\(path)/link")
      let (environment, table) = try make("\(path)/link", commits: 0)
      defer { environment.close() }
      unlink("\(path)/link")
      symlink("second", "\(path)/link")
      try put(environment, table)
      environment.close()
      let (first, rows) = try make("\(path)/first", commits: 0)
      defer { first.close() }
      #expect(try value(first, rows) == 99)
    }
  }

  @Test func `commits of other processes are no change of the file`() throws {
    try withStore(.full) { path, environment, table in
      for _ in 0..<3 {
        let other = try ChildProcess("PandoLMDBTestProcess", ["write-once", "\(path)/store"])
        #expect(other.wait() == 0)
        try put(environment, table)
        let second = try ChildProcess("PandoLMDBTestProcess", ["write-once", "\(path)/store"])
        #expect(second.wait() == 0)
        let third = try ChildProcess("PandoLMDBTestProcess", ["write-once", "\(path)/store"])
        #expect(third.wait() == 0)
        try environment.write { _ in }
        try put(environment, table)
      }
    }
  }
}
