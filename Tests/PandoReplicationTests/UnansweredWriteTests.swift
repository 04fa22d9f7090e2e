import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Writes whose answer was lost, and what is told of them later by their names.
@Suite struct UnansweredWriteTests {
  /// A replica whose messages come later, as long as it is said so.
  private func withDelays(
    _ body: (String, MemoryLog, Locked<Bool>, ReplicaFixture) throws -> Void
  ) throws {
    let log = MemoryLog()
    try withTemporaryDirectory { path in
      let delays = Locked(false)
      let connection = MemoryConnection(log) { call, moment in
        if call == .append, moment == .before, delays.withLock(\.self) {
          throw MemoryConnection.Delay()
        }
      }
      let fixture = try ReplicaFixture("\(path)/1", connection)
      defer { fixture.store.close() }
      try body(path, log, delays, fixture)
    }
  }

  /// Writes without an answer, and gives the name of the write.
  private func lose(_ fixture: ReplicaFixture, _ delays: Locked<Bool>, _ leaf: Leaf) throws
    -> String
  {
    delays.withLock { $0 = true }
    defer { delays.withLock { $0 = false } }
    let error = #expect(throws: StoreError.self) { try fixture.store.write { try $0.set(leaf) } }
    #expect(error?.code == .unavailable)
    let name = try #require(error?.writeName)
    #expect(error?.description.contains(name) == true)
    return name
  }

  @Test func `a write that came without an answer is found by its name, also after a restart`()
    throws
  {
    try withDelays { path, log, delays, fixture in
      try fixture.store.write { try $0.set(Leaf(id: "1")) }
      let name = try lose(fixture, delays, Leaf(id: "2"))
      #expect(try fixture.replica.outcome(ofWrite: name) == .pending)
      fixture.store.close()
      let again = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      #expect(try again.replica.outcome(ofWrite: name) == .pending)
      log.deliverDelayed()
      try again.replica.catchUp()
      #expect(try again.replica.outcome(ofWrite: name) == .stored(position: 3))
      #expect(try again.store.read { try $0.get("Leaf:2", as: Leaf.self) } != nil)
      again.store.close()
      let third = try ReplicaFixture("\(path)/1", MemoryConnection(log))
      #expect(try third.replica.outcome(ofWrite: name) == .stored(position: 3))
      third.store.close()
    }
  }

  @Test func `the outcome of a write after one that it had not seen is refused`() throws {
    try withDelays { path, log, delays, fixture in
      try fixture.store.write { try $0.set(Leaf(id: "1")) }
      let other = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { other.store.close() }
      try other.replica.catchUp()
      let name = try lose(fixture, delays, Leaf(id: "1", text: "lost"))
      try other.store.write { try $0.set(Leaf(id: "1", text: "other")) }
      log.deliverDelayed()
      try fixture.replica.catchUp()
      #expect(try fixture.replica.outcome(ofWrite: name) == .refused)
      #expect(try fixture.store.read { try $0.get("Leaf:1", as: Leaf.self) }?.text == "other")
      #expect(try other.replica.outcome(ofWrite: name) == nil)
    }
  }

  @Test func `the outcome of an overtaken write is absent, and stays absent`() throws {
    try withDelays { path, log, delays, fixture in
      let name = try lose(fixture, delays, Leaf(id: "1"))
      try fixture.store.write { try $0.set(Leaf(id: "2")) }
      #expect(try fixture.replica.outcome(ofWrite: name) == .absent)
      log.deliverDelayed()
      try fixture.replica.catchUp()
      #expect(try fixture.replica.outcome(ofWrite: name) == .absent)
      #expect(try fixture.store.read { try $0.get("Leaf:1", as: Leaf.self) } == nil)
      #expect(fixture.replica.statistics.duplicates == 1)
    }
  }

  @Test func `writes that share an entry have a name each`() throws {
    try withDelays { path, log, delays, fixture in
      delays.withLock { $0 = true }
      let names = Locked<[Int: String]>([:])
      // They come while the first one is sent, and share the entry behind it.
      try onThreads(9) { thread in
        do {
          try fixture.store.write { try $0.set(Leaf(id: "\(thread)")) }
        } catch let error as StoreError {
          names.withLock { $0[thread] = error.writeName }
        }
      }
      delays.withLock { $0 = false }
      let found = names.withLock(\.self)
      #expect(found.count == 9 && Set(found.values).count == 9)
      log.deliverDelayed()
      try fixture.replica.catchUp()
      for (thread, name) in found {
        let leaf = try fixture.store.read { try $0.get("Leaf:\(thread)", as: Leaf.self) }
        let outcome = try #require(try fixture.replica.outcome(ofWrite: name))
        if case .stored = outcome {
          #expect(leaf != nil)
        } else {
          #expect(outcome == .absent && leaf == nil)
        }
      }
    }
  }

  @Test func `the outcome of a write that arrived in a copy is unknown`() throws {
    try withDelays { path, log, delays, fixture in
      let other = try ReplicaFixture("\(path)/2", MemoryConnection(log))
      defer { other.store.close() }
      let name = try lose(fixture, delays, Leaf(id: "1"))
      log.deliverDelayed()
      try other.store.write { try $0.set(Leaf(id: "2")) }
      try blockingPut(other, log)
      log.forget(first: log.messages.count - 1)
      try other.store.write { try $0.set(Leaf(id: "3")) }
      try fixture.replica.catchUp()
      #expect(fixture.replica.statistics.replaced == 1)
      #expect(try fixture.replica.outcome(ofWrite: name) == .unknown)
    }
  }

  private func blockingPut(_ fixture: ReplicaFixture, _ log: MemoryLog) throws {
    let (path, isDone) = (fixture.store.path, Event())
    Task.detached {
      _ = try? await ReplicatedStore.putSnapshot(path: path, log: MemoryConnection(log))
      isDone.signal()
    }
    isDone.wait()
  }

  @Test func `a write that was not sent has no name, and other names are of no write`() throws {
    let log = MemoryLog()
    try withTemporaryDirectory { path in
      let isAway = Locked(false)
      let connection = MemoryConnection(log) { _, _ in
        if isAway.withLock(\.self) { throw LogFault.unavailable("out of reach") }
      }
      let fixture = try ReplicaFixture("\(path)/1", connection)
      defer { fixture.store.close() }
      isAway.withLock { $0 = true }
      let error = #expect(throws: StoreError.self) {
        try fixture.store.write { try $0.set(Leaf(id: "1")) }
      }
      #expect(error?.code == .unavailable && error?.writeName == nil)
      let digits = String(repeating: "0", count: 32)
      for name in [
        "", ".", "-", "x-1.0", "\(digits)-1.0", "\(digits)-.0", "\(digits)-1.", "\(digits)-1",
      ] {
        #expect(try fixture.replica.outcome(ofWrite: name) == nil)
      }
    }
  }
}
