import Foundation
import PandoFixtures
import PandoLMDB
import Testing

/// Waiting for commits, of this process and of others.
@Suite struct WatchingTests {
  private static let forEver = Duration.seconds(1_000_000)

  @Test func `every commit of another process ends a wait`() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      #expect(environment.pollingReason == nil)
      let before = try environment.read { $0.transactionID }
      let writer = try ChildProcess("PandoLMDBTestProcess", ["write-versions", path])
      // Two tables and 200 versions.
      let count = UInt64(202)
      let seen = try await blocking {
        var seen = [before]
        while let last = seen.last, last < before + count,
          let next = try environment.waitForCommit(after: last, timeout: Self.forEver)
        {
          seen.append(next)
        }
        return seen
      }
      #expect(seen == seen.sorted() && Set(seen).count == seen.count)
      #expect(seen.last == before + count)
      #expect(writer.wait() == 0)
    }
  }

  @Test func `a commit of another thread ends a wait, one that changes nothing does not`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      defer { environment.close() }
      let table = try environment.table("t", keys: .uint32, values: .uint32)
      let before = try environment.read { $0.transactionID }
      async let seen = blocking {
        try environment.waitForCommit(after: before, timeout: Self.forEver)
      }
      try environment.write { _ in }
      try environment.write { try $0.put(1, forKey: 1, in: table) }
      #expect(try await seen == before + 1)
      #expect(try environment.waitForCommit(after: before, timeout: .zero) == before + 1)
    }
  }

  @Test func `without a commit it ends in time`() throws {
    try withEnvironment { environment in
      let last = try environment.read { $0.transactionID }
      #expect(try environment.waitForCommit(after: last, timeout: .milliseconds(1)) == nil)
      #expect(try environment.waitForCommit(after: last, timeout: .seconds(-1)) == nil)
    }
  }

  @Test func `closing ends all waits with an error`() async throws {
    try await withTemporaryDirectory { path in
      let environment = try Environment(path: path, configuration: .forTests)
      let last = try environment.read { $0.transactionID }
      let started = Event()
      async let first: Void = blocking {
        started.signal()
        expectError(.closed) {
          _ = try environment.waitForCommit(after: last, timeout: Self.forEver)
        }
      }
      async let second: Void = blocking {
        expectError(.closed) {
          _ = try environment.waitForOthersCommit(after: last, timeout: Self.forEver)
        }
      }
      await blocking {
        started.wait()
        environment.close()
      }
      _ = await (first, second)
      expectError(.closed) { _ = try environment.waitForCommit(after: 0, timeout: .zero) }
    }
  }

  /// A lock file as liblmdb 0.9 writes it, with a number.
  private func withLockFile(
    magic: UInt32 = 0xBEEF_C0DE, format: UInt32 = 0x1_0001, number: UInt64 = 7,
    _ body: (CInt) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      var bytes = [UInt8](repeating: 0, count: 128)
      let mutexSize = MemoryLayout<pthread_mutex_t>.size
      bytes.withUnsafeMutableBytes { bytes in
        bytes.storeBytes(of: magic, as: UInt32.self)
        bytes.storeBytes(of: format, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: number, toByteOffset: 8 + mutexSize, as: UInt64.self)
      }
      try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/lock.mdb"))
      let descriptor = open("\(path)/lock.mdb", O_RDWR)
      defer { close(descriptor) }
      try body(descriptor)
    }
  }

  @Test func `a lock file of another layout is not used`() throws {
    try withLockFile { descriptor in
      let signal = try #require(CommitSignal(descriptor))
      #expect(signal.number == nil)
      signal.check { 7 }
      #expect(signal.obstacle == nil)
      #expect(signal.number == 7)
    }
    try withLockFile(magic: 0xBEEF_C0DF) { descriptor in
      let signal = try #require(CommitSignal(descriptor))
      signal.check { 7 }
      #expect(signal.obstacle?.contains("magic") == true)
      #expect(signal.number == nil)
    }
    try withLockFile(format: 2) { descriptor in
      let signal = try #require(CommitSignal(descriptor))
      signal.check { 7 }
      #expect(signal.obstacle?.contains("format 2") == true)
    }
    try withLockFile(number: 8) { descriptor in
      let signal = try #require(CommitSignal(descriptor))
      signal.check { 7 }
      #expect(signal.obstacle == "it says 8 and liblmdb 7")
      signal.check { 8 }
      #expect(signal.obstacle == nil)
      signal.refuse("it says 8 after commit 10")
      #expect(signal.number == nil)
      #expect(signal.obstacle == "it says 8 after commit 10")
    }
  }

  @Test func `a process that waits for other processes' commits is not woken by its own`()
    async throws
  {
    try await withTemporaryDirectory { path in
      let bytes = Data(repeating: 0, count: 128)
      try bytes.write(to: URL(fileURLWithPath: "\(path)/lock.mdb"))
      let descriptor = open("\(path)/lock.mdb", O_RDWR)
      defer { close(descriptor) }
      // As two processes have it.
      let own = try #require(CommitSignal(descriptor))
      let other = try #require(CommitSignal(descriptor))
      var woken = (own: 0, other: 0)
      for _ in 0..<64 {
        let sleeps = Event()
        async let sleeper: Void = blocking {
          sleeps.signal()
          own.sleep(while: 0, for: .others, nanoseconds: .max / 4)
        }
        let counts = await blocking {
          sleeps.wait()
          var counts = (own: 0, other: 0)
          // Until it has begun to sleep.
          while counts.own + counts.other == 0 {
            counts.own += own.wake()
            counts.other += other.wake()
          }
          return counts
        }
        await sleeper
        woken.own += counts.own
        woken.other += counts.other
      }
      #expect(woken.own == 0)
      #expect(woken.other == 64)
    }
  }
}
