import Foundation
import PandoReplication

/// The log of a run, as its processes reach it.
///
/// Sendable because `calls` is used with `lock` locked only, and the others can't change.
final class OriginsConnection: ReplicationLog, @unchecked Sendable {
  private let lock = NSLock()
  private let calls: FrameSocket
  private let ends: FrameSocket
  private let onLoss: @Sendable () -> Void

  /// Connects.
  ///
  /// - Parameters:
  ///   - path: Where the log waits.
  ///   - machine: Whose process this is.
  ///   - life: Which one of that machine.
  ///   - onLoss: Called when the log has gone, or this connection is closed.
  /// - Throws: ``TortureFailure``.
  init(_ path: String, machine: Int, life: Int, onLoss: @escaping @Sendable () -> Void = {}) throws
  {
    calls = try FrameSocket(connectingTo: path)
    ends = try FrameSocket(connectingTo: path)
    self.onLoss = onLoss
    for (socket, name) in [(calls, "calls"), (ends, "ends")] {
      _ = socket.send([.init(text: name)] + [machine, life, Int(getpid())].map { .init(text: $0) })
    }
  }

  deinit {
    calls.release()
    ends.release()
  }

  func append(_ message: [UInt8], named name: String, expecting end: UInt64?) throws -> UInt64 {
    let answer = try ask([.init(text: "append"), .init(text: end.map { "\($0)" } ?? "-"), message])
    switch answer.first?.text {
    case "silence": throw LogFault.noAnswer
    case "elsewhere": throw LogFault.endsElsewhere
    default: return try position(answer)
    }
  }

  func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
    let answer = try ask([.init(text: "messages"), .init(text: position), .init(text: limit)])
    return answer.enumerated().map {
      LoggedMessage(position: position + UInt64($0.offset) + 1, bytes: $0.element)
    }
  }

  func end() throws -> UInt64 { try position(ask([.init(text: "end")])) }

  // There are no copies of stores: the log keeps all.
  func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
    throw LogFault.unavailable("this log has no copies")
  }

  func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? { nil }

  func snapshotPosition() throws -> UInt64? { nil }

  func retentionUsed(since position: UInt64) throws -> Double { 0 }

  func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
    Thread.detachNewThread { [self] in
      while let frame = ends.receive() {
        if let end = try? position(frame) { onEnd(end) }
      }
      onLoss()
    }
  }

  func close() {
    calls.end()
    ends.end()
  }

  private func ask(_ request: FrameSocket.Frame) throws -> FrameSocket.Frame {
    lock.lock()
    defer { lock.unlock() }
    guard calls.send(request), let answer = calls.receive() else {
      throw LogFault.unavailable("the log has gone")
    }
    return answer
  }

  private func position(_ answer: FrameSocket.Frame) throws -> UInt64 {
    guard answer.count == 2, let position = answer[1].number else {
      throw LogFault.unavailable("the log answers with \(answer.map(\.text))")
    }
    return position
  }
}
