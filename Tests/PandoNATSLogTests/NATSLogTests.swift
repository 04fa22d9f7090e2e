#if NATS
  import Foundation
  import Glibc
  import PandoFixtures
  import PandoReplication
  import PandoSystem
  import Testing

  @testable import PandoNATSLog

  /// What every log promises, over a server of its own.
  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"))
  struct NATSLogTests {
    @Test(arguments: [false, true])
    func `messages are there once, in order, and after a restart`(isEncrypted: Bool) throws {
      try withTemporaryDirectory { folder in
        let certificates = isEncrypted ? try TestCertificates(in: folder) : nil
        try withServers(
          settings: certificates?.settings ?? "", scheme: isEncrypted ? "tls" : "nats"
        ) { servers in
          var configuration = servers.configuration()
          configuration.tls = certificates?.tls
          try checkConformance(servers, configuration)
        }
      }
    }

    private func checkConformance(
      _ servers: TestServers, _ configuration: NATSLogConfiguration
    ) throws {
      let log = try NATSLog(configuration)
      let other = try NATSLog(configuration)
      #expect(try log.end() == 0)
      #expect(try log.messages(after: 0, limit: 1) == [])
      #expect(try log.messages(after: 0, limit: 10) == [])
      #expect(try log.append(bytes(1), named: "1", expecting: 0) == 1)
      #expect(throws: LogFault.endsElsewhere) {
        try other.append(bytes("no"), named: "no", expecting: 0)
      }
      #expect(try other.append(bytes(2), named: "2", expecting: 1) == 2)
      #expect(throws: LogFault.endsElsewhere) {
        try log.append(bytes("no"), named: "no", expecting: 1)
      }
      // By name the first one counts.
      #expect(try other.append(bytes("again"), named: "1", expecting: nil) == 1)
      for number in 3...20 {
        let target = number % 2 == 0 ? log : other
        #expect(
          try target.append(bytes(number), named: "\(number)", expecting: nil) == UInt64(number))
      }
      let expected = (1...20).map { LoggedMessage(position: UInt64($0), bytes: bytes($0)) }
      #expect(try log.end() == 20)
      #expect(try log.all() == expected)
      #expect(try other.all(limit: 3) == expected)
      #expect(try log.messages(after: 7, limit: 2).count <= 2)
      #expect(try log.all(after: 7) == Array(expected[7...]))
      #expect(try log.messages(after: 0, limit: 1) == [expected[0]])
      #expect(try log.messages(after: 20, limit: 5) == [])
      let large = [UInt8](repeating: 7, count: EntryLimits.partByteCount)
      #expect(try log.append(large, named: "large", expecting: 20) == 21)
      #expect(try other.messages(after: 20, limit: 5).map(\.bytes) == [large])
      #expect(try log.append([], named: "empty", expecting: 21) == 22)
      #expect(try other.messages(after: 21, limit: 5) == [LoggedMessage(position: 22, bytes: [])])

      servers.kill(0)
      try servers.start(0)
      let third = try NATSLog(configuration)
      #expect(try third.all().prefix(20) == expected[...])
      #expect(try log.append(bytes("on"), named: "on", expecting: nil) == 23)
      #expect(try other.messages(after: 22, limit: 5).map(\.bytes) == [bytes("on")])
      for log in [log, other, third] { log.close() }
      #expect(unavailable { _ = try log.end() } != nil)
      #expect(unavailable { _ = try log.messages(after: 0, limit: 1) } != nil)
      #expect(unavailable { _ = try log.append([], named: "x", expecting: nil) } != nil)
      #expect(unavailable { try log.putSnapshot(at: 1) { nil } } != nil)
      log.close()
    }

    @Test func `who follows is told of what others append, also after a restart`() throws {
      try withServers { servers in
        let (log, other) = (
          try NATSLog(servers.configuration()), try NATSLog(servers.configuration())
        )
        defer { for log in [log, other] { log.close() } }
        _ = try log.append(bytes(1), named: "1", expecting: nil)
        let told = Monitor<UInt64>(0)
        log.follow { position in
          told.withLock { $0 = max($0, position) }
          told.notifyAll()
        }
        _ = try other.append(bytes(2), named: "2", expecting: nil)
        told.waiting { $0 >= 2 ? () : nil }
        #expect(try log.all().count == 2)
        servers.kill(0)
        try servers.start(0)
        _ = try other.appendSurely(bytes(3), named: "3")
        told.waiting { $0 >= 3 ? () : nil }
        // Its own, which are not read: the queue does not fill, and it goes on to be told.
        for number in 4...20_000 where number % 4 == 0 {
          _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
        }
        let end = try other.append(bytes("last"), named: "last", expecting: nil)
        told.waiting { $0 >= end ? () : nil }
        #expect(try log.messages(after: end - 1, limit: 10).map(\.bytes) == [bytes("last")])
      }
    }

    /// It moves while messages come, again and again: the reader of libnats once waited for ever for the lock of
    /// a subscription that had been destroyed.
    @Test func `a backlog comes whole, whatever limits and places are asked for`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        let other = try NATSLog(servers.configuration())
        defer { for log in [log, other] { log.close() } }
        // More than is queued: the engine has to wait.
        let part = [UInt8](repeating: 1, count: 20_000)
        let count = 3000
        for number in 0..<count {
          _ = try log.append(part + bytes(number), named: "\(number)", expecting: nil)
        }
        let all = try other.all(limit: 7)
        #expect(all.map(\.position) == (1...UInt64(count)).map { $0 })
        var random = SeededGenerator(seed: 1)
        for _ in 0..<30 {
          let position = UInt64.random(in: 0...UInt64(count), using: &random)
          let messages = try other.messages(after: position, limit: 100)
          #expect(messages.isEmpty == (position == UInt64(count)))
          #expect(messages == Array(all[Int(position)...].prefix(messages.count)))
        }
      }
    }

    @Test func `several threads get what they ask for, each`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        defer { log.close() }
        for number in 1...200 {
          _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
        }
        try onThreads(6) { thread in
          var random = SeededGenerator(seed: UInt64(thread))
          for step in 0..<60 {
            switch thread % 3 {
            case 0:
              let position = UInt64.random(in: 0..<200, using: &random)
              let messages = try log.messages(after: position, limit: 5)
              try #require(messages.first?.position == position + 1)
            case 1: _ = try log.append(bytes(step), named: "\(thread) \(step)", expecting: nil)
            default: try #require(try log.end() >= 200)
            }
          }
        }
        #expect(try log.end() == 320)
        #expect(try log.all().count == 320)
      }
    }

    @Test func `who reads what another thread appends at the same time gets all of it`() throws {
      try withServers { servers in
        let log = try NATSLog(servers.configuration())
        defer { log.close() }
        let count = 2000
        try onThreads(3) { thread in
          if thread == 0 {
            for number in 1...count {
              _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
            }
            return
          }
          var last: UInt64 = 0
          while last < UInt64(count) {
            let messages = try log.messages(after: last, limit: 100)
            for message in messages {
              try #require(message.position == last + 1)
              try #require(message.bytes == bytes(message.position))
              last = message.position
            }
          }
        }
      }
    }

    @Test func `to close lets go who waits`() throws {
      try withServers { servers in
        for call in 0..<4 {
          let log = try NATSLog(servers.configuration())
          _ = try log.append(bytes(1), named: "\(call)", expecting: nil)
          if call == 3 { log.follow { _ in } }
          servers.stop(0)
          let begun = Event()
          let ended = Event()
          Thread.detachNewThread {
            begun.signal()
            do {
              switch call {
              case 0: _ = try log.append(bytes(2), named: "waits", expecting: nil)
              case 1: _ = try log.end()
              case 2: _ = try log.messages(after: 100, limit: 10)
              default: try log.putSnapshot(at: 1) { [1] }
              }
              Issue.record("call \(call) has an answer of a server that stands still")
            } catch {}
            ended.signal()
          }
          begun.wait()
          log.close()
          ended.wait()
          servers.go(0)
        }
      }
    }
  }
#endif
