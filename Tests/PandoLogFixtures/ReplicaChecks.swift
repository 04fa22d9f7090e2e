import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import Testing

/// The behaviour of stores that follow a log, tested over an engine with an empty log.
public struct ReplicaChecks {
  private struct Note: Model, Codable, Equatable {
    var id: String
    var text = ""
    var modelIdentifier: String? { "Note:\(id)" }
  }

  private struct Machine {
    let store: ModelStore
    let log: any ReplicationLog
    let replica: Replica

    init(_ path: String, _ server: any LogServer) throws {
      store = try ModelStore(path: path, configuration: .forTests)
      do {
        log = try server.makeLog()
        do {
          replica = try Replica(store, log: log)
        } catch {
          log.close()
          throw error
        }
      } catch {
        store.close()
        throw error
      }
    }

    func dump() throws -> [String] {
      var lines: [String] = []
      try store.dump { lines.append($0) }
      return lines
    }

    func close() {
      store.close()
      log.close()
    }
  }

  private let server: any LogServer
  private let path: String

  /// Takes an engine.
  ///
  /// - Parameters:
  ///   - server: An engine with an empty log.
  ///   - path: A folder for stores.
  public init(_ server: any LogServer, path: String) { (self.server, self.path) = (server, path) }

  /// Two stores that write to one log end equal.
  public func checkTwoWriters() throws {
    let (first, second) = (try Machine("\(path)/1", server), try Machine("\(path)/2", server))
    for machine in [first, second] {
      let replica = machine.replica
      machine.log.follow { replica.noteEnd($0) }
    }
    try onThreads(2) { index in
      let machine = index == 0 ? first : second
      for number in 0..<150 {
        try machine.store.write { transaction in
          let id = number % 3 == 0 ? "shared" : "\(index) \(number)"
          let old = try transaction.snapshot.get("Note:\(id)", as: Note.self)?.text ?? ""
          try transaction.set(Note(id: id, text: "\(old) \(index)/\(number)"))
        }
      }
    }
    // One that does not fit into a message.
    let text = String(repeating: "long ", count: 300_000)
    try first.store.write { try $0.set(Note(id: "long", text: text)) }
    for machine in [first, second] { try machine.replica.catchUp() }
    #expect(try first.dump() == second.dump())
    let shared = try second.store.read { try $0.get("Note:shared", as: Note.self) }
    #expect(shared?.text.split(separator: " ").count == 100)
    for machine in [first, second] { machine.close() }
    // A third reads all of it from the log.
    let third = try Machine("\(path)/3", server)
    try third.replica.catchUp()
    let again = try Machine("\(path)/1", server)
    #expect(try third.dump() == again.dump())
    for machine in [third, again] { machine.close() }
  }

  /// Stores show writes of others, after a restart of the server too.
  public func checkShowing() async throws {
    let (here, there) = (try replicated("a"), try replicated("b"))
    for round in 0..<3 {
      for number in 0..<20 {
        let text = "\(round) \(number)"
        try await written(here) { try $0.set(Note(id: "here", text: text)) }
        try await written(there) { try $0.set(Note(id: "there", text: text)) }
      }
      // Nobody asks for it.
      try await shown("\(round) 19", "Note:here", in: there.store)
      try await shown("\(round) 19", "Note:there", in: here.store)
      try server.kill()
      let kept = try await there.store.read { try $0.get("Note:here", as: Note.self) }
      #expect(kept != nil)
      try server.start()
    }
    try await written(here) { try $0.set(Note(id: "last")) }
    let last = try await there.read(after: here.position) {
      try $0.get("Note:last", as: Note.self)
    }
    #expect(last != nil)
    await here.close()
    await there.close()
  }

  /// A store opens while the server is away, and follows when it is there; its writes fail while the server is away or
  /// stands still, and closing it does not wait for that.
  public func checkAway() async throws {
    let before = try replicated("a")
    try await before.store.write { try $0.set(Note(id: "1")) }
    await before.close()
    try server.kill()
    let store = try replicated("a")
    #expect(try await store.store.read { try $0.count() } == 1)
    await expectUnavailable(store)
    #expect(throws: StoreError.self) { try store.checkHealth() }
    #expect(!store.status.isStopped)
    try server.start()
    while store.status.lastHeard == nil || store.status.failure != nil { await Task.yield() }
    try store.checkHealth()
    try await written(store) { try $0.set(Note(id: "2")) }
    try server.stop()
    await expectUnavailable(store)
    await store.close()
    try server.go()
    let again = try replicated("a")
    #expect(try await again.store.read { try $0.count() } == 2)
    await again.close()
  }

  private func expectUnavailable(_ store: ReplicatedStore) async {
    let error = await #expect(throws: StoreError.self) {
      try await store.store.write { try $0.set(Note(id: "refused")) }
    }
    #expect(error?.code == .unavailable, "\(error as Any)")
  }

  /// A store stops if the log no longer has its next messages.
  public func checkStopping() throws {
    let (behind, ahead) = (try Machine("\(path)/1", server), try Machine("\(path)/2", server))
    for number in 0..<5 {
      try ahead.store.write { try $0.set(Note(id: "\(number)")) }
    }
    try server.forget(before: 4)
    let error = #expect(throws: StoreError.self) { try behind.replica.catchUp() }
    #expect(error?.code == .logLost)
    #expect(error?.description.contains("position 4") == true, "\(error as Any)")
    #expect(try behind.store.read { try $0.get("Note:0", as: Note.self) } == nil)
    // One that has all of it goes on, also when it is opened again.
    ahead.close()
    let again = try Machine("\(path)/2", server)
    try again.store.write { try $0.set(Note(id: "more")) }
    for machine in [behind, again] { machine.close() }
  }

  /// A store does not follow the log of others.
  public func checkOtherLog() throws {
    let first = try Machine("\(path)/1", server)
    try first.store.write { try $0.set(Note(id: "1")) }
    try server.remove()
    let second = try Machine("\(path)/2", server)
    // While it is open, it notices by the end; when it is opened again, by the identity.
    let open = #expect(throws: StoreError.self) {
      try first.store.write { try $0.set(Note(id: "2")) }
    }
    #expect(open?.code == .logLost, "\(open as Any)")
    first.close()
    let error = #expect(throws: StoreError.self) { try Machine("\(path)/1", server).close() }
    #expect(error?.code == .logLost, "\(error as Any)")
    second.close()
  }

  /// Machines join, come back and go on by a copy in the engine.
  public func checkJoining() async throws {
    let first = try replicated("a")
    let behind = try replicated("b")
    for number in 0..<300 {
      try await first.store.write { transaction in
        for part in 0..<20 {
          try transaction.set(
            Note(id: "\(number)-\(part)", text: String(repeating: "x", count: 200)))
        }
      }
      if number == 100 {
        try await behind.caughtUp()
        await behind.close()
      }
    }
    let position = try await first.putSnapshot()
    let log = try server.makeLog()
    #expect(try log.snapshotPosition() == position)
    // By the log's own clock, whatever that of this machine says.
    #expect(try #require(try log.snapshotAge()) < .seconds(1800))
    #expect(try log.retentionUsed(since: 0) < 0.5)
    #expect(try log.retentionUsed(since: position) == 0)
    #expect(try log.retentionUsed(since: 0) > 0)
    try server.forget(before: 250)
    #expect(try log.retentionUsed(since: 0) == 1)
    log.close()
    var stores = [first, try replicated("b"), try replicated("c")]
    for store in stores { try await store.caughtUp() }
    let count = 300 * 20
    for store in stores { #expect(try store.store.statistics().nodeCount == count) }
    #expect(stores[1].status.replacedCount == 1)
    // The engine has lost everything.
    for store in stores { await store.close() }
    try server.remove()
    let empty = try server.makeLog()
    try await ReplicatedStore.republish(path: "\(path)/a", log: empty)
    for name in ["b", "c"] {
      try await ReplicatedStore.replace(path: "\(path)/\(name)", log: empty)
    }
    empty.close()
    stores = try ["a", "b", "c", "d"].map { try replicated($0) }
    try await stores[2].store.write { try $0.set(Note(id: "last")) }
    for store in stores { try await store.caughtUp() }
    for store in stores { #expect(try store.store.statistics().nodeCount == count + 1) }
    for store in stores { await store.close() }
  }

  /// An engine loses its last message: the machine that has it reports that, and the others continue.
  ///
  /// - Parameter isOpen: Whether that machine is open meanwhile.
  /// - Throws: What keeps it from being seen.
  public func checkFork(isOpen: Bool) async throws {
    let first = try replicated("a")
    var second = try replicated("b")
    try await written(first) { try $0.set(Note(id: "1")) }
    _ = try await second.read(after: first.position) { _ in }
    await second.close()
    try server.keep()
    try await written(first) { try $0.set(Note(id: "lost")) }
    let position = try first.position
    if !isOpen { await first.close() }
    try server.rewind()
    second = try replicated("b")
    for id in ["2", "3"] { try await written(second) { try $0.set(Note(id: id)) } }
    if isOpen {
      let error = await #expect(throws: StoreError.self) {
        try await written(first) { try $0.set(Note(id: "refused")) }
      }
      // The first that it found may have been the shorter log.
      #expect([.forked, .logLost].contains(error?.code), "\(error as Any)")
      #expect(first.status.isStopped)
      #expect(first.status.failure?.code == error?.code)
      #expect(try await first.store.read { try $0.get("Note:lost", as: Note.self) } != nil)
      await first.close()
    }
    let error = #expect(throws: StoreError.self) { try replicated("a") }
    #expect(error?.code == .forked, "\(error as Any)")
    #expect(error?.reason.contains("applied \(position)") == true, "\(error as Any)")
    // The others go on, and so does it when it has become equal to them.
    try await written(second) { try $0.set(Note(id: "4")) }
    try await second.putSnapshot()
    let log = try server.makeLog()
    try await ReplicatedStore.replace(path: "\(path)/a", log: log)
    log.close()
    let again = try replicated("a")
    try await written(again) { try $0.set(Note(id: "5")) }
    try await second.caughtUp()
    for store in [again, second] {
      let names = try await store.store.read { try $0.count() }
      #expect(names == 5)
      #expect(try await store.store.read { try $0.get("Note:lost", as: Note.self) } == nil)
      #expect(store.status.failure == nil)
      await store.close()
    }
  }

  private func replicated(_ name: String) throws -> ReplicatedStore {
    try ReplicatedStore(
      path: "\(path)/\(name)", log: try server.makeLog(), configuration: .forTests)
  }

  /// Writes until the log has it: a connection that was cut says so once.
  private func written(
    _ store: ReplicatedStore, _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void
  ) async throws {
    while true {
      do {
        return try await store.store.write(body)
      } catch let error as StoreError where error.code == .unavailable {
      }
    }
  }

  /// Waits until a store shows a text.
  private func shown(_ text: String, _ identifier: String, in store: ModelStore) async throws {
    for try await _ in store.changes(since: .zero) {
      let found = try await store.read { try $0.get(identifier, as: Note.self)?.text }
      if found == text { return }
    }
  }
}
