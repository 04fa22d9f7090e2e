import PandoFixtures
import PandoReplication
import PandoSystem
import Testing

/// The log that the other tests go by does as its protocol says.
@Suite struct MemoryLogTests {
  private struct Stop: Error {}

  /// Gives parts one after another, and throws at the end if it is to.
  private func source(_ parts: [[UInt8]], throwsAtEnd: Bool = false) -> () throws -> [UInt8]? {
    var rest = parts[...]
    return {
      if rest.isEmpty, throwsAtEnd { throw Stop() }
      return rest.popFirst()
    }
  }

  /// The newest copy that a log has.
  private func copy(in log: any ReplicationLog) throws -> (position: UInt64?, parts: [[UInt8]]) {
    var parts: [[UInt8]] = []
    let position = try log.readSnapshot { parts.append($0) }
    return (position, parts)
  }

  @Test func `positions begin at 1, and an append can be refused behind others`() throws {
    let connection = MemoryConnection(MemoryLog())
    #expect(try connection.end() == 0)
    #expect(try connection.messages(after: 0, limit: 10) == [])
    #expect(try connection.append([1], named: "a", expecting: 0) == 1)
    #expect(throws: LogFault.endsElsewhere) {
      try connection.append([2], named: "b", expecting: 0)
    }
    #expect(try connection.append([2], named: "b", expecting: 1) == 2)
    #expect(try connection.append([3], named: "b", expecting: nil) == 2)
    #expect(try connection.end() == 2)
    let second = LoggedMessage(position: 2, bytes: [2])
    #expect(
      try connection.messages(after: 0, limit: 10) == [
        LoggedMessage(position: 1, bytes: [1]), second,
      ])
    #expect(try connection.messages(after: 1, limit: 1) == [second])
    #expect(try connection.messages(after: 2, limit: 1) == [])
  }

  @Test func `a read of messages that are no longer kept fails as gone`() throws {
    let log = MemoryLog()
    for byte in UInt8(1)...4 { log.append([byte]) }
    log.forget(first: 2)
    let connection = MemoryConnection(log)
    for position in UInt64(0)...1 {
      #expect(throws: LogFault.gone(first: 3)) {
        try connection.messages(after: position, limit: 1)
      }
    }
    #expect(try connection.messages(after: 2, limit: 1).map(\.position) == [3])
    #expect(try connection.end() == 4)
  }

  @Test(arguments: [[], [[]], [[1, 2], [], [3]], [[UInt8](repeating: 7, count: 1 << 12)]])
  func `a copy of a store is read back in parts, over any connection`(parts: [[UInt8]]) throws {
    let log = MemoryLog()
    let (own, other) = (MemoryConnection(log), MemoryConnection(log))
    #expect(try copy(in: other).position == nil)
    log.append([1])
    try own.putSnapshot(at: 1, source(parts))
    for connection in [own, other] {
      let copy = try copy(in: connection)
      #expect(copy.position == 1)
      #expect(copy.parts == parts)
    }
    // Beside the log, not in it.
    #expect(log.messages == [[1]])
  }

  @Test func `the newest copy is read, and one that was not finished is none`() throws {
    let connection = MemoryConnection(MemoryLog())
    #expect(throws: Stop.self) {
      try connection.putSnapshot(at: 1, source([[1]], throwsAtEnd: true))
    }
    #expect(try copy(in: connection).position == nil)
    try connection.putSnapshot(at: 2, source([[2]]))
    try connection.putSnapshot(at: 3, source([[3], [4]]))
    #expect(throws: Stop.self) {
      try connection.putSnapshot(at: 4, source([[5]], throwsAtEnd: true))
    }
    let copy = try copy(in: connection)
    #expect(copy.position == 3)
    #expect(copy.parts == [[3], [4]])
  }

  @Test func `the reader of a copy can stop it`() throws {
    let connection = MemoryConnection(MemoryLog())
    try connection.putSnapshot(at: 1, source([[1], [2], [3]]))
    var parts: [[UInt8]] = []
    #expect(throws: Stop.self) {
      _ = try connection.readSnapshot { part in
        parts.append(part)
        if parts.count == 2 { throw Stop() }
      }
    }
    #expect(parts == [[1], [2]])
  }
}
