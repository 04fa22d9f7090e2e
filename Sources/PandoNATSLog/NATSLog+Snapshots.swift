#if NATS
  import CPandoNATS
  public import PandoReplication
  import PandoSystem

  extension SnapshotRecord: LogCopy {}

  /// Copies of stores, in a second stream: parts, then a ``SnapshotRecord`` for each copy.
  extension NATSLog: LogCopies {
    /// Stores a copy of a store in the log, and keeps the two newest.
    ///
    /// - Parameters:
    ///   - position: The position that the store had applied.
    ///   - nextPart: Returns the parts of the copy, then `nil`; a part above 512 KiB is split.
    /// - Throws: ``LogFault``, and errors of `nextPart`. The copy is then invalid.
    public func putSnapshot(at position: UInt64, _ nextPart: () throws -> [UInt8]?) throws {
      try find()
      try findSnapshotStream()
      let name = "\(UInt64.random(in: 0...UInt64.max))"
      var record = SnapshotRecord(position: position)
      try split(Self.snapshotPartByteCount, nextPart) { part in
        let sequence = try publishPart(
          SnapshotRecord.message(of: part), to: partSubject, "\(name)-\(record.partCount)")
        record.add(part, at: sequence)
      }
      let bytes = record.bytes
      guard bytes.count <= Self.messageByteCount else {
        throw LogFault.unavailable("a copy of \(record.partCount) parts is too large for the log")
      }
      _ = try publishPart(bytes, to: closingSubject, "\(name)-end")
      try forgetOldSnapshots()
    }

    func findSnapshotStream() throws {
      try findStream(
        configuration.snapshotStream, "\(configuration.snapshotSubject).>", isLog: false)
    }

    /// Reads the newest complete copy.
    ///
    /// - Parameter body: Receives the parts in order.
    /// - Returns: The position that the store had applied; `nil` if there is no copy.
    /// - Throws: ``LogFault``, and errors of `body`.
    public func readSnapshot(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
      try readNewestCopy(body)
    }

    /// The position of the newest copy; see `ReplicationLog`.
    ///
    /// - Returns: The position; `nil` if there is none.
    /// - Throws: `LogFault`.
    public func snapshotPosition() throws -> UInt64? { try copies().first?.position }

    /// The share of the retention limits used since a position; see `ReplicationLog`.
    ///
    /// - Parameter position: The position.
    /// - Returns: The larger share of the age limit and the size limit.
    /// - Throws: `LogFault`.
    public func retentionUsed(since position: UInt64) throws -> Double {
      try find()
      let stream = try link.look()
      guard stream.last > position else { return 0 }
      if position + 1 < stream.first { return 1 }
      var used = 0.0
      if stream.bytes_maximum > 0, stream.count > 0 {
        let part = Double(stream.last - position) / Double(stream.count)
        used = part * Double(stream.bytes) / Double(stream.bytes_maximum)
      }
      guard stream.age > 0 else { return used }
      let name = configuration.stream
      guard let first = try link.message(at: position + 1, of: name) else { return 1 }
      let age = try time(of: name) - first.time
      return max(used, Double(age) / Double(stream.age))
    }

    /// The age of the newest copy, by the clock of the servers; see `ReplicationLog`.
    ///
    /// - Returns: The age; `nil` if there is no copy.
    /// - Throws: `LogFault`.
    public func snapshotAge() throws -> Duration? {
      try find()
      let stream = configuration.snapshotStream
      guard let last = try lastClosing(of: stream) else { return nil }
      return .nanoseconds(max(0, try time(of: stream) - last.time))
    }

    /// Returns the time at the leader of a stream, in nanoseconds since 1970.
    ///
    /// It reads the creation time of a consumer: servers before 2.10 report the time nowhere else.
    private func time(of stream: String) throws -> Int64 {
      let time = try link.request("the time of stream \(stream)") {
        connection, milliseconds, code in
        var time: Int64 = 0
        var name = [CChar](repeating: 0, count: 256)
        let status = unsafe pando_nats_time(
          connection.context, stream, milliseconds, &name, CInt(name.count), &time, &code)
        if status == NATS_OK {
          connection.signal("$JS.API.CONSUMER.DELETE.\(stream).\(natsText(name))")
        }
        return (status, time)
      }
      guard let time else { throw link.isMissing(stream) }
      return time
    }

    /// Empties the log: removes all messages and copies.
    ///
    /// For a log that continues from one store, without followers. Positions are not reset.
    ///
    /// - Throws: `LogFault` `unavailable`; some messages may be removed by then.
    /// - Complexity: O(size of the removed messages), at the server.
    public func removeAll() throws {
      try find()
      for stream in [configuration.stream, configuration.snapshotStream] {
        try purge(stream, before: 0, "emptying stream \(stream)")
      }
    }

    /// Removes the messages of a stream, if there is one, before a position; all if that is 0.
    private func purge(_ stream: String, before first: UInt64, _ what: String) throws {
      _ = try link.request(what) { connection, milliseconds, code in
        (unsafe pando_nats_purge(connection.context, stream, first, milliseconds, &code), ())
      }
    }

    private var partSubject: String { "\(configuration.snapshotSubject).part" }
    private var closingSubject: String { "\(configuration.snapshotSubject).end" }

    package func forEachPart(
      of record: SnapshotRecord, _ body: ([UInt8]) throws -> Void
    ) throws -> Bool {
      var found = SnapshotRecord(position: record.position)
      for sequence in record.sequences {
        guard let message = try link.message(at: sequence, of: configuration.snapshotStream),
          message.subject == partSubject, let part = SnapshotRecord.part(of: message.bytes)
        else { return false }
        found.add(part, at: sequence)
        try body(part)
      }
      return found == record
    }

    private func publishPart(
      _ bytes: [UInt8], to subject: String, _ name: String
    ) throws -> UInt64 {
      var attempts = 0
      while true {
        do {
          return try link.publish(
            bytes, to: (configuration.snapshotStream, subject), named: name, expecting: nil)
        } catch LogFault.noAnswer where attempts < Self.attemptMaximum {
          // The servers recognize the name of a stored part.
          attempts += 1
        }
      }
    }

    package func copies() throws -> [SnapshotRecord] {
      try find()
      let stream = configuration.snapshotStream
      guard let last = try lastClosing(of: stream)?.sequence else { return [] }
      var records: [SnapshotRecord] = []
      var next: UInt64 = 1
      while next <= last {
        let found = try closing(from: next, of: stream)
        if let record = SnapshotRecord(found.bytes) { records.append(record) }
        next = found.sequence + 1
      }
      // A recreated log has copies with lower positions than before.
      return records.reversed()
    }

    /// Returns the last record; `nil` if there is none.
    private func lastClosing(of stream: String) throws -> NATSMessage? {
      try unsafe link.message("copies in stream \(stream)") {
        [closingSubject] connection, milliseconds, message, code in
        unsafe pando_nats_last(
          connection.context, stream, closingSubject, milliseconds, &message, &code)
      }
    }

    /// Returns the first record at or after a position; the record exists.
    private func closing(from sequence: UInt64, of stream: String) throws -> NATSMessage {
      let found = try unsafe link.message("copies in stream \(stream)") {
        [closingSubject] connection, milliseconds, message, code in
        let status = unsafe pando_nats_next(
          connection.context, stream, closingSubject, sequence, milliseconds, &message)
        // Any server of the stream may answer, even one that lacks the record as yet.
        return NATSStatus.isAbsent(status, 0) ? NATS_NO_RESPONDERS : status
      }
      guard let found else { throw link.isMissing(stream) }
      return found
    }

    /// Removes all messages before the two newest copies.
    private func forgetOldSnapshots() throws {
      let kept = try copies().prefix(Self.keptCopyCount)
      let firsts = kept.compactMap { record in record.runs.map(\.first).min() }
      guard kept.count == Self.keptCopyCount, let first = firsts.min(), first > 1 else { return }
      try purge(configuration.snapshotStream, before: first, "removing old copies")
    }

    /// Leaves room for the fields around a part.
    private static let snapshotPartByteCount = messageByteCount - 64
    private static let attemptMaximum = 5
  }
#endif
