import PandoFixtures
import PandoSystem
import Testing

@testable import PandoLMDB

/// The room that is kept for writes that free space.
@Suite struct ReserveTests {
  private static let value = [UInt8](repeating: 7, count: 3_000)
  private static let maximum = 2 << 20

  private static var configuration: Environment.Configuration {
    var configuration = Environment.Configuration.forTests
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = maximum
    return configuration
  }

  /// Puts one row after another until the map is full.
  ///
  /// - Returns: How many rows there are then.
  private func fill(_ environment: Environment, _ table: Table<UInt32, [UInt8]>) throws -> UInt32 {
    for key in UInt32(0)... {
      do {
        try environment.write { try $0.put(Self.value, forKey: key, in: table) }
      } catch let error as LMDBError where error.code == .mapFull {
        #expect(error.detail.hasPrefix("it may not grow above \(Self.maximum) bytes"))
        return key
      }
    }
    return 0
  }

  @Test func `a full environment is emptied row by row and filled again`() throws {
    try withEnvironment(Self.configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let first = try fill(environment, table)
      #expect(first > 300)
      for _ in 0..<3 {
        for key in (0..<first).reversed() {
          try environment.write { try $0.delete(key: key, in: table) }
        }
        #expect(try environment.read { try $0.count(of: table) } == 0)
        let again = try fill(environment, table)
        #expect(again > first * 9 / 10 && again < first * 11 / 10)
        try environment.write { try $0.removeAll(in: table) }
        #expect(try fill(environment, table) > first * 9 / 10)
      }
    }
  }

  @Test func `a long read does not prevent removals`() throws {
    try withEnvironment(Self.configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let count = try fill(environment, table)
      try environment.read { snapshot in
        try onThreads(1) { _ in
          for key in 0..<count { try environment.write { try $0.delete(key: key, in: table) } }
        }
        #expect(try snapshot.count(of: table) == count)
      }
      #expect(try environment.read { try $0.count(of: table) } == 0)
      // What the read had kept is used again.
      #expect(try fill(environment, table) > count * 9 / 10)
    }
  }

  @Test func `a read that goes on leaves removals their room while others replace rows`() throws {
    var configuration = Self.configuration
    // A map does not grow under a read.
    configuration.mapSizeInBytes = Self.maximum
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      for key in UInt32(0)..<100 {
        try environment.write { try $0.put(Self.value, forKey: key, in: table) }
      }
      try environment.read { _ in
        try onThreads(1) { _ in
          while true {
            do {
              try environment.write { try $0.put(Self.value, forKey: 1, in: table) }
            } catch let error as LMDBError where error.code == .mapFull {
              #expect(error.detail.contains("a long read keeps the freed pages"))
              break
            }
          }
          for key in UInt32(0)..<100 {
            try environment.write { try $0.delete(key: key, in: table) }
          }
        }
      }
      try environment.write { try $0.put(Self.value, forKey: 1, in: table) }
    }
  }

  @Test func `a removal without room says that a read may keep it`() throws {
    var configuration = Self.configuration
    // A map does not grow under a read.
    configuration.mapSizeInBytes = Self.maximum
    try withEnvironment(configuration) { environment in
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      let count = try fill(environment, table)
      // Writes that pass for removals use the whole reserve up, because the read keeps their pages.
      try environment.read { _ in
        try onThreads(1) { _ in
          let error = expectError(.mapFull) {
            while true {
              try environment.write { transaction in
                try transaction.put(Self.value, forKey: count, in: table)
                try transaction.delete(key: count, in: table)
                transaction.isRelief = true
              }
            }
          }
          #expect(error?.detail.contains("the room kept for removals is used up") == true)
          #expect(error?.detail.contains("a long read may keep the freed pages") == true)
        }
      }
      // When the read has ended, removals go on.
      for key in 0..<count { try environment.write { try $0.delete(key: key, in: table) } }
      // The list of the pages that the read had kept stays long, and counts as in use.
      #expect(try fill(environment, table) > count * 8 / 10)
    }
  }

  @Test func `tables that only others have opened count as in use`() throws {
    try withTemporaryDirectory { path in
      let first = try Environment(path: path, configuration: Self.configuration)
      let count = try fill(first, first.table("a", keys: .uint32, values: .bytes))
      first.close()
      let second = try Environment(path: path, configuration: Self.configuration)
      defer { second.close() }
      #expect(try fill(second, second.table("b", keys: .uint32, values: .bytes)) < count / 20)
    }
  }

  @Test func `any maximum can be asked for`() throws {
    for maximum in [Int.max, .max - 1, 1 << 62, 1 << 48] {
      var configuration = Environment.Configuration.forTests
      configuration.mapSizeInBytes = 1 << 20
      configuration.maximumMapSizeInBytes = maximum
      try withEnvironment(configuration) { environment in
        let table = try environment.table("t", keys: .uint32, values: .bytes)
        // More than the map has at first.
        let large = [UInt8](repeating: 7, count: 3 << 20)
        try environment.write { try $0.put(large, forKey: 1, in: table) }
      }
    }
  }

  @Test func `a map larger than the address space is refused`() throws {
    withTemporaryDirectory { path in
      var configuration = Environment.Configuration.forTests
      configuration.mapSizeInBytes = .max
      configuration.maximumMapSizeInBytes = .max
      expectError(.outOfMemory) { _ = try Environment(path: path, configuration: configuration) }
    }
  }
}
