import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Machines tell each other of their histories where nobody writes.
@Suite struct MarkTests {
  private var configuration: ReplicaConfiguration {
    var configuration = ReplicaConfiguration.forTests
    configuration.quietLookCount = 2
    return configuration
  }

  /// What the threads of all stores do when it is time.
  private func look(_ replicas: [ReplicaFixture]) throws {
    for replica in replicas {
      try replica.replica.takeIn(upTo: try replica.replica.look())
      try replica.replica.markIfQuiet()
    }
  }

  @Test func `the last writes get one mark, and then no more messages follow`() throws {
    let log = MemoryLog()
    try withReplicas(3, on: log, configuration) { replicas in
      // There is nothing yet in which they could differ.
      for _ in 0..<5 { try look(replicas) }
      #expect(log.messages.count == 1)
      for round in 1...3 {
        for id in ["a", "b"] {
          try replicas[0].store.write { try $0.set(Leaf(id: id, text: "\(round)")) }
        }
        let commits = try replicas.map { try $0.store.read { try $0.commitNumber } }
        for _ in 0..<2 { try look(replicas) }
        #expect(log.messages.count == round * 3)
        for _ in 0..<5 { try look(replicas) }
        #expect(log.messages.count == 1 + round * 3)
        #expect(try replicas[0].store.read { try $0.commitNumber } == commits[0])
      }
      // One of several writes is followed by another one: nobody needs more.
      #expect(try replicas[2].dump() == replicas[0].dump())
      for replica in replicas { #expect(replica.replica.statistics.foreign == 0) }
    }
  }

  @Test func `stores that differ are detected though no machine writes`() throws {
    let log = MemoryLog()
    try withReplicas(3, on: log, configuration) { replicas in
      for id in ["1", "2"] { try replicas[0].store.write { try $0.set(Leaf(id: id)) } }
      log.append([7])
      for replica in replicas.prefix(2) { try replica.replica.catchUp() }
      log.state.withLock { $0.messages[2] = [1, 2, 3] }
      try replicas[2].replica.catchUp()
      var codes: [StoreError.Code?] = []
      for _ in 0..<5 {
        for replica in replicas { try? look([replica]) }
        codes = replicas.map { $0.replica.halt?.code }
      }
      #expect(codes == [.forked, .forked, nil])
    }
  }

  @Test func `a store that is opened tells its history once`() throws {
    let log = MemoryLog()
    try withTemporaryDirectory { path in
      for count in 2...4 {
        let fixture = try ReplicaFixture("\(path)/1", MemoryConnection(log), configuration)
        defer { fixture.store.close() }
        if count == 2 { try fixture.store.write { try $0.set(Leaf(id: "1")) } }
        for _ in 0..<5 { try look([fixture]) }
        #expect(log.messages.count == count + 1)
      }
    }
  }

  /// Fixed: the message that it could not append was tried again before each flush, and nothing was taken in any more.
  @Test func `a store without the right to append applies writes of others`() throws {
    let log = MemoryLog()
    try withReplicas(
      2, on: log, configuration,
      onCall: { index, call, _ in
        if index == 1, call == .append { throw LogFault.unavailable("no right to append") }
      }
    ) { replicas in
      for id in ["1", "2"] {
        try replicas[0].store.write { try $0.set(Leaf(id: id)) }
        let error = #expect(throws: StoreError.self) { try replicas[1].replica.passBarrier() }
        #expect(error?.code == .unavailable, "\(error as Any)")
        #expect(error?.reason.contains("no right to append") == true, "\(error as Any)")
        try replicas[1].replica.takeIn(upTo: UInt64(log.messages.count))
        #expect(try replicas[1].store.read { try $0.contains("Leaf:\(id)") })
      }
      #expect(try replicas[1].dump() == replicas[0].dump())
    }
  }
}
