import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Entries that are too large for one message.
@Suite struct PartsTests {
  /// A text that makes an entry of three parts where messages are small.
  private static let text = String(repeating: "0123456789abcdef", count: 150)

  /// Messages of 1 KiB at most.
  private var smallMessages: ReplicaConfiguration {
    var configuration = ReplicaConfiguration.forTests
    configuration.messageByteCountMaximum = 1 << 10
    return configuration
  }

  /// What happens at one append of an entry in parts.
  private enum Trouble: CaseIterable {
    case lostBefore, lostAfter, delayed
  }

  private func card(_ replica: ReplicaFixture) throws -> Card? {
    try replica.store.read { try $0.get("Card:1", as: Card.self) }
  }

  @Test func `an entry in parts is taken in whole by others, and at once by its own`() throws {
    let log = MemoryLog()
    let text = String(repeating: "0123456789abcdef", count: 80 << 10)
    try withReplicas(2, on: log) { replicas in
      try replicas[0].store.write { transaction in
        try transaction.set(Card(id: "1", text: text, leaves: [Leaf(id: "1")]))
      }
      #expect(log.messages.count == 4)
      #expect(log.messages.allSatisfy { $0.count <= EntryLimits.partByteCount })
      #expect(replicas[0].replica.statistics.direct == 1)
      // The chain is that of all parts: else the next entry would be one of another history.
      try replicas[0].store.write { try $0.set(Leaf(id: "2")) }
      try replicas[1].replica.catchUp()
      #expect(try card(replicas[1]) == Card(id: "1", text: text, leaves: [Leaf(id: "1")]))
      #expect(replicas[1].replica.statistics.judged == 2)
      #expect(replicas[1].replica.statistics.malformed == 0)
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(try replicas[1].store.position() == 5)
    }
  }

  /// Parts that were read with one call, with several, and with none of them together.
  @Test(arguments: [1, 2, 3])
  func `parts are found again, however many messages are read at once`(count: Int) throws {
    let log = MemoryLog()
    var configuration = smallMessages
    configuration.messagesPerCommit = count
    try withReplicas(2, on: log, configuration) { replicas in
      try replicas[0].store.write { try $0.set(Card(id: "1", text: Self.text)) }
      try replicas[1].replica.catchUp()
      #expect(try card(replicas[1])?.text == Self.text)
      #expect(try replicas[0].dump() == replicas[1].dump())
    }
  }

  @Test(arguments: 1..<4)
  func `messages of others come between the parts of an entry`(part: Int) throws {
    let log = MemoryLog()
    let isBusy = Rival()
    let appends = Locked(0)
    try withReplicas(
      3, on: log, smallMessages,
      onCall: { index, call, moment in
        guard index == 0, call == .append, moment == .before, !log.messages.isEmpty else { return }
        if appends.withLock({ count in
          count += 1
          return count
        }) == part {
          try isBusy.write()
        }
      }
    ) { replicas in
      isBusy.begin { number in
        // One that has nothing to do with it, and one that is in parts as well.
        try replicas[1].store.write { try $0.set(Leaf(id: "\(number)")) }
        try replicas[1].store.write { try $0.set(Card(id: "2", text: Self.text)) }
      }
      try replicas[0].store.write { try $0.set(Card(id: "1", text: Self.text)) }
      #expect(isBusy.count == 1)
      #expect(log.messages.count == 1 + 3 + 1 + 3)
      for replica in replicas { try replica.replica.catchUp() }
      for replica in replicas {
        #expect(try replica.dump() == replicas[0].dump())
        #expect(try card(replica)?.text == Self.text)
        #expect(replica.replica.statistics.malformed == 0)
      }
      #expect(replicas[2].replica.statistics.judged == 3)
      #expect(replicas[0].replica.statistics.direct == 0)
    }
  }

  @Test(arguments: Trouble.allCases, [true, false])
  private func `an entry in parts is sent again whole if one of them got no answer`(
    trouble: Trouble, isForgotten: Bool
  ) throws {
    for part in 1...3 {
      let log = MemoryLog()
      let (appends, isBegun) = (Locked(0), Locked(false))
      try withReplicas(
        2, on: log, smallMessages,
        onCall: { index, call, moment in
          guard index == 0, call == .append, isBegun.withLock(\.self) else { return }
          let number = appends.withLock { count in
            if moment == .before { count += 1 }
            return count
          }
          guard number == part else { return }
          if isForgotten { log.forgetNames() }
          switch (trouble, moment) {
          case (.lostBefore, .before), (.lostAfter, .after): throw LogFault.noAnswer
          case (.delayed, .before): throw MemoryConnection.Delay()
          default: break
          }
        }
      ) { replicas in
        isBegun.withLock { $0 = true }
        try replicas[0].store.write { try $0.set(Card(id: "1", text: Self.text)) }
        log.deliverDelayed()
        for replica in replicas { try replica.replica.catchUp() }
        #expect(try card(replicas[1])?.text == Self.text)
        #expect(try replicas[0].dump() == replicas[1].dump())
        #expect(replicas[1].replica.statistics.judged == 1, "\(trouble), part \(part)")
        #expect(replicas[1].replica.statistics.malformed == 0, "\(trouble), part \(part)")
        try replicas[1].store.write { try $0.set(Leaf(id: "2")) }
        try replicas[0].replica.catchUp()
        #expect(try replicas[0].dump() == replicas[1].dump())
      }
    }
  }
}

/// Parts that somebody made who is no replica.
extension PartsTests {
  /// Appends parts as they are; each gets the position of the first one, if it is to.
  private func append(_ parts: [EntryPart], to log: MemoryLog, pointsBack: Bool = true) {
    let first = UInt64(log.messages.count + 1)
    for var part in parts {
      if pointsBack, part.index > 0 { part.first = first }
      log.append(LogMessage.part(part).bytes)
    }
  }

  /// The bytes of an entry, cut into parts.
  private func parts(_ bytes: [UInt8], count: Int) -> [EntryPart] {
    let size = (bytes.count + count - 1) / count
    return (0..<count).map { index in
      EntryPart(
        .stranger(), index: index, count: count, first: 0,
        bytes: Array(bytes.dropFirst(index * size).prefix(size)))
    }
  }

  private enum Damage: CaseIterable {
    case first, middle, other, identity, count, noEntry, notBack, tooFar, itself
  }

  @Test(arguments: Damage.allCases)
  private func `parts that make no entry are malformed, and all go on`(damage: Damage) throws {
    let log = MemoryLog()
    try withReplicas(2, on: log) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      var bytes = LogMessage.entry(try replicas[0].store.entry()).bytes
      if damage == .noEntry { bytes[bytes.count / 2] ^= 1 }
      var parts = parts(bytes, count: 3)
      var pointsBack = true
      switch damage {
      case .first: parts.remove(at: 0)
      case .middle: parts.remove(at: 1)
      case .other: for index in 0..<3 { parts[index].identity.counter = 2 }
      case .identity: parts[1].identity.origin[0] ^= 1
      case .count: parts[1].count = 4
      case .noEntry: break
      case .notBack: pointsBack = false
      case .tooFar, .itself:
        pointsBack = false
        parts[2].first = damage == .itself ? 5 : .max
      }
      append(parts, to: log, pointsBack: pointsBack)
      let end = UInt64(log.messages.count)
      for replica in replicas {
        try replica.replica.catchUp()
        #expect(replica.replica.statistics.malformed == 1)
        #expect(try replica.store.position() == end)
      }
      for (index, replica) in replicas.enumerated() {
        try replica.store.write { try $0.set(Leaf(id: "after \(index)")) }
      }
      try replicas[0].replica.catchUp()
      #expect(try replicas[0].dump() == replicas[1].dump())
      // Nothing of the entry counts: its origin may still bring one.
      append(self.parts(LogMessage.entry(try replicas[0].store.entry()).bytes, count: 2), to: log)
      for replica in replicas {
        try replica.replica.catchUp()
        #expect(replica.replica.statistics.malformed == 1)
        #expect(replica.replica.statistics.duplicates == 0)
      }
    }
  }
}

/// Parts that the log has no more as they were taken in.
extension PartsTests {
  private enum Change: CaseIterable {
    case other, lost
  }

  /// Fixed: the entry was malformed for this store alone, which then was silently different under an equal hash.
  @Test(arguments: Change.allCases)
  private func `a store whose log has other parts than it has taken in stops`(change: Change) throws
  {
    let log = LyingLog()
    try withTemporaryDirectory { path in
      let replicas = try (0..<2).map { index in
        try ReplicaFixture(
          "\(path)/\(index)", LyingConnection(log, server: index) { _, _ in }, smallMessages)
      }
      defer { for replica in replicas { replica.store.close() } }
      try replicas[0].store.write { try $0.set(Card(id: "1", text: Self.text)) }
      #expect(log.end == 4)
      try replicas[1].replica.takeIn(upTo: 3)
      #expect(try replicas[1].store.position() == 4)
      try replicas[0].store.write { try $0.set(Card(id: "1", text: Self.text + "2")) }
      #expect(log.end == 7)
      let last = log.servers[1].messages.removeLast()
      try replicas[1].replica.takeIn(upTo: 6)
      #expect(try replicas[1].store.position() == 6)
      log.servers[1].messages.append(last)
      switch change {
      case .other: log.servers[1].messages[5]?.bytes = [1, 2, 3]
      case .lost:
        log.servers[1].messages[5] = nil
        log.skipsGaps = true
      }
      let error = #expect(throws: StoreError.self) { try replicas[1].replica.takeIn(upTo: 7) }
      let code: StoreError.Code = change == .other ? .forked : .logLost
      #expect(error?.code == code, "\(error as Any)")
      #expect(replicas[1].replica.halt?.code == code)
      #expect(try replicas[1].store.position() == 6)
      #expect(replicas[1].replica.statistics.malformed == 0)
    }
  }
}
