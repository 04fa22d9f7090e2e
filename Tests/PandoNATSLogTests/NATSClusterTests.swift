#if NATS
  import Glibc
  import PandoFixtures
  import PandoLogFixtures
  import PandoReplication
  import PandoSystem
  import Testing

  @testable import PandoNATSLog

  /// Three servers of which some end, or stand still.
  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"), .serialized)
  struct NATSClusterTests {
    /// Who keeps a stream's order at present.
    private func leader(_ log: NATSLog, _ servers: TestServers) throws -> Int {
      while true {
        let answer = try log.ask("STREAM.INFO.log")
        for index in servers.members.indices where answer.contains("\"leader\":\"s\(index)\"") {
          return index
        }
      }
    }

    /// Whether all that was acknowledged is there once, where it was said to be.
    private func check(_ log: NATSLog, _ acknowledged: [UInt64: String]) throws {
      let all = try log.all()
      #expect(all.map(\.position) == (0..<all.count).map { UInt64($0 + 1) })
      let texts = all.map { String(decoding: $0.bytes, as: UTF8.self) }
      #expect(Set(texts).count == texts.count, "something is there twice")
      for (position, text) in acknowledged {
        try #require(texts.count >= position, "\(text) at \(position) is lost")
        try #require(texts[Int(position) - 1] == text)
      }
    }

    @Test func `acknowledged messages survive losing the leader, a follower, all servers`()
      throws
    {
      try withServers(3) { servers in
        var configuration = servers.configuration()
        configuration.requestTimeoutInMilliseconds = 5000
        configuration.replicas = 3
        // Until the cluster has found itself.
        var made: NATSLog?
        while made == nil { made = try? NATSLog(configuration) }
        let log = try #require(made)
        defer { log.close() }
        var acknowledged: [UInt64: String] = [:]
        func append(_ count: Int) throws {
          for _ in 0..<count {
            let text = "\(acknowledged.count)"
            acknowledged[try log.appendSurely(bytes(text), named: text)] = text
          }
        }
        try append(50)
        let first = try leader(log, servers)
        servers.kill(first)
        try append(50)
        try servers.start(first)
        try append(20)
        let second = try leader(log, servers)
        let follower = (second + 1) % 3
        servers.kill(follower)
        try append(50)
        try servers.start(follower)
        try append(20)
        for index in 0..<3 { servers.kill(index) }
        for index in 0..<3 { try servers.start(index) }
        try append(50)
        #expect(acknowledged.count == 240)
        // One that waits longer than a cluster takes that begins anew.
        let other = try NATSLog(servers.configuration())
        defer { other.close() }
        try check(other, acknowledged)
      }
    }

    @Test func `a server that stands still is left, and nothing is lost`() throws {
      try withServers(3) { servers in
        var configuration = servers.configuration()
        configuration.requestTimeoutInMilliseconds = 3000
        var made: NATSLog?
        while made == nil { made = try? NATSLog(configuration) }
        let log = try #require(made)
        defer { log.close() }
        let told = Monitor<UInt64>(0)
        log.follow { position in
          told.withLock { $0 = max($0, position) }
          told.notifyAll()
        }
        var acknowledged: [UInt64: String] = [:]
        for round in 0..<2 {
          let still = try leader(log, servers)
          servers.stop(still)
          for number in 0..<20 {
            let text = "\(round) \(number)"
            acknowledged[try log.appendSurely(bytes(text), named: text)] = text
          }
          servers.go(still)
        }
        let other = try NATSLog(servers.configuration())
        defer { other.close() }
        try check(other, acknowledged)
        let end = try #require(acknowledged.keys.max())
        told.waiting { $0 >= end ? () : nil }
      }
    }

    @Test func `servers that end in the middle of 10 000 appends lose none of them`() throws {
      try withServers(3) { servers in
        var configuration = servers.configuration()
        configuration.requestTimeoutInMilliseconds = 2000
        var made: NATSLog?
        while made == nil { made = try? NATSLog(configuration) }
        made?.close()
        // All are there before the first server ends: one that opens needs servers that answer.
        let logs = try (0..<4).map { _ in try NATSLog(configuration) }
        defer { for log in logs { log.close() } }
        let progress = Monitor((acknowledged: [UInt64: String](), hasFailed: false))
        try onThreads(5) { thread in
          guard thread < 4 else {
            // Ends one after the other, whenever some more have been acknowledged.
            for step in 1...6 {
              let goesOn = progress.waiting {
                $0.hasFailed ? false : $0.acknowledged.count >= step * 1500 ? true : nil
              }
              guard goesOn else { return }
              if step == 4 {
                for index in 0..<3 { servers.kill(index) }
                for index in 0..<3 { try servers.start(index) }
              } else {
                servers.kill(step % 3)
                try servers.start(step % 3)
              }
            }
            return
          }
          do {
            for number in 0..<2500 {
              let text = "\(thread) \(number)"
              let position = try logs[thread].appendSurely(bytes(text), named: text)
              progress.withLock { $0.acknowledged[position] = text }
              progress.notifyAll()
            }
          } catch {
            progress.withLock { $0.hasFailed = true }
            progress.notifyAll()
            throw error
          }
        }
        let log = try NATSLog(servers.configuration())
        defer { log.close() }
        let all = progress.withLock(\.acknowledged)
        #expect(all.count == 10_000)
        try check(log, all)
      }
    }
  }
#endif
