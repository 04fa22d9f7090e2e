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
      try link.call(subject) { connection, milliseconds in
        var answer: OpaquePointer?
        let status = natsConnection_RequestString(
          &answer, connection.handle, "$JS.API.\(subject)", text, milliseconds)
        guard status == NATS_OK, let answer else { throw LogFailure(.notNow, natsText(status)) }
        defer { natsMsg_Destroy(answer) }
        return String(decoding: natsBytes(answer), as: UTF8.self)
      }
    }

    /// Puts a message anywhere.
    @discardableResult
    func put(_ bytes: [UInt8], _ subject: String, of stream: String) throws -> UInt64 {
      try link.publish(bytes, to: (stream, subject), named: nil, expecting: nil)
    }
  }
#endif
