import Foundation
import PandoReplication

/// The log of a run, in the memory of the process that outlives all others.
///
/// It is no better than an engine has to be: now and then a message is lost, comes twice, or has no answer.
///
/// Sendable because what can change is used with `condition` locked only.
final class OriginsLog: @unchecked Sendable {
  private let condition = NSCondition()
  private let control: OriginsControl?
  private var random: SeededGenerator
  private var messages: [[UInt8]] = []
  private var isClosed = false
  private var troubles = (unanswered: 0, twice: 0)

  init(seed: UInt64, control: OriginsControl?) {
    random = SeededGenerator(seed: seed, -2)
    self.control = control
  }

  /// Appends a message.
  ///
  /// - Returns: Its position; `nil` if it is there, and there is to be no answer.
  /// - Throws: `LogFault` if it is not there: `endsElsewhere`, or `noAnswer`.
  func append(_ message: [UInt8], expecting end: UInt64?) throws -> UInt64? {
    condition.lock()
    defer { condition.unlock() }
    if let end, end != messages.count { throw LogFault.endsElsewhere }
    if random.chance(1) {
      troubles.unanswered += 1
      throw LogFault.noAnswer
    }
    messages.append(message)
    let position = UInt64(messages.count)
    if control == .losesEntries, position % 16 == 0 {
      messages.removeLast()
      return position
    }
    if end == nil, random.chance(1) {
      troubles.twice += 1
      messages.append(message)
    }
    condition.broadcast()
    if random.chance(1) {
      troubles.unanswered += 1
      return nil
    }
    return position
  }

  /// The next messages, a MiB of them or one.
  func messages(after position: UInt64, limit: Int) -> [[UInt8]] {
    condition.lock()
    defer { condition.unlock() }
    var found: [[UInt8]] = []
    var byteCount = 0
    for message in messages.dropFirst(Int(clamping: position)).prefix(limit) {
      byteCount += message.count
      if byteCount > 1 << 20, !found.isEmpty { break }
      found.append(message)
    }
    return found
  }

  var end: UInt64 {
    condition.lock()
    defer { condition.unlock() }
    return UInt64(messages.count)
  }

  /// How often an answer was kept back, and a message appended twice.
  var counts: (unanswered: Int, twice: Int) {
    condition.lock()
    defer { condition.unlock() }
    return troubles
  }

  /// Waits until there is a message behind a position.
  ///
  /// - Returns: The position of the last one; `nil` when the log is closed.
  func waitForEnd(behind position: UInt64) -> UInt64? {
    condition.lock()
    defer { condition.unlock() }
    while messages.count <= position, !isClosed { condition.wait() }
    return isClosed ? nil : UInt64(messages.count)
  }

  func close() {
    condition.lock()
    defer { condition.unlock() }
    isClosed = true
    condition.broadcast()
  }
}
