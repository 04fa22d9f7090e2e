import PandoStore

extension Replica.Sent {
  /// The number of bytes of an entry in one part, without the part's own fields.
  private var bytesPerPart: Int { messageByteCount - 128 }

  var messageCount: Int {
    bytes.count <= messageByteCount ? 1 : (bytes.count + bytesPerPart - 1) / bytesPerPart
  }

  /// The messages of the entry; all but the first contain the first one's position.
  var messages: [[UInt8]] { (0..<messageCount).map { message($0) } }

  func message(_ index: Int) -> [UInt8] {
    guard messageCount > 1 else { return bytes }
    let start = index * bytesPerPart
    let part = EntryPart(
      identity, index: index, count: messageCount, first: index == 0 ? 0 : first,
      bytes: Array(bytes[start..<min(start + bytesPerPart, bytes.count)]))
    return LogMessage.part(part).bytes
  }
}

extension Replica {
  /// Sends an entry; a repetition begins with the first part.
  ///
  /// - Throws: ``LogFault``.
  func send() throws {
    guard var sent = unsafe sent else { return }
    let name = sent.identity.name
    for index in 0..<sent.messageCount {
      // Each accepted part extends the deadline of the rest.
      if index > 0 { sent.deadline = max(sent.deadline, deadline(ofWritesSince: .max)) }
      let position = try LogDeadline.$nanoseconds.withValue(sent.deadline) {
        try log.append(
          sent.message(index), named: sent.messageCount == 1 ? name : "\(name)-\(index)",
          expecting: nil)
      }
      if index == 0 { sent.first = position }
      if index == sent.messageCount - 1 { sent.position = position }
    }
    unsafe self.sent = sent
    if let position = sent.position { noteEnd(position) }
    noteHeard()
  }
}

extension EntryIdentity {
  /// The name of the entry in a log.
  var name: String { "\(hexadecimal(origin))-\(counter)" }
}

/// An identity in hexadecimal digits.
func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension Replica {
  /// Connects a store with a log.
  ///
  /// - Returns: The properties of the log.
  /// - Throws: ``StoreError`` `logLost`, `forked`, `replicated`, or `unavailable`; ``LogFault``.
  static func join(
    _ store: ModelStore, _ log: any ReplicationLog, _ configuration: ReplicaConfiguration
  ) throws -> Joined {
    let (row, start) = try store.read { (try $0.replicationRow, try $0.replicationStart) }
    if row == nil, try log.end() == 0 {
      let genesis = Genesis(
        log: randomIdentity(), commit: start.commit, nextNode: start.nextNode,
        nextType: start.nextType)
      try begin(log, with: genesis, of: store)
      if let first = try genesisMessage(of: log), first.genesis == genesis {
        try mark(store, first)
        return Joined(log: genesis.log, beginsWithContent: genesis.commit > 0)
      }
    }
    let first: (genesis: Genesis, bytes: [UInt8])
    do {
      guard let message = try genesisMessage(of: log) else {
        if let row { try check(row, end: try log.end(), of: store) }
        throw StoreError(.logLost, store.path, "the log does not have the beginning of a log")
      }
      first = message
    } catch LogFault.gone(let position) {
      // A long log no longer has its beginning. Its next entries show whether the store has followed it: each has the
      // hash of the messages from which it was made.
      guard let row else {
        throw StoreError(
          start == (0, 1, 1) ? .unavailable : .replicated, store.path,
          "the store can't join the log, which now begins at position \(position) and has no copy of a store; "
            + "a machine that follows the log must put one there")
      }
      try check(row, end: try log.end(), of: store)
      try compare(store, log, configuration)
      // Otherwise a copy replaces the messages in between.
      if row.position < position - 1, try log.snapshotPosition() ?? 0 < position - 1 {
        throw logLost(at: position, behind: row.position)
      }
      return Joined(log: row.log, beginsWithContent: false)
    }
    guard let row else {
      let genesis = first.genesis
      guard genesis.commit == 0, start == (0, genesis.nextNode, genesis.nextType) else {
        if start == (0, 1, 1) {
          throw StoreError(
            .unavailable, store.path,
            "the log begins with a store that had contents, and has no copy of it yet; the store can join "
              + "as soon as a machine has put one there")
        }
        throw StoreError(
          .replicated, store.path,
          "the store can't join the log, because both have contents; join with a new folder, and write the "
            + "contents of the store there")
      }
      try mark(store, first)
      return Joined(log: genesis.log, beginsWithContent: false)
    }
    guard row.log == first.genesis.log else { throw try isAnother(log, row, store) }
    try compare(store, log, configuration)
    return Joined(log: row.log, beginsWithContent: first.genesis.commit > 0)
  }

  /// The properties of a log that the store follows.
  struct Joined {
    /// The identity of the log.
    let log: [UInt8]
    /// Whether the log begins with a store that had contents.
    let beginsWithContent: Bool
  }

  /// Begins an empty log, unless another machine has begun it.
  private static func begin(
    _ log: any ReplicationLog, with genesis: Genesis, of store: ModelStore
  ) throws {
    for _ in 0..<beginningCountMaximum {
      do {
        _ = try log.append(LogMessage.genesis(genesis).bytes, named: "genesis", expecting: 0)
        return
      } catch LogFault.noAnswer {
        // The log shows whether the message was appended.
        if try log.end() > 0 { return }
      } catch LogFault.endsElsewhere {
        // Another machine has begun the log.
        return
      }
    }
    throw StoreError(
      .unavailable, store.path, "the log is empty, and does not answer whether it was begun")
  }

  /// How often the call tries to begin a log that does not answer; each attempt waits for the engine.
  private static var beginningCountMaximum: Int { 4 }

  /// Checks that a log is as long as a store that follows it.
  ///
  /// - Throws: ``StoreError`` `logLost`.
  static func check(
    _ row: ReplicationRow, end: UInt64, of store: ModelStore
  ) throws(StoreError) {
    guard end >= row.position else {
      throw StoreError(
        .logLost, store.path,
        "the log ends at position \(end), and the store has applied \(row.position)")
    }
  }

  static func genesisMessage(
    of log: any ReplicationLog
  ) throws -> (genesis: Genesis, bytes: [UInt8])? {
    guard let message = try log.messages(after: 0, limit: 1).first, message.position == 1,
      case .genesis(let genesis)? = try? LogMessage(message.bytes)
    else { return nil }
    return (genesis, message.bytes)
  }

  private static func mark(
    _ store: ModelStore, _ first: (genesis: Genesis, bytes: [UInt8])
  ) throws {
    let row = ReplicationRow(
      log: first.genesis.log, position: 1, chain: EntryChain().appending(first.bytes))
    try store.write { try $0.beginReplication(row) }
  }
}
