#if PostgreSQL
  import Foundation
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication
  import PandoSystem
  import Testing

  @testable import PandoPostgreSQLLog

  /// Servers that end, stand still, or forget.
  @Suite(.enabled(if: PostgreSQLServer.isThere, "PostgreSQL is not installed"))
  struct PostgreSQLCrashTests {
    /// Holds the row of the end while a closure runs.
    private func withLockedEnd(
      _ server: PostgreSQLServer, _ body: () throws -> Void
    ) throws {
      let connection = try server.connect()
      try connection.run("BEGIN", until: .max)
      try connection.run("SELECT 1 FROM pando.log_end FOR UPDATE", until: .max)
      try body()
      _ = try? connection.run("ROLLBACK", until: .max)
    }

    /// The server itself would flush ten seconds later.
    @Test func `acknowledged messages are on disk, whatever the server's settings`() throws {
      try withServer(settings: ["synchronous_commit=off", "wal_writer_delay=10s"]) { server in
        let log = try server.makeLog()
        defer { log.close() }
        for number in 1...20 {
          #expect(
            try log.appendSurely(bytes(number), named: "\(number)") == UInt64(number))
          if number % 5 == 0 {
            server.kill()
            try server.start()
          }
        }
        #expect(try log.all().map(\.bytes) == (1...20).map { bytes($0) })
      }
    }

    @Test func `a server that is killed again and again loses nothing, and keeps nothing twice`()
      throws
    {
      try withServer { server in
        try server.makeLog().close()
        let acknowledged = Monitor<[UInt64: String]>([:])
        try onThreads(4) { thread in
          guard thread < 3 else {
            for step in 1...4 {
              acknowledged.waiting { $0.count >= step * 100 ? () : nil }
              server.kill()
              try server.start()
            }
            return
          }
          let log = try server.makeLog()
          defer { log.close() }
          for number in 0..<200 {
            let text = "\(thread) \(number)"
            let position = try log.appendSurely(bytes(text), named: text)
            acknowledged.withLock { $0[position] = text }
            acknowledged.notifyAll()
          }
        }
        let log = try server.makeLog()
        defer { log.close() }
        let texts = try log.all().map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(texts.count == 600)
        #expect(Set(texts).count == 600)
        for (position, text) in acknowledged.withLock(\.self) {
          try #require(texts[Int(position) - 1] == text)
        }
      }
    }

    @Test func `a lost answer is none, and a second attempt finds the message`() throws {
      try withServer { server in
        var configuration = server.configuration()
        configuration.requestTimeoutInMilliseconds = 1000
        let log = try PostgreSQLLog(configuration)
        defer { log.close() }
        #expect(try log.append(bytes(1), named: "1", expecting: nil) == 1)
        server.stop()
        #expect(throws: LogFault.noAnswer) {
          try log.append(bytes(2), named: "2", expecting: nil)
        }
        // Nothing of these was sent: there is no connection any more.
        #expect(unavailable { _ = try log.append(bytes(3), named: "3", expecting: nil) } != nil)
        #expect(unavailable { _ = try log.end() }?.contains("does not answer") == true)
        server.go()
        #expect(try log.appendSurely(bytes(2), named: "2") == 2)
        #expect(try log.all().map(\.bytes) == [bytes(1), bytes(2)])
      }
    }

    @Test func `an append that waits too long for others fails, and appends nothing`() throws {
      try withServer { server in
        var configuration = server.configuration()
        configuration.requestTimeoutInMilliseconds = 2000
        let log = try PostgreSQLLog(configuration)
        defer { log.close() }
        try withLockedEnd(server) {
          let words = unavailable { _ = try log.append(bytes(1), named: "1", expecting: nil) }
          #expect(words?.contains("appending to log pando.log") == true, "\(words ?? "nothing")")
        }
        #expect(try log.append(bytes(1), named: "1", expecting: 0) == 1)
      }
    }

    /// The server has said before that the statement is done.
    @Test func `a commit that fails behind its statement acknowledges nothing`() throws {
      try withServer { server in
        let log = try server.makeLog()
        defer { log.close() }
        try server.run(
          "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            + "'BEGIN RAISE EXCEPTION ''too late''; END'",
          "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON pando.log_messages "
            + "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()")
        let words = unavailable { _ = try log.append(bytes(1), named: "1", expecting: nil) }
        #expect(words?.contains("too late") == true, "\(words ?? "nothing")")
        #expect(try log.end() == 0)
        try server.run("DROP TRIGGER late ON pando.log_messages")
        #expect(try log.append(bytes(1), named: "1", expecting: nil) == 1)
      }
    }

    @Test func `an append whose server is killed has no answer`() throws {
      try withServer { server in
        let log = try server.makeLog()
        defer { log.close() }
        let ended = Event()
        let fault = Locked<LogFault?>(nil)
        try withLockedEnd(server) {
          Thread.detachNewThread {
            do {
              _ = try log.append(bytes(1), named: "1", expecting: nil)
            } catch let error as LogFault {
              fault.withLock { $0 = error }
            } catch {}
            ended.signal()
          }
          try server.wait(
            for: 1, from: "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
          server.kill()
          ended.wait()
        }
        #expect(fault.withLock(\.self) == .noAnswer)
        try server.start()
        #expect(try log.append(bytes(1), named: "1", expecting: nil) == 1)
      }
    }

    @Test func `a follower is notified without a notice, and after a suspended server`()
      throws
    {
      try withServer { server in
        var configuration = server.configuration()
        configuration.requestTimeoutInMilliseconds = 1000
        let log = try PostgreSQLLog(configuration)
        defer { log.close() }
        let told = Monitor<UInt64>(0)
        log.follow { position in
          told.withLock { $0 = max($0, position) }
          told.notifyAll()
        }
        // As behind a pooler, which drops notices.
        try server.run("UPDATE pando.log_end SET last = 5")
        told.waiting { $0 == 5 ? () : nil }
        server.stop()
        #expect(unavailable { _ = try log.end() } != nil)
        server.go()
        try server.run("UPDATE pando.log_end SET last = 7")
        told.waiting { $0 == 7 ? () : nil }
      }
    }

    @Test func `appends remove messages beyond the limits of size and age`() throws {
      try withServer { server in
        var configuration = server.configuration()
        configuration.maximalByteCount = 3 << 20
        let log = try PostgreSQLLog(configuration)
        defer { log.close() }
        for number in 1...10 {
          let part = [UInt8](repeating: UInt8(number), count: EntryLimits.partByteCount)
          #expect(try log.append(part, named: "\(number)", expecting: nil) == UInt64(number))
        }
        // On a thread of the log.
        try server.wait(for: 5, from: "SELECT min(position) FROM pando.log_messages")
        #expect(throws: LogFault.gone(first: 5)) { try log.messages(after: 0, limit: 100) }
        #expect(try log.all(after: 4).map(\.position) == [5, 6, 7, 8, 9, 10])
        #expect(try log.retentionUsed(since: 4) == 1)
        #expect(try log.retentionUsed(since: 7) == 0.5)
        try server.run(
          "UPDATE pando.log_messages SET appended_at = now() - interval '8 days' "
            + "WHERE position <= 7")
        #expect(try log.retentionUsed(since: 6) > 1)
        try log.trim()
        #expect(throws: LogFault.gone(first: 8)) { try log.messages(after: 5, limit: 100) }
        // The newest one stays.
        try server.run("UPDATE pando.log_messages SET appended_at = now() - interval '8 days'")
        try log.trim()
        #expect(try log.messages(after: 9, limit: 100).map(\.position) == [10])
        // One in the middle.
        for number in 11...13 { _ = try log.append([1], named: "\(number)", expecting: nil) }
        try server.run("DELETE FROM pando.log_messages WHERE position = 12")
        #expect(try log.messages(after: 10, limit: 100).map(\.position) == [11])
        #expect(throws: LogFault.gone(first: 13)) { try log.messages(after: 11, limit: 100) }
      }
    }

    @Test func `a copy that is damaged is passed over, and old ones are removed`() throws {
      try withServer { server in
        let log = try server.makeLog()
        defer { log.close() }
        struct Stop: Error {}
        #expect(throws: Stop.self) { try log.putSnapshot(at: 1) { throw Stop() } }
        for number in 1...4 { try log.put([bytes("a\(number)"), bytes("b")], at: UInt64(number)) }
        #expect(try server.run("SELECT count(*) FROM pando.log_parts") == 4)
        #expect(try server.run("SELECT count(*) FROM pando.log_copies") == 3)
        // What was begun a day ago.
        try server.run(
          "UPDATE pando.log_copies SET begun_at = now() - interval '2 days' WHERE closed IS NULL")
        try log.put([bytes("a5"), bytes("b")], at: 5)
        #expect(try server.run("SELECT count(*) FROM pando.log_copies") == 2)
        let newest = "(SELECT copy FROM pando.log_parts ORDER BY copy DESC LIMIT 1)"
        try server.run("UPDATE pando.log_parts SET bytes = 'c' WHERE part = 1 AND copy = \(newest)")
        #expect(try log.newestCopy()?.bytes == bytes("a4b"))
        try server.run("DELETE FROM pando.log_parts WHERE part = 1 AND copy = \(newest)")
        #expect(try log.newestCopy()?.bytes == bytes("a4b"))
        #expect(try log.newestCopy()?.position == 4)
        try server.run("DELETE FROM pando.log_parts")
        #expect(try log.newestCopy() == nil)
      }
    }
  }
#endif
