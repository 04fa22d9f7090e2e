#if NATS
  import CPandoNATS
  import PandoReplication

  /// Calls for a whole stream, or for one of its messages.
  extension NATSLog {
    /// Publishes a message.
    ///
    /// - Parameters:
    ///   - message: The bytes.
    ///   - target: The stream and the subject.
    ///   - name: The name by which the servers recognize a repetition.
    ///   - end: If given, the servers append only if this is the last position.
    ///   - connection: An open connection.
    ///   - milliseconds: The time to wait.
    /// - Returns: The position.
    /// - Throws: ``LogFault``; ``NATSNotNow`` if nothing was done.
    func publish(
      _ message: [UInt8], to target: (stream: String, subject: String), named name: String?,
      expecting end: UInt64?, _ connection: NATSConnection, _ milliseconds: Int64
    ) throws -> UInt64 {
      let refusals = link.refusalCount
      var ack = pando_nats_ack()
      let expects: CInt = end == nil ? 0 : end == 0 ? 2 : 1
      let status = unsafe message.withUnsafeBytes { bytes in
        unsafe pando_nats_publish(
          connection.context, target.stream, target.subject, bytes.baseAddress, CInt(bytes.count),
          name, expects, end ?? 0, milliseconds, &ack)
      }
      guard status == NATS_OK else {
        let reason = "\(link.server(connection)): \(target.subject): \(natsText(status))"
        if let refusal = link.refusal(after: refusals) {
          throw LogFault.unavailable("\(link.server(connection)): \(target.subject): \(refusal)")
        }
        switch NATSStatus.append(status, ack.code) {
        case .endsElsewhere: throw LogFault.endsElsewhere
        case .notNow:
          throw NATSNotNow(reason: "\(target.subject): \(natsText(status))")
        case .refused: throw LogFault.unavailable(reason)
        case .unknown: throw LogFault.noAnswer
        }
      }
      guard !ack.is_other_stream, ack.sequence > 0 else {
        throw LogFault.unavailable(
          "\(link.server(connection)): \(target.subject) belongs to another stream than "
            + target.stream)
      }
      return ack.sequence
    }

    /// Returns the state of a stream.
    func look(_ stream: String, _ subject: String) throws -> pando_nats_stream {
      guard let found = try lookIfThere(stream, subject) else {
        throw LogFault.unavailable("\(link.server(nil)): there is no stream \(stream)")
      }
      return found
    }

    func lookIfThere(_ stream: String, _ subject: String) throws -> pando_nats_stream? {
      try link.call { [self] connection, milliseconds in
        let refusals = link.refusalCount
        var found = pando_nats_stream()
        var code: CInt = 0
        let status = unsafe pando_nats_look(
          connection.context, stream, subject, milliseconds, &code, &found)
        if status == NATS_OK { return found }
        if NATSStatus.isAbsent(status, code) { return nil }
        throw link.fault(status, code, "stream \(stream)", connection, since: refusals)
      }
    }

    /// Checks that a stream exists and is valid; creates it on request.
    ///
    /// - Parameters:
    ///   - stream: The name.
    ///   - subject: The subject.
    ///   - isLog: Whether the stream is the log, not the copies.
    ///   - makes: Whether to create a missing stream.
    /// - Throws: ``LogFault`` `unavailable`.
    func findStream(_ stream: String, _ subject: String, isLog: Bool, makes: Bool) throws {
      if let found = try lookIfThere(stream, subject) {
        return try check(found, stream, subject, isLog: isLog)
      }
      guard makes else {
        throw LogFault.unavailable(
          "\(link.server(nil)): there is no stream \(stream); a new log is begun with makesStream, and one that "
            + "was lost is repaired")
      }
      try link.call { [self] connection, milliseconds in
        let refusals = link.refusalCount
        var code: CInt = 0
        let age = isLog ? Int64(configuration.maximalAgeInSeconds) * 1_000_000_000 : 0
        let status = unsafe pando_nats_make(
          connection.context, stream, subject, Int64(configuration.replicas), age,
          isLog ? Int64(configuration.maximalByteCount) : 0,
          Int32(Self.messageByteCount + Self.envelopeByteCount),
          age > 0 ? min(Self.duplicatesWindow, age) : Self.duplicatesWindow, !isLog, milliseconds,
          &code)
        if status == NATS_OK || NATSStatus.isTaken(code) { return }
        throw link.fault(status, code, "making stream \(stream)", connection, since: refusals)
      }
      try check(try look(stream, subject), stream, subject, isLog: isLog)
    }

    private func check(
      _ found: pando_nats_stream, _ stream: String, _ subject: String, isLog: Bool
    ) throws(LogFault) {
      let least = Int64(Self.messageByteCount)
      let wrong: String? =
        if !found.has_subject {
          "it does not keep the subject \(subject)"
        } else if !found.is_kept_on_disk {
          "it is not kept on disk"
        } else if !found.is_limited_only || found.is_changed {
          "it is fed or emptied by others than its limits"
        } else if isLog, !found.discards_old {
          "it refuses messages when it is full"
        } else if found.message_size > 0, found.message_size < least {
          "it takes messages of \(found.message_size) bytes at most, and the log needs \(least)"
        } else {
          nil
        }
      if let wrong {
        throw .unavailable("\(link.server(nil)): the stream \(stream) can't hold the log: \(wrong)")
      }
    }

    /// Returns a message and its time in nanoseconds since 1970; `nil` if it does not exist.
    func message(
      at position: UInt64, of stream: String
    ) throws -> (subject: String, bytes: [UInt8], time: Int64)? {
      try link.call { [self] connection, milliseconds in
        let refusals = link.refusalCount
        var message: OpaquePointer?
        var code: CInt = 0
        let status = unsafe pando_nats_get(
          connection.context, stream, position, milliseconds, &message, &code)
        guard status == NATS_OK, let message = unsafe message else {
          if NATSStatus.isAbsent(status, code) { return nil }
          throw link.fault(
            status, code, "position \(position) of stream \(stream)", connection, since: refusals)
        }
        defer { unsafe natsMsg_Destroy(message) }
        let subject = unsafe natsMsg_GetSubject(message).map { unsafe String(cString: $0) }
        return (subject ?? "", unsafe natsBytes(message), unsafe natsMsg_GetTime(message))
      }
    }
  }
#endif
