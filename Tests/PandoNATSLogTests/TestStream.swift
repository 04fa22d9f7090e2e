#if NATS
  import CPandoNATS
  import Glibc
  import PandoReplication

  @testable import PandoNATSLog

  /// What tests do to streams and logs.
  extension NATSLog {
    /// Asks JetStream for something, as an operator does.
    @discardableResult
    func ask(_ subject: String, _ text: String = "") throws -> String {
      try link.call { connection, milliseconds in
        var answer: OpaquePointer?
        let status = natsConnection_RequestString(
          &answer, connection.handle, "$JS.API.\(subject)", text, milliseconds)
        guard status == NATS_OK, let answer else { throw NATSNotNow(reason: natsText(status)) }
        defer { natsMsg_Destroy(answer) }
        return String(decoding: natsBytes(answer), as: UTF8.self)
      }
    }

    /// Puts a message anywhere.
    @discardableResult
    func put(_ bytes: [UInt8], _ subject: String, of stream: String) throws -> UInt64 {
      try link.call { connection, milliseconds in
        try publish(
          bytes, to: (stream, subject), named: nil, expecting: nil, connection, milliseconds)
      }
    }

    /// Appends until the log has it.
    func appendSurely(_ bytes: [UInt8], named name: String) throws -> UInt64 {
      while true {
        do {
          return try append(bytes, named: name, expecting: nil)
        } catch LogFault.noAnswer {
        } catch LogFault.unavailable {
        }
      }
    }

    /// All messages behind a position.
    func all(after position: UInt64 = 0, limit: Int = 1000) throws -> [LoggedMessage] {
      var all: [LoggedMessage] = []
      while true {
        let messages = try messages(after: all.last?.position ?? position, limit: limit)
        if messages.isEmpty { return all }
        all += messages
      }
    }
  }

  /// The words of a fault that says that the log can't be reached.
  func unavailable(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch LogFault.unavailable(let words) {
      return words
    } catch {
      return nil
    }
  }

  func bytes(_ text: some CustomStringConvertible) -> [UInt8] { Array("\(text)".utf8) }
#endif
