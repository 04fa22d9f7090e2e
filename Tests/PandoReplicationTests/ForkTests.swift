import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// A log that has lost something, and went on without it: stores that have it are told, and none is silently different.
@Suite struct ForkTests {
  /// Two machines, of which the first has a write that the log has lost, and the second has written since.
  private func withFork(
    _ body: (MemoryLog, [ReplicaFixture], _ path: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { path in
      let log = MemoryLog()
      let replicas = try (0..<2).map {
        try ReplicaFixture("\(path)/\($0)", MemoryConnection(log))
      }
      defer { for replica in replicas { replica.store.close() } }
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      try replicas[0].store.write { try $0.set(Leaf(id: "lost")) }
      try replicas[0].replica.look()
      log.truncate(to: 2)
      try replicas[1].store.write { try $0.set(Leaf(id: "2")) }
      try body(log, replicas, path)
    }
  }

  private func expectForked(
    _ log: MemoryLog, at position: Int, end: Int,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let messages = log.messages
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == .forked, "\(error as Any)", sourceLocation: sourceLocation)
    for words in ["applied \(position)", "ends at position \(end)", "--republish", "--replace"] {
      #expect(
        error?.reason.contains(words) == true, "\(error as Any)", sourceLocation: sourceLocation)
    }
    #expect(log.messages == messages, sourceLocation: sourceLocation)
  }

  @Test func `an opening fails if the log has lost the store's last message`()
    throws
  {
    try withFork { log, replicas, path in
      let lines = try replicas[0].dump()
      replicas[0].store.close()
      expectForked(log, at: 3, end: 3) {
        try ReplicaFixture("\(path)/0", MemoryConnection(log)).store.close()
      }
      let store = try ModelStore(path: "\(path)/0", configuration: .forTests)
      #expect(try store.dumpLines() == lines)
      store.close()
      // The other one goes on.
      try replicas[1].store.write { try $0.set(Leaf(id: "3")) }
      #expect(replicas[1].replica.statistics.foreign == 0)
    }
  }

  @Test func `an open store detects the fork at its next look, and keeps its data`() throws {
    try withFork { log, replicas, _ in
      let lines = try replicas[0].dump()
      for _ in 0..<2 { expectForked(log, at: 3, end: 3) { try replicas[0].replica.look() } }
      expectForked(log, at: 3, end: 3) { try replicas[0].replica.catchUp() }
      expectForked(log, at: 3, end: 3) {
        try replicas[0].store.write { try $0.set(Leaf(id: "refused")) }
      }
      #expect(try replicas[0].dump() == lines)
    }
  }

  @Test func `a store looks before it writes behind an interruption`() throws {
    try withFork { log, replicas, _ in
      log.interrupt()
      expectForked(log, at: 3, end: 3) {
        try replicas[0].store.write { try $0.set(Leaf(id: "refused")) }
      }
    }
  }

  /// What it has written behind that is the log's again, and says nothing of what lies before.
  @Test(arguments: [true, false])
  func `a store that has written after a lost message detects the fork`(isOpenedAgain: Bool) throws
  {
    try withFork { log, replicas, path in
      for id in ["3", "4"] { try replicas[0].store.write { try $0.set(Leaf(id: id)) } }
      #expect(try replicas[0].store.position() == 5)
      func look() throws {
        if !isOpenedAgain { return _ = try replicas[0].replica.look() }
        replicas[0].store.close()
        try ReplicaFixture("\(path)/0", MemoryConnection(log)).store.close()
      }
      let error = #expect(throws: StoreError.self) { try look() }
      #expect(error?.code == .forked)
      #expect(error?.reason.contains("at position 3 ") == true, "\(error as Any)")
      #expect(error?.reason.contains("applied 5") == true, "\(error as Any)")
      try replicas[1].replica.catchUp()
      #expect(replicas[1].replica.statistics.foreign == 2)
    }
  }

  @Test func `a store whose log was away and has lost nothing writes as before`() throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      for id in 0..<3 {
        for replica in replicas {
          try replica.store.write { try $0.set(Leaf(id: "\(id)", text: "\(replica.store.path)")) }
          log.interrupt()
        }
      }
      for replica in replicas { try replica.replica.catchUp() }
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(log.messages.count == 7)
    }
  }

  /// The log went on until it was long enough, before the store has heard of it.
  @Test func `a store stops at a message made without its own, and no other store does`()
    throws
  {
    try withFork { log, replicas, _ in
      for id in ["3", "4"] { try replicas[1].store.write { try $0.set(Leaf(id: id)) } }
      replicas[0].replica.noteEnd(5)
      expectForked(log, at: 3, end: 5) {
        try replicas[0].store.write { try $0.set(Leaf(id: "refused")) }
      }
      #expect(try replicas[0].store.read { try $0.get("Leaf:4", as: Leaf.self) } == nil)
      try replicas[1].store.write { try $0.set(Leaf(id: "5")) }
    }
  }

  /// What a program writes that does not look.
  @Test(arguments: [0, 1, 5])
  func `an entry of another history is ignored and counted by all, and stops none`(
    distance: Int
  ) throws {
    let log = MemoryLog()
    try withTemporaryDirectory { path in
      var replicas = try (0..<2).map {
        try ReplicaFixture("\(path)/\($0)", MemoryConnection(log))
      }
      defer { for replica in replicas { replica.store.close() } }
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      var write = WriteEffects()
      write.isCommit = true
      var entry = try replicas[1].store.entry([write])
      entry.chain.first ^= 1
      for id in 0..<distance { try replicas[0].store.write { try $0.set(Leaf(id: "new \(id)")) } }
      log.append(LogMessage.entry(entry).bytes)
      // One takes all in at once, and one was opened in between: it knows what it had.
      replicas[0].store.close()
      replicas[0] = try ReplicaFixture("\(path)/0", MemoryConnection(log))
      for replica in replicas {
        try replica.replica.catchUp()
        #expect(replica.replica.statistics.foreign == 1)
        #expect(try replica.store.position() == UInt64(3 + distance))
      }
      for replica in replicas {
        try replica.store.write { try $0.set(Tally(id: 1, marks: [1])) }
      }
      for replica in replicas { try replica.replica.catchUp() }
      #expect(try replicas[0].dump() == replicas[1].dump())
    }
  }

  /// It says of the right history that it was made from commits that are not there, or not any more.
  @Test(arguments: [true, false])
  func `an entry whose commit does not fit its position is ignored, and stops none`(
    isTooHigh: Bool
  ) throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      var write = WriteEffects()
      write.isCommit = true
      // More than the change log keeps.
      for counter in UInt64(1)...3 {
        let entry = try replicas[0].store.entry(
          Array(repeating: write, count: 5_000), counter: counter)
        log.append(LogMessage.entry(entry).bytes)
        for replica in replicas { try replica.replica.catchUp() }
      }
      var entry = try replicas[0].store.entry([write], counter: 4)
      entry.baseCommit = isTooHigh ? entry.baseCommit + 1 : 0
      log.append(LogMessage.entry(entry).bytes)
      let commits = try replicas[0].store.read { try $0.commitNumber }
      for replica in replicas {
        try replica.replica.catchUp()
        #expect(try replica.store.position() == UInt64(log.messages.count))
        #expect(try replica.store.read { try $0.commitNumber } == commits)
        #expect(replica.replica.statistics.malformed == (isTooHigh ? 1 : 0))
        #expect(replica.replica.statistics.refused == (isTooHigh ? 0 : 1))
      }
      for replica in replicas {
        try replica.store.write { try $0.set(Leaf(id: "1", text: replica.store.path)) }
      }
    }
  }

  /// Two servers have shown two messages at one position, and both stores have come past it.
  @Test func `the next entry shows that a store applied another message long ago`() throws {
    let log = MemoryLog()
    try withReplicas(3, on: log) { replicas in
      for id in ["1", "2"] { try replicas[0].store.write { try $0.set(Leaf(id: id)) } }
      log.append([7])
      for replica in replicas.prefix(2) { try replica.replica.catchUp() }
      log.state.withLock { $0.messages[2] = [1, 2, 3] }
      try replicas[2].replica.catchUp()
      try replicas[2].store.write { try $0.set(Leaf(id: "3")) }
      for replica in replicas.prefix(2) {
        let error = #expect(throws: StoreError.self) { try replica.replica.catchUp() }
        #expect(error?.code == .forked, "\(error as Any)")
        #expect(error?.reason.contains("at position 3 ") == true, "\(error as Any)")
        #expect(error?.reason.contains("applied 4") == true, "\(error as Any)")
        #expect(try replica.store.read { try $0.get("Leaf:3", as: Leaf.self) } == nil)
      }
      #expect(replicas[2].replica.statistics.foreign == 0)
    }
  }

  /// The position that a log gives an entry tells what it has lost, unless others have appended exactly as much since.
  @Test(arguments: 0...5)
  func `a write over a log that has lost something is acknowledged only where nothing tells it`(
    appended: Int
  ) throws {
    let (log, lost) = (MemoryLog(), 2)
    try withReplicas(2, on: log) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      for id in 0..<lost { try replicas[0].store.write { try $0.set(Leaf(id: "lost \(id)")) } }
      let position = try #require(try replicas[0].store.position())
      log.truncate(to: log.messages.count - lost)
      for id in 0..<appended {
        try replicas[1].store.write { try $0.set(Leaf(id: "other \(id)")) }
      }
      let outcome = Result {
        try replicas[0].store.write { try $0.set(Leaf(id: "own")) }
      }
      if appended == lost {
        try outcome.get()
        // The others leave it out, and append a mark of their history at their next look.
        try replicas[1].replica.catchUp()
        try replicas[1].replica.markIfQuiet()
        #expect(throws: StoreError.self) { try replicas[0].replica.catchUp() }
      } else {
        #expect(throws: StoreError.self) { try outcome.get() }
        #expect(try replicas[0].store.position() == position)
      }
      #expect(replicas[0].replica.halt?.code == (appended < lost ? .logLost : .forked))
      // Whatever was acknowledged, the others go on without it.
      try replicas[1].replica.catchUp()
      #expect(try replicas[1].store.read { try $0.contains("Leaf:own") } == false)
      #expect(try replicas[1].store.read { try $0.count() } == 1 + appended)
    }
  }
}

/// A log that does not hold any more where two histories part.
extension ForkTests {
  /// Fixed: a copy from before that place was taken as a proof, and both stores went on for ever, each with its own.
  @Test func `a copy older than the first kept message proves no history`() throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      _ = try replicas[1].replica.putSnapshot()
      try replicas[0].store.write { try $0.set(Leaf(id: "lost")) }
      log.truncate(to: 2)
      try replicas[1].store.write { try $0.set(Leaf(id: "2")) }
      log.forget(first: 3)
      try replicas[1].store.write { try $0.set(Leaf(id: "3")) }
      let error = #expect(throws: StoreError.self) { try replicas[0].replica.takeIn(upTo: 4) }
      #expect(error?.code == .logLost, "\(error as Any)")
      #expect(replicas[0].replica.halt?.code == .logLost)
      #expect(try replicas[0].store.read { try $0.contains("Leaf:3") } == false)
    }
  }

  /// A copy of the place at which they part tells which of the two is the log's.
  @Test func `a copy as new as the last removed message proves a history`() throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      try replicas[0].store.write { try $0.set(Leaf(id: "lost")) }
      log.truncate(to: 2)
      try replicas[1].store.write { try $0.set(Leaf(id: "2")) }
      _ = try replicas[1].replica.putSnapshot()
      log.forget(first: 3)
      try replicas[1].store.write { try $0.set(Leaf(id: "3")) }
      let error = #expect(throws: StoreError.self) { try replicas[0].replica.takeIn(upTo: 4) }
      #expect(error?.code == .forked, "\(error as Any)")
      // The maker of the copy is told of entries of the other one, and goes on.
      var write = WriteEffects()
      write.isCommit = true
      log.append(LogMessage.entry(try replicas[0].store.entry([write])).bytes)
      try replicas[1].replica.takeIn(upTo: 5)
      #expect(replicas[1].replica.halt == nil)
      #expect(replicas[1].replica.statistics.foreign == 1)
    }
  }
}
