#if NATS
  import CPandoNATS
  public import PandoReplication
  import PandoSystem

  /// A log over a stream of NATS JetStream.
  ///
  /// The stream's sequence numbers are the positions. Messages come through a consumer that pushes them
  /// (``NATSFeed``), which also tells of what others append. What is found is checked: the engine has lost and
  /// repeated messages before, and streams can be edited.
  ///
  /// ``append(_:named:expecting:)``, ``messages(after:limit:)``, and the calls of snapshots come from one
  /// thread at a time; more may come, and wait for each other where they have to.
  ///
  /// ```swift
  /// let log = try NATSLog(
  ///   NATSLogConfiguration(servers: ["nats://127.0.0.1:4222"], stream: "orders"))
  /// let store = try ReplicatedStore(path: "/var/lib/shop", log: log)
  /// ```
  public final class NATSLog: ReplicationLog {
    /// The largest message of a log, in bytes.
    static let messageByteCount = EntryLimits.partByteCount
    /// What the engine adds to a message at most, in bytes.
    static let envelopeByteCount = 4096
    /// In nanoseconds: how long the engine knows messages by name.
    static let duplicatesWindow: Int64 = 120_000_000_000

    let configuration: NATSLogConfiguration
    let link: NATSLink
    private let feed: NATSFeed
    /// Whether somebody reads.
    private let isReading = Monitor(false)
    /// Whether the streams were there, and as they have to be.
    private let isFound = Locked(false)
    /// The promises that the servers lack; `nil` as long as they have not been asked.
    private let promises = Monitor<[String]?>(nil)

    /// Connects to a log.
    ///
    /// With ``NATSLogConfiguration/makesStream`` it makes the streams that are not there.
    ///
    /// Where the servers are away, or elect a leader for longer than a request waits, that is done with the first call
    /// that reaches them.
    ///
    /// - Parameter configuration: Where it is.
    /// - Throws: ``LogFault`` `unavailable` where the servers refuse, or the stream can't hold a log; it names the server
    ///   and what is wrong.
    public init(_ configuration: NATSLogConfiguration) throws {
      self.configuration = configuration
      try Self.check(configuration)
      link = try NATSLink(configuration)
      feed = NATSFeed(link)
      guard link.isConnected else { return }
      do {
        try find()
      } catch {
        if link.wasAway { return }
        close()
        throw error
      }
    }

    deinit { close() }

    /// Appends a message; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - message: Its bytes, 512 KiB and a little at most.
    ///   - name: What the engine knows it by for two minutes.
    ///   - end: The position of the last message, if it is to be refused behind any other.
    /// - Returns: Its position.
    /// - Throws: `LogFault`: `noAnswer` when the request timeout is over, or the connection was cut.
    public func append(
      _ message: [UInt8], named name: String, expecting end: UInt64?
    ) throws -> UInt64 {
      try find()
      if end == 0, try self.end() > 0 { throw LogFault.endsElsewhere }
      let position = try link.call(isAppend: true) { [self] connection, milliseconds in
        try publish(
          message, to: (configuration.stream, configuration.streamSubject), named: name,
          expecting: end, connection, milliseconds)
      }
      // The engine's check that there is nothing is one of the subject, which several can pass at once.
      if end == 0, position > 1 { throw LogFault.endsElsewhere }
      feed.noteAppended(at: position)
      return position
    }

    /// Reads the next messages; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - position: The position behind which they begin.
    ///   - limit: How many at most; at least 1.
    /// - Returns: The messages; none if there are none.
    /// - Throws: `LogFault`.
    public func messages(after position: UInt64, limit: Int) throws -> [LoggedMessage] {
      precondition(limit > 0, "a limit of \(limit) messages")
      try find()
      try begin()
      defer { finish() }
      if limit == 1, !feed.isWanted { return try message(behind: position) }
      let deadline = min(monotonicNanoseconds() + link.timeout, LogDeadline.nanoseconds ?? .max)
      var end: UInt64 = 0
      while true {
        let messages = try feed.take(after: position, limit: limit, until: end, deadline: deadline)
        if !messages.isEmpty { return messages }
        if end > position { continue }
        let stream = try look(configuration.stream, configuration.streamSubject)
        if stream.last <= position { return [] }
        if stream.first > position + 1 { throw LogFault.gone(first: stream.first) }
        end = stream.last
      }
    }

    /// Reads one message, by a request to the server that leads the stream; see `ReplicationLog`.
    ///
    /// - Parameter position: Its position, from 1.
    /// - Returns: The message; `nil` if it is not there.
    /// - Throws: `LogFault`.
    public func message(at position: UInt64) throws -> LoggedMessage? {
      try find()
      return try message(at: position, of: configuration.stream).map {
        LoggedMessage(position: position, bytes: $0.bytes)
      }
    }

    /// How often messages had to be subscribed to anew: behind a gap, without a heartbeat, or over a new connection.
    public var interruptionCount: UInt64 { feed.subscriptionCount }

    /// The position of the last message, by a request to the engine.
    ///
    /// - Returns: The position; 0 if there is none.
    /// - Throws: `LogFault`.
    public func end() throws -> UInt64 {
      try find()
      return try look(configuration.stream, configuration.streamSubject).last
    }

    /// Has a closure told of messages as they come; see `ReplicationLog`.
    ///
    /// - Parameter onEnd: Gets positions, on a thread of the log.
    public func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
      feed.follow(onEnd)
    }

    /// Ends the connection; later calls throw.
    public func close() {
      guard link.close() else { return }
      isReading.notifyAll()
      feed.close()
    }

    /// Sees, once, that the streams are there and as they have to be.
    func find() throws {
      if isFound.withLock(\.self) { return }
      try findStream(
        configuration.stream, configuration.streamSubject, isLog: true,
        makes: configuration.makesStream)
      if configuration.makesStream { try findSnapshotStream() }
      if isFound.withLock({ exchange(&$0, with: true) }) { return }
      let replicas = try look(configuration.stream, configuration.streamSubject).replicas
      // Servers that stand still are not waited for.
      SharedThreads.runSomewhere { [configuration, addresses = link.addresses, promises] in
        let found = NATSPromises(configuration, addresses, replicas: replicas).warnings
        promises.withLock { $0 = found }
        promises.notifyAll()
      }
    }

    /// What the log does not promise as it is set up; see `ReplicationLog`.
    ///
    /// Servers are asked once, when the log is first reached: for their version, which should be 2.10.23 or later, how many
    /// keep the stream, and, at their ``NATSLogConfiguration/monitors``, whether they flush each message
    /// (`sync_interval: always`). It is empty until all have been asked, one after another; one that does not answer takes
    /// a second.
    public var warnings: [String] { promises.withLock(\.self) ?? [] }

    /// The same, as soon as the servers have been asked.
    func waitForWarnings() -> [String] { promises.waiting(for: \.self) }

    /// Lets one thread read at a time.
    private func begin() throws {
      let isMine = isReading.waiting { [link] (isReading: inout Bool) -> Bool? in
        if link.isClosed { return false }
        if isReading { return nil }
        isReading = true
        return true
      }
      guard isMine else { throw LogFault.unavailable("the log is closed") }
    }

    private func finish() {
      isReading.withLock { $0 = false }
      isReading.notify()
    }

    /// One message, without a consumer: a log is looked at before it is followed.
    private func message(behind position: UInt64) throws -> [LoggedMessage] {
      if let found = try message(at: position + 1, of: configuration.stream) {
        return [LoggedMessage(position: position + 1, bytes: found.bytes)]
      }
      let stream = try look(configuration.stream, configuration.streamSubject)
      if stream.last <= position { return [] }
      throw LogFault.gone(first: max(stream.first, position + 2))
    }
  }

  extension NATSLog {
    private static func check(_ configuration: NATSLogConfiguration) throws(LogFault) {
      let stream = configuration.stream
      guard !stream.isEmpty, stream.utf8.count <= 200,
        stream.utf8.allSatisfy({ byte in
          UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
        })
      else { throw .unavailable("“\(stream)” can't be the name of a stream") }
      let subject = configuration.streamSubject
      let words = subject.split(separator: ".", omittingEmptySubsequences: false)
      guard words.allSatisfy({ !$0.isEmpty && !$0.contains { " *>\t\r\n\0".contains($0) } })
      else { throw .unavailable("“\(subject)” can't be a subject") }
    }
  }
#endif
