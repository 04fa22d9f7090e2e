import Foundation
import PandoReplication
import Synchronization

/// Lets the processes of a run reach its log, and kills them at the steps that they come to.
///
/// ```
/// ["calls" or "ends", machine, life, process]   how a connection begins
/// ["append", expected end or "-", bytes]  ─► ["at", position], ["elsewhere"] or ["silence"]
/// ["messages", position, limit]           ─► the messages behind the position
/// ["end"]                                 ─► ["at", position]
///                                            ["at", position] whenever there are more: "ends"
/// ```
final class OriginsServer: Sendable {
  let path: String
  private let log: OriginsLog
  private let listener: FrameSocket
  /// The process on each machine.
  private let lives = Mutex<[Int: OriginLife]>([:])

  init(_ log: OriginsLog, at path: String) throws {
    (self.log, self.path) = (log, path)
    listener = try FrameSocket.listening(at: path)
    Thread.detachNewThread { [listener] in
      while let socket = listener.accepted() {
        Thread.detachNewThread {
          self.serve(socket)
          socket.end()
          socket.release()
        }
      }
    }
  }

  /// Says who lives on a machine from now on.
  func expect(_ life: OriginLife) { lives.withLock { $0[life.machine] = life } }

  func close() {
    log.close()
    listener.end()
  }

  private func serve(_ socket: FrameSocket) {
    guard let hello = socket.receive(), hello.count == 4, let machine = hello[1].number,
      let process = hello[3].number, let life = lives.withLock({ $0[Int(machine)] }),
      // One that was killed may have been too fast for this thread.
      hello[2].number == UInt64(life.number)
    else { return }
    life.begin(pid_t(process))
    if hello[0].text == "ends" {
      var position: UInt64 = 0
      while let end = log.waitForEnd(behind: position), socket.send([.at, .init(text: end)]) {
        position = end
      }
      return
    }
    if life.reach(.opening) { return }
    while let request = socket.receive(), !request.isEmpty {
      guard answer(request, socket, life) else { return }
    }
  }

  /// - Returns: Whether the process lives on, as far as is known.
  private func answer(
    _ request: FrameSocket.Frame, _ socket: FrameSocket, _ life: OriginLife
  ) -> Bool {
    switch request[0].text {
    case "append": return append(request[2], expecting: request[1].number, socket, life)
    case "messages":
      if life.reach(.asking) { return false }
      let messages = log.messages(
        after: request[1].number ?? 0, limit: Int(request[2].number ?? 1))
      return socket.send(messages) && !(messages.count > 0 && life.reach(.takingIn))
    default:
      return socket.send([.at, .init(text: log.end)])
    }
  }

  private func append(
    _ message: [UInt8], expecting end: UInt64?, _ socket: FrameSocket, _ life: OriginLife
  ) -> Bool {
    // A message that begins a log, and expects its end, is no write.
    let isWrite = end == nil
    if isWrite, life.reach(.beforeAppend) { return false }
    let position: UInt64?
    do {
      position = try log.append(message, expecting: end)
    } catch {
      return socket.send([
        .init(text: error as? LogFault == .endsElsewhere ? "elsewhere" : "silence")
      ])
    }
    // The last part of a large entry is smaller than the others.
    let isPart = message.count >= Self.partByteCountMinimum
    if isPart, life.reach(.betweenParts) { return false }
    if isWrite, life.reach(.appended) { return false }
    guard let position else { return socket.send([.init(text: "silence")]) }
    guard socket.send([.at, .init(text: position)]) else { return false }
    return !isWrite || !life.reach(.answered) && !life.reach(.committing)
  }

  /// How large the parts of an entry are that has others behind them, about.
  private static let partByteCountMinimum = 500_000
}

extension [UInt8] {
  fileprivate static let at = Self(text: "at")
}
