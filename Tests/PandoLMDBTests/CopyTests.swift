import Foundation
import Glibc
import PandoFixtures
import PandoLMDB
import Synchronization
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

  /// Was: the second one cut the file of the first one off, and both were damaged.
  @Test(arguments: [false, true])
  func `a copy to a place where one is being made is refused, and the first one is whole`(
    compacting: Bool
  ) throws {
    try withFilledEnvironment { environment, place in
      var refusalCount = 0
      let isWhole = try environment.copy(
        to: place, compacting: compacting,
        goesOn: { _ in
          let error = expectError(.fileExists) { try environment.copy(to: place) }
          #expect(error?.detail == "\(place)/data.mdb.partial: another copy is being made there")
          refusalCount += 1
          return true
        }
      ) { try $0.check().isClean }
      #expect(isWhole)
      #expect(refusalCount > 0)
      #expect(try names(in: place) == ["data.mdb"])
      expectError(.fileExists) { try environment.copy(to: place) }
      try Self.checkFilled(place)
    }
  }

  /// Was: an empty folder stayed, or the copy itself.
  @Test func `a copy that is ended or refused leaves neither a file nor a folder`() throws {
    struct Unsound: Error {}
    try withFilledEnvironment { environment, place in
      func tryAll() throws {
        for compacting in [false, true] {
          #expect(
            try environment.copy(to: place, compacting: compacting, goesOn: { _ in false }) { _ in
              true
            } == false)
          #expect(
            try environment.copy(to: place, compacting: compacting, goesOn: { _ in true }) { _ in
              false
            }
              == false)
          #expect(throws: Unsound.self) {
            _ = try environment.copy(to: place, compacting: compacting, goesOn: { _ in true }) {
              _ in
              throw Unsound()
            }
          }
        }
      }
      try tryAll()
      #expect(access(place, F_OK) != 0)
      mkdir(place, 0o700)
      try DamagedFileTests.write([1, 2, 3], to: "\(place)/notes")
      try tryAll()
      #expect(try names(in: place) == ["notes"])
      try environment.copy(to: place)
      try Self.checkFilled(place)
    }
  }

  /// Was: the copy took its place.
  @Test func `a copy leaves a data file alone that came while it was made`() throws {
    try withFilledEnvironment { environment, place in
      expectError(.fileExists) {
        _ = try environment.copy(to: place, compacting: false, goesOn: { _ in true }) { _ in
          try DamagedFileTests.write([1, 2, 3], to: "\(place)/data.mdb")
          return true
        }
      }
      let kept = try DamagedFileTests.read("\(place)/data.mdb")
      #expect(kept == [1, 2, 3])
      #expect(try names(in: place) == ["data.mdb"])
    }
  }

  @Test func `a copy overwrites the remains of a killed one`() throws {
    try withFilledEnvironment { environment, place in
      mkdir(place, 0o700)
      let rest = [UInt8](repeating: 1, count: 8 << 20)
      try DamagedFileTests.write(rest, to: "\(place)/data.mdb.partial")
      try environment.copy(to: place)
      #expect(try names(in: place) == ["data.mdb"])
      try Self.checkFilled(place)
    }
  }

  /// Was: the file at the other end of a link was cut off.
  @Test func `a copy does not write into files that have other names`() throws {
    try withFilledEnvironment { environment, place in
      mkdir(place, 0o700)
      let other = "\(place)/other"
      try DamagedFileTests.write([1, 2, 3], to: other)
      symlink(other, "\(place)/data.mdb.partial")
      expectError(LMDBError.Code(rawValue: ELOOP)) { try environment.copy(to: place) }
      unlink("\(place)/data.mdb.partial")
      link(other, "\(place)/data.mdb.partial")
      expectError(.fileExists) { try environment.copy(to: place) }
      #expect(try DamagedFileTests.read(other) == [1, 2, 3])
      #expect(try names(in: place) == ["data.mdb.partial", "other"])
    }
  }

  /// Was: the next opening put a version of the store that had been there in place.
  @Test func `a copy does not go beside the checkpoint of a data file that has gone`() throws {
    try withFilledEnvironment { environment, place in
      mkdir(place, 0o700)
      try DamagedFileTests.write([], to: "\(place)/checkpoint.mdb")
      let error = expectError(.fileExists) { try environment.copy(to: place) }
      #expect(error?.detail == "\(place)/checkpoint.mdb")
      #expect(try names(in: place) == ["checkpoint.mdb"])
    }
  }

  /// Makes an environment of a megabyte, and a name for a copy of it.
  private func withFilledEnvironment(_ body: (Environment, String) throws -> Void) throws {
    try withEnvironment { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { transaction in
        for key in UInt32(0)..<1000 {
          try transaction.put(
            [UInt8](repeating: UInt8(key % 251), count: 1000), forKey: key, in: table)
        }
      }
      try body(environment, "\(environment.path)/copy")
    }
  }

  private static func checkFilled(_ path: String) throws {
    #expect(try PageWalker(path: path).check().isClean)
    let copy = try Environment(path: path, configuration: .forTests)
    defer { copy.close() }
    let table = try copy.table("t", keys: .uint32, values: .bytes, create: false)
    try copy.read { snapshot in
      let count = try snapshot.count(of: table)
      #expect(count == 1000)
      let last = try snapshot.value(forKey: 999, in: table)
      #expect(last == [UInt8](repeating: UInt8(999 % 251), count: 1000))
    }
  }

  /// The names in a folder, in order.
  private func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }
}
