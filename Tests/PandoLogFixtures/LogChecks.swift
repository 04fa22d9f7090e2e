import Foundation
import PandoFixtures
import PandoReplication
import PandoSystem
import Testing

/// The promises of every log, tested over an engine with an empty log.
public struct LogChecks {
  /// The engine.
  public let server: any LogServer

  /// Takes an engine with an empty log.
  public init(_ server: any LogServer) { self.server = server }

  /// Messages are there once, in order, and after a restart.
  public func checkOrder() throws {
    let (log, other) = (try server.makeLog(), try server.makeLog())
    #expect(try log.end() == 0)
    #expect(try log.messages(after: 0, limit: 1) == [])
    #expect(try log.messages(after: 0, limit: 10) == [])
    #expect(try log.append(bytes(1), named: "1", expecting: 0) == 1)
    #expect(throws: LogFault.endsElsewhere) {
      try other.append(bytes("no"), named: "no", expecting: 0)
    }
    #expect(try other.append(bytes(2), named: "2", expecting: 1) == 2)
    #expect(throws: LogFault.endsElsewhere) {
      try log.append(bytes("no"), named: "no", expecting: 1)
    }
    // By name the first one counts.
    #expect(try other.append(bytes("again"), named: "1", expecting: nil) == 1)
    for number in 3...20 {
      let target = number % 2 == 0 ? log : other
      #expect(
        try target.append(bytes(number), named: "\(number)", expecting: nil) == UInt64(number))
    }
    let expected = (1...20).map { LoggedMessage(position: UInt64($0), bytes: bytes($0)) }
    #expect(try log.end() == 20)
    #expect(try log.all() == expected)
    #expect(try other.all(limit: 3) == expected)
    #expect(try log.messages(after: 7, limit: 2).count <= 2)
    #expect(try log.all(after: 7) == Array(expected[7...]))
    #expect(try log.messages(after: 0, limit: 1) == [expected[0]])
    #expect(try log.messages(after: 20, limit: 5) == [])
    for position in [1, 8, 20] {
      #expect(try other.message(at: UInt64(position)) == expected[position - 1])
    }
    #expect(try log.message(at: 21) == nil)
    let large = [UInt8](repeating: 7, count: EntryLimits.partByteCount)
    #expect(try log.append(large, named: "large", expecting: 20) == 21)
    #expect(try other.messages(after: 20, limit: 5).map(\.bytes) == [large])
    #expect(try log.append([], named: "empty", expecting: 21) == 22)
    #expect(try other.messages(after: 21, limit: 5) == [LoggedMessage(position: 22, bytes: [])])

    try server.kill()
    try server.start()
    let third = try server.makeLog()
    #expect(try third.all().prefix(20) == expected[...])
    #expect(try log.append(bytes("on"), named: "on", expecting: nil) == 23)
    #expect(try other.messages(after: 22, limit: 5).map(\.bytes) == [bytes("on")])
    for log in [log, other, third] { log.close() }
    #expect(unavailable { _ = try log.end() } != nil)
    #expect(unavailable { _ = try log.messages(after: 0, limit: 1) } != nil)
    #expect(unavailable { _ = try log.message(at: 1) } != nil)
    #expect(unavailable { _ = try log.append([], named: "x", expecting: nil) } != nil)
    #expect(unavailable { try log.putSnapshot(at: 1) { nil } } != nil)
    log.close()
  }

  /// A follower is notified of other machines' messages, also after a restart.
  ///
  /// - Parameter count: How many messages of its own come in between.
  /// - Throws: What the log throws.
  public func checkFollowing(count: Int) throws {
    let (log, other) = (try server.makeLog(), try server.makeLog())
    defer { for log in [log, other] { log.close() } }
    _ = try log.append(bytes(1), named: "1", expecting: nil)
    let told = Monitor<UInt64>(0)
    log.follow { position in
      told.withLock { $0 = max($0, position) }
      told.notifyAll()
    }
    _ = try other.append(bytes(2), named: "2", expecting: nil)
    told.waiting { $0 >= 2 ? () : nil }
    #expect(try log.all().count == 2)
    try server.kill()
    try server.start()
    _ = try other.appendSurely(bytes(3), named: "3")
    told.waiting { $0 >= 3 ? () : nil }
    // Its own, which are not read: the queue does not fill, and it goes on to be told.
    for number in 4..<4 + count {
      _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
    }
    let end = try other.append(bytes("last"), named: "last", expecting: nil)
    told.waiting { $0 >= end ? () : nil }
    #expect(try log.messages(after: end - 1, limit: 10).map(\.bytes) == [bytes("last")])
  }

  /// A backlog comes whole, whatever limits and places are asked for.
  ///
  /// - Parameter count: How many messages of 20 kB there are: more than is read, or queued, at once.
  /// - Throws: What the log throws.
  public func checkBacklog(count: Int) throws {
    let (log, other) = (try server.makeLog(), try server.makeLog())
    defer { for log in [log, other] { log.close() } }
    let part = [UInt8](repeating: 1, count: 20_000)
    for number in 0..<count {
      _ = try log.append(part + bytes(number), named: "\(number)", expecting: nil)
    }
    let all = try other.all(limit: 7)
    #expect(all.map(\.position) == (1...UInt64(count)).map { $0 })
    var random = SeededGenerator(seed: 1)
    for _ in 0..<30 {
      let position = UInt64.random(in: 0...UInt64(count), using: &random)
      let messages = try other.messages(after: position, limit: 100)
      #expect(messages.isEmpty == (position == UInt64(count)))
      #expect(messages == Array(all[Int(position)...].prefix(messages.count)))
    }
  }

  /// Several threads get what they ask for, each.
  public func checkThreads() throws {
    let log = try server.makeLog()
    defer { log.close() }
    for number in 1...200 {
      _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
    }
    try onThreads(6) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      for step in 0..<60 {
        switch thread % 3 {
        case 0:
          let position = UInt64.random(in: 0..<200, using: &random)
          let messages = try log.messages(after: position, limit: 5)
          try #require(messages.first?.position == position + 1)
        case 1: _ = try log.append(bytes(step), named: "\(thread) \(step)", expecting: nil)
        default: try #require(try log.end() >= 200)
        }
      }
    }
    #expect(try log.end() == 320)
    #expect(try log.all().count == 320)
  }

  /// A reader gets all messages that another thread appends meanwhile.
  ///
  /// - Parameter count: How many messages come.
  /// - Throws: What the log throws.
  public func checkReadingAlong(count: Int) throws {
    let log = try server.makeLog()
    defer { log.close() }
    try onThreads(3) { thread in
      if thread == 0 {
        for number in 1...count {
          _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
        }
        return
      }
      var last: UInt64 = 0
      while last < UInt64(count) {
        let messages = try log.messages(after: last, limit: 100)
        for message in messages {
          try #require(message.position == last + 1)
          try #require(message.bytes == bytes(message.position))
          last = message.position
        }
      }
    }
  }

  /// Closing ends waiting calls.
  public func checkClosing() throws {
    for call in 0..<4 {
      let log = try server.makeLog()
      _ = try log.append(bytes(1), named: "\(call)", expecting: nil)
      if call == 3 { log.follow { _ in } }
      try server.stop()
      let begun = Event()
      let ended = Event()
      Thread.detachNewThread {
        begun.signal()
        do {
          switch call {
          case 0: _ = try log.append(bytes(2), named: "waits", expecting: nil)
          case 1: _ = try log.end()
          case 2: _ = try log.messages(after: 100, limit: 10)
          default: try log.putSnapshot(at: 1) { [1] }
          }
          Issue.record("call \(call) has an answer of a server that stands still")
        } catch {}
        ended.signal()
      }
      begun.wait()
      log.close()
      ended.wait()
      try server.go()
    }
  }

  /// Messages that are not kept any more are gone, and the end is where it was.
  public func checkForgetting() throws {
    let (log, other) = (try server.makeLog(), try server.makeLog())
    defer { for log in [log, other] { log.close() } }
    for number in 1...10 {
      _ = try log.append(bytes(number), named: "\(number)", expecting: nil)
    }
    #expect(try other.all().count == 10)
    try server.forget(before: 5)
    for limit in [1, 100] {
      #expect(throws: LogFault.gone(first: 5)) { try log.messages(after: 0, limit: limit) }
      #expect(throws: LogFault.gone(first: 5)) { try log.messages(after: 3, limit: limit) }
      #expect(try log.messages(after: 4, limit: limit).first?.position == 5)
    }
    #expect(try other.messages(after: 9, limit: 100).map(\.position) == [10])
    #expect(try log.retentionUsed(since: 10) == 0)
    #expect(try log.retentionUsed(since: 0) >= 1)
    // What has been handed out before it is let go of may be read; so both have it all.
    for reader in [log, other] {
      #expect(try reader.all(after: 4).map(\.position) == Array(5...10))
    }
    try server.forget(before: 11)
    #expect(try log.end() == 10)
    for limit in [1, 100] {
      #expect(throws: LogFault.gone(first: 11)) { try log.messages(after: 9, limit: limit) }
      #expect(try log.messages(after: 10, limit: limit) == [])
    }
    #expect(throws: LogFault.endsElsewhere) {
      try log.append(bytes(1), named: "genesis", expecting: 0)
    }
    #expect(try log.append(bytes(11), named: "11", expecting: 10) == 11)
    #expect(try log.messages(after: 10, limit: 100).map(\.bytes) == [bytes(11)])
  }

  /// The newest copy is read, and one that was not ended is none.
  public func checkCopies() throws {
    let (log, other) = (try server.makeLog(), try server.makeLog())
    defer { for log in [log, other] { log.close() } }
    struct Stop: Error {}
    #expect(try log.newestCopy() == nil)
    #expect(try log.snapshotPosition() == nil)
    var rest = [bytes(1)][...]
    #expect(throws: Stop.self) {
      try log.putSnapshot(at: 1) {
        guard let part = rest.popFirst() else { throw Stop() }
        return part
      }
    }
    #expect(try log.newestCopy() == nil)
    let large = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try log.put([large, bytes("end")], at: 5)
    #expect(try other.newestCopy()?.position == 5)
    #expect(try other.newestCopy()?.bytes == large + bytes("end"))
    try other.put([bytes(6)], at: 6)
    try log.put([bytes(7), [], bytes("seven")], at: 7)
    #expect(try log.newestCopy()?.bytes == bytes("7seven"))
    // The one that was put last is the newest, whatever its position.
    try log.put([bytes(3)], at: 3)
    #expect(try other.snapshotPosition() == 3)
    #expect(try other.newestCopy()?.bytes == bytes(3))
    // What reads it can throw.
    #expect(throws: Stop.self) { try log.readSnapshot { _ in throw Stop() } }
    // The log itself has nothing of it.
    #expect(try log.end() == 0)
  }

  /// Copies are put and read while messages come.
  public func checkCopiesAlong() throws {
    let log = try server.makeLog()
    defer { log.close() }
    try log.put([bytes(0)], at: 0)
    try onThreads(3) { thread in
      for step in 1...20 {
        switch thread {
        case 0: _ = try log.append(bytes(step), named: "\(step)", expecting: nil)
        case 1: try log.put([bytes(step), bytes(" "), bytes(step)], at: UInt64(step))
        default:
          // It may be removed while it is read, when two have come behind it.
          var copy: (position: UInt64, bytes: [UInt8])?
          while copy == nil {
            do { copy = try log.newestCopy() } catch LogFault.unavailable {}
          }
          let found = try #require(copy)
          let whole = found.position == 0 ? bytes(0) : bytes("\(found.position) \(found.position)")
          try #require(found.bytes == whole)
        }
      }
    }
    #expect(try log.end() == 20)
    #expect(try log.snapshotPosition() == 20)
  }
}
