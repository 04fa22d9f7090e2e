#if NATS
  import CPandoNATS
  import PandoReplication

  /// A message of a stream.
  struct NATSMessage: Sendable {
    let sequence: UInt64
    let subject: String
    let bytes: [UInt8]
    /// In nanoseconds since 1970.
    let time: Int64

    init(_ message: OpaquePointer) {
      sequence = unsafe natsMsg_GetSequence(message)
      subject = unsafe natsMsg_GetSubject(message).map { unsafe String(cString: $0) } ?? ""
      bytes = unsafe natsBytes(message)
      time = unsafe natsMsg_GetTime(message)
    }
  }

  /// Calls for a whole stream, or for one of its messages.
  extension NATSLink {
    /// Publishes a message.
    ///
    /// - Parameters:
    ///   - message: The bytes.
    ///   - target: The stream and the subject.
    ///   - name: The name by which the servers recognize a repetition.
    ///   - end: If given, the servers append only if this is the last position.
    /// - Returns: The position.
    /// - Throws: ``LogFault``.
    func publish(
      _ message: [UInt8], to target: (stream: String, subject: String), named name: String?,
      expecting end: UInt64?
    ) throws -> UInt64 {
      try call(target.subject, isAppend: true) { connection, milliseconds in
        var ack = pando_nats_ack()
        let expects: CInt = end == nil ? 0 : end == 0 ? 2 : 1
        let status = unsafe message.withUnsafeBytes { bytes in
          unsafe pando_nats_publish(
            connection.context, target.stream, target.subject, bytes.baseAddress,
            CInt(bytes.count), name, expects, end ?? 0, milliseconds, &ack)
        }
        guard status == NATS_OK else {
          if NATSStatus.endsElsewhere(ack.code) { throw LogFault.endsElsewhere }
          throw LogFailure(NATSStatus.append(status, ack.code), natsText(status))
        }
        guard !ack.is_other_stream, ack.sequence > 0 else {
          throw LogFailure(.refused, "it belongs to another stream than \(target.stream)")
        }
        return ack.sequence
      }
    }

    /// Returns the state of the stream of the log.
    func look() throws -> pando_nats_stream {
      try look(configuration.stream, configuration.streamSubject)
    }

    /// Returns the last position of the log.
    func end() throws -> UInt64 { try look().last }

    /// Returns the state of a stream.
    func look(_ stream: String, _ subject: String) throws -> pando_nats_stream {
      guard let found = try lookIfThere(stream, subject) else { throw isMissing(stream) }
      return found
    }

    func isMissing(_ stream: String) -> LogFault {
      .unavailable("\(servers): there is no stream \(stream)")
    }

    func lookIfThere(_ stream: String, _ subject: String) throws -> pando_nats_stream? {
      try request("stream \(stream)") { connection, milliseconds, code in
        var found = pando_nats_stream()
        let status = unsafe pando_nats_look(
          connection.context, stream, subject, milliseconds, &code, &found)
        return (status, found)
      }
    }

    /// Returns a message; `nil` if it does not exist.
    func message(at position: UInt64, of stream: String) throws -> NATSMessage? {
      try unsafe message("position \(position) of stream \(stream)") {
        connection, milliseconds, message, code in
        unsafe pando_nats_get(connection.context, stream, position, milliseconds, &message, &code)
      }
    }
  }

  extension NATSLog {
    /// Checks that a stream exists and is valid; creates it if the configuration says so.
    ///
    /// - Parameters:
    ///   - stream: The name.
    ///   - subject: The subject.
    ///   - isLog: Whether the stream is the log, not the copies.
    /// - Throws: ``LogFault`` `unavailable`.
    func findStream(_ stream: String, _ subject: String, isLog: Bool) throws {
      if let found = try link.lookIfThere(stream, subject) {
        return try check(found, stream, subject, isLog: isLog)
      }
      guard configuration.makesStream else {
        throw LogFault.unavailable(
          "\(link.servers): there is no stream \(stream); a new log is begun with makesStream, and one that "
            + "was lost is repaired")
      }
      _ = try link.request("making stream \(stream)") {
        [configuration] connection, milliseconds, code in
        let age = isLog ? Int64(configuration.maximalAgeInSeconds) * 1_000_000_000 : 0
        let status = unsafe pando_nats_make(
          connection.context, stream, subject, Int64(configuration.replicas), age,
          isLog ? Int64(configuration.maximalByteCount) : 0,
          Int32(Self.messageByteCount + Self.envelopeByteCount),
          age > 0 ? min(Self.duplicatesWindow, age) : Self.duplicatesWindow, !isLog, milliseconds,
          &code)
        return (NATSStatus.isTaken(code) ? NATS_OK : status, ())
      }
      try check(try link.look(stream, subject), stream, subject, isLog: isLog)
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
          "its retention is not by limits, it has a mirror or sources, or it does not acknowledge"
        } else if isLog, !found.discards_old {
          "it refuses messages when it is full"
        } else if found.message_size > 0, found.message_size < least {
          "it takes messages of \(found.message_size) bytes at most, and the log needs \(least)"
        } else {
          nil
        }
      if let wrong {
        throw .unavailable("\(link.servers): the stream \(stream) can't hold the log: \(wrong)")
      }
    }
  }
#endif
