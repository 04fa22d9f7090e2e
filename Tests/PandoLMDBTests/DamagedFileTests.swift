import Glibc
import PandoFixtures
import PandoLMDB
import Testing

/// Files that are no whole LMDB files are errors before they are mapped.
@Suite struct DamagedFileTests {
  /// Makes a file, changes its bytes, and opens it.
  static func expectError(
    _ code: LMDBError.Code, _ change: (inout [UInt8]) -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withTemporaryDirectory { path in
      let file = try makeFile(path)
      var bytes = try read(file)
      change(&bytes)
      try write(bytes, to: file)
      PandoLMDBTests.expectError(code, sourceLocation: sourceLocation) {
        _ = try Environment(path: path, configuration: .forTests)
      }
      // Nothing was repaired, and a second try says the same.
      #expect(try read(file) == bytes)
    }
  }

  static func makeFile(_ path: String) throws -> String {
    let environment = try Environment(path: path, configuration: .forTests)
    let table = try environment.table("t", keys: .uint32, values: .bytes)
    for round in UInt8(1)...3 {
      try environment.write { transaction in
        for key in UInt32(0)..<200 {
          try transaction.put([UInt8](repeating: round, count: 500), forKey: key, in: table)
        }
      }
    }
    environment.close()
    return "\(path)/data.mdb"
  }

  static func read(_ path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return bytes
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
  }

  @Test func `a file of another program is refused`() throws {
    try Self.expectError(.invalidFile) { $0 = Array("not a database\n".utf8) + $0 }
    try Self.expectError(.invalidFile) { $0[16] ^= 1 }
    try Self.expectError(.invalidFile) { $0[4096 + 16] ^= 1 }
  }

  @Test func `a file that ends inside its meta pages`() throws {
    for count in [1, 100, 4096, 4200] {
      try Self.expectError(.truncatedFile) { $0.removeLast($0.count - count) }
    }
  }

  @Test func `a file that lost its last pages`() throws {
    try Self.expectError(.truncatedFile) { $0.removeLast($0.count / 2) }
    try Self.expectError(.truncatedFile) { $0.removeLast($0.count - 3 * 4096) }
    try Self.expectError(.truncatedFile) { $0.removeLast($0.count - 8192) }
  }

  @Test func `a file of another version is refused`() throws {
    try Self.expectError(.versionMismatch) { $0[20] = 2 }
  }

  @Test func `a page size that is no page size`() throws {
    try Self.expectError(.invalidFile) { $0[40] = 1 }
  }

  @Test func `a map larger than any address space`() throws {
    try Self.expectError(.invalidFile) { bytes in
      for page in [0, 4096] { bytes[page + 32 + 7] = 0x7F }
    }
  }

  @Test func `an empty file is new, unless it may only be read`() throws {
    try withTemporaryDirectory { path in
      try Self.write([], to: path + "/data.mdb")
      var configuration = Environment.Configuration.forTests
      configuration.isReadOnly = true
      PandoLMDBTests.expectError(.truncatedFile) {
        _ = try Environment(path: path, configuration: configuration)
      }
      try Environment(path: path, configuration: .forTests).close()
    }
  }

  /// Each meta page of a new file may be there or not, or its end.
  ///
  /// Was: refused for ever, though a
  /// full disk or a power cut while a store is made leaves such a file, and nothing can be in it.
  @Test(arguments: [0, 512, 4096, 4608, 8192], [0b00, 0b01, 0b10, 0b11])
  func `a file whose making was cut short is made anew`(size: Int, pages: Int) throws {
    try withTemporaryDirectory { path in
      try Environment(path: path, configuration: .forTests).close()
      var bytes = try Self.read("\(path)/data.mdb")
      #expect(bytes.count == 8192)
      for page in 0..<2 where pages & (1 << page) == 0 {
        bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: repeatElement(0, count: 4096))
      }
      try Self.write(Array(bytes[..<size]), to: "\(path)/data.mdb")
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      let table = try environment.table("t", keys: .uint32, values: .bytes)
      try environment.write { try $0.put([1], forKey: 1, in: table) }
      #expect(try environment.read { try $0.value(forKey: 1, in: table) } == [1])
    }
  }

  @Test func `a file whose creation was interrupted is kept while a process has it open`() throws {
    try withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      let other = try ChildProcess("PandoLMDBTestProcess", ["open-cut-short", path])
      while other.nextLine() != nil {}
      #expect(other.wait() == 0)
      #expect(try Self.read("\(path)/data.mdb").count == 4096)
    }
  }

  /// Refusing such files was a mistake.
  ///
  /// liblmdb counts pages as used that it took and gave back inside one transaction without writing
  /// them, so whole files can end before their last page.
  @Test func `a whole file that ends before its last page opens`() throws {
    try withTemporaryDirectory { path in
      let first = try Environment(path: path, configuration: .forTests)
      let table = try first.table(nil, keys: .uint32, values: .bytes)
      let value = [UInt8](repeating: 1, count: 1500)
      for _ in 0..<2 { try first.write { try $0.put([7], forKey: 9999, in: table) } }
      try first.write { transaction in
        try transaction.put([7], forKey: 9999, in: table)
        try transaction.put([UInt8](repeating: 1, count: 1 << 20), forKey: 1, in: table)
        try transaction.delete(key: 1, in: table)
      }
      try first.write { transaction in
        for key in UInt32(0)..<400 { try transaction.put(value, forKey: key, in: table) }
        for key in UInt32(0)..<400 { try transaction.delete(key: 399 - key, in: table) }
      }
      let statistics = try first.statistics()
      #expect(statistics.fileSizeInBytes < statistics.usedSizeInBytes)
      first.close()
      let second = try Environment(path: path, configuration: .forTests)
      let again = try second.table(nil, keys: .uint32, values: .bytes)
      #expect(try second.read { try $0.value(forKey: 9999, in: again) } == [7])
      second.close()
    }
  }
}
