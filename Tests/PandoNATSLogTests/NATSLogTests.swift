#if NATS
  import PandoFixtures
  import PandoLogFixtures
  import Testing

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
          if let certificates { servers.tls = certificates.tls }
          try LogChecks(servers).checkOrder()
        }
      }
    }

    @Test func `a follower is notified of other machines' messages, also after a restart`() throws {
      try withServers { try LogChecks($0).checkFollowing(count: 5000) }
    }

    /// It moves while messages come, again and again: the reader of libnats once waited for ever for the lock of
    /// a subscription that had been destroyed.
    @Test func `a backlog comes whole, whatever limits and places are asked for`() throws {
      try withServers { try LogChecks($0).checkBacklog(count: 3000) }
    }

    @Test func `each of several threads gets the requested messages`() throws {
      try withServers { try LogChecks($0).checkThreads() }
    }

    @Test func `a reader gets all messages that another thread appends meanwhile`() throws {
      try withServers { try LogChecks($0).checkReadingAlong(count: 2000) }
    }

    @Test func `closing ends waiting calls`() throws {
      try withServers { try LogChecks($0).checkClosing() }
    }

    @Test func `messages that are not kept any more are gone`() throws {
      try withServers { try LogChecks($0).checkForgetting() }
    }

    @Test func `the newest copy is read, and one that was not ended is none`() throws {
      try withServers { try LogChecks($0).checkCopies() }
    }

    @Test func `copies are put and read while messages come`() throws {
      try withServers { try LogChecks($0).checkCopiesAlong() }
    }
  }
#endif
