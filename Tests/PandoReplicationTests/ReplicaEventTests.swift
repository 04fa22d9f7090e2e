import PandoFixtures
import PandoMetrics
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// What a service is told of its replica, for its log.
@Suite struct ReplicaEventTests {
  private struct Machine {
    let store: ReplicatedStore
    let events: Monitor<[String]>

    init(_ path: String, _ log: any ReplicationLog) throws {
      let events = Monitor<[String]>([])
      var configuration = ModelStore.Configuration.forTests
      configuration.events = { event in
        let line: String? =
          switch event {
          case .replicaStopped(let error): "stopped \(error.code.rawValue)"
          case .replicaReplaced(let position): "replaced \(position)"
          case .replicaDisconnected(let error): "disconnected \(error.code.rawValue)"
          case .replicaReconnected: "reconnected"
          default: nil
          }
        guard let line else { return }
        // What a service logs says the same.
        #expect(event.name.hasPrefix("replica_") && event.logLine.hasPrefix("the replica "))
        events.withLock { $0.append(line) }
        events.notifyAll()
      }
      self.events = events
      store = try ReplicatedStore(path: path, log: log, configuration: configuration)
    }

    func wait(for lines: [String]) { events.waiting { $0 == lines ? () : nil } }
  }

  @Test func `a replica reports that it can't reach its log, and that it can again`() async throws {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let isAway = Locked(false)
      let connection = MemoryConnection(log) { call, _ in
        if call != .end, isAway.withLock(\.self) { throw LogFault.unavailable("out of reach") }
      }
      let first = try ReplicaFixture("\(path)/a", MemoryConnection(log))
      let second = try Machine("\(path)/b", connection)
      try await second.store.caughtUp()
      isAway.withLock { $0 = true }
      try await first.store.write { try $0.set(Leaf(id: "1")) }
      await blocking { second.wait(for: ["disconnected unavailable"]) }
      isAway.withLock { $0 = false }
      await blocking { second.wait(for: ["disconnected unavailable", "reconnected"]) }
      await second.store.close()
      await first.store.close()
    }
  }

  @Test func `a replica reports that it has stopped, and that a copy took its place`() async throws
  {
    let log = MemoryLog()
    try await withTemporaryDirectory { path in
      let first = try ReplicaFixture("\(path)/a", MemoryConnection(log))
      let second = try Machine("\(path)/b", MemoryConnection(log))
      try await second.store.caughtUp()
      await second.store.close()
      for id in 0..<6 { try await first.store.write { try $0.set(Leaf(id: "\(id)")) } }
      let position = try await ReplicatedStore.putSnapshot(
        path: first.store.path, log: MemoryConnection(log))
      log.forget(first: 6)
      let third = try Machine("\(path)/b", MemoryConnection(log))
      await blocking { third.wait(for: ["replaced \(position)"]) }
      try await third.store.caughtUp()
      log.truncate(to: 3)
      let error = await #expect(throws: StoreError.self) { try await third.store.caughtUp() }
      #expect(error?.code == .logLost)
      await blocking { third.wait(for: ["replaced \(position)", "stopped logLost"]) }
      await third.store.close()
      await first.store.close()
    }
  }
}
