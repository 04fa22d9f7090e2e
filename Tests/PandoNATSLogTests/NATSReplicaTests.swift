#if NATS
  import PandoFixtures
  import PandoLogFixtures
  import Testing

  /// Stores that follow a log over NATS.
  @Suite(.enabled(if: TestServers.isThere, "nats-server is not installed"))
  struct NATSReplicaTests {
    private func withReplicas(_ body: (ReplicaChecks) throws -> Void) throws {
      try withTemporaryDirectory { path in
        try withServers { try body(ReplicaChecks($0, path: path)) }
      }
    }

    private func withReplicasAsync(_ body: (ReplicaChecks) async throws -> Void) async throws {
      try await withTemporaryDirectory { path in
        let servers = try TestServers(1, in: "\(path)/servers")
        defer { servers.end() }
        try await body(ReplicaChecks(servers, path: path))
      }
    }

    @Test func `two stores that write to one log end equal`() throws {
      try withReplicas { try $0.checkTwoWriters() }
    }

    @Test func `stores show writes of others, after a restart of the server too`()
      async throws
    {
      try await withReplicasAsync { try await $0.checkShowing() }
    }

    @Test func `a store stops if the log no longer has its next messages`() throws {
      try withReplicas { try $0.checkStopping() }
    }

    @Test func `a store does not follow the log of others`() throws {
      try withReplicas { try $0.checkOtherLog() }
    }

    @Test func `a store opens while its server is away, follows when it comes, and closes at once`()
      async throws
    {
      try await withReplicasAsync { try await $0.checkAway() }
    }

    @Test(arguments: [true, false])
    func `a machine with messages that the log lost says so, and the others continue`(
      isOpen: Bool
    ) async throws {
      try await withReplicasAsync { try await $0.checkFork(isOpen: isOpen) }
    }

    @Test func `machines join, come back and go on by a copy in the engine`() async throws {
      try await withReplicasAsync { try await $0.checkJoining() }
    }
  }
#endif
