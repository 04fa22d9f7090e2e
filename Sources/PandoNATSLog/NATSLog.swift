#if NATS
  import CPandoNATS
  public import PandoReplication
  import PandoSystem

  /// A log over a stream of NATS JetStream.
  ///
  /// Positions are the stream's sequence numbers. A push consumer delivers messages and reports new
  /// ones (``NATSFeed``). Pando checks them: servers have lost and repeated messages before, and
  /// operators can edit streams.
  ///
  /// One thread at a time should append, read and handle snapshots; concurrent calls are allowed,
  /// and wait for each other where necessary.
  ///
  /// ```swift
  /// let log = try NATSLog(
  ///   NATSLogConfiguration(servers: ["nats://127.0.0.1:4222"], stream: "orders"))
  /// let store = try ReplicatedStore(path: "/var/lib/shop", log: log)
  /// ```
  public final class NATSLog: ReplicationLog {
    /// The largest message of a log, in bytes.
    static let messageByteCount = EntryLimits.partByteCount
    /// The maximum number of bytes that the library adds to a message.
    static let envelopeByteCount = 4096
    /// In nanoseconds: how long the servers recognize names, in streams that Pando creates.
    static let duplicatesWindow: Int64 = 120_000_000_000

    let configuration: NATSLogConfiguration
    let link: NATSLink
    private let feed: NATSFeed
    /// Whether a thread reads.
    private let isReading = Monitor(false)
    /// Whether the streams were found and checked.
    private let isFound = Locked(false)
    /// The missing guarantees; `nil` until all servers were checked.
    private let promises = Monitor<[String]?>(nil)

    /// Connects to a log.
    ///
    /// With ``NATSLogConfiguration/makesStream``, it creates missing streams.
    ///
    /// If no server is reachable, or an election takes longer than a request waits, the first call
    /// that reaches a server does this.
    ///
    /// - Parameter configuration: The settings of the log.
    /// - Throws: ``LogFault`` `unavailable` if a server refuses, or the stream can't hold a log.
    ///   The error names the server and the reason.
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
    ///   - message: The bytes, at most slightly more than 512 KiB.
    ///   - name: The name by which the servers recognize a repetition, for two minutes.
    ///   - end: If given, the log appends only if this is the position of the last message.
    /// - Returns: The position.
    /// - Throws: `LogFault`: `noAnswer` after the request timeout, or if the connection was cut.
    public func append(
      _ message: [UInt8], named name: String, expecting end: UInt64?
    ) throws -> UInt64 {
      try find()
      if end == 0, try self.end() > 0 { throw LogFault.endsElsewhere }
      let position = try link.publish(
        message, to: (configuration.stream, configuration.streamSubject), named: name,
        expecting: end)
      // The server checks an empty subject only, and several appends can pass that check at once.
      if end == 0, position > 1 { throw LogFault.endsElsewhere }
      feed.noteAppended(at: position)
      return position
    }

    /// Reads the next messages; see `ReplicationLog`.
    ///
    /// - Parameters:
    ///   - position: The position before the first message.
    ///   - limit: The maximum number, at least 1.
    /// - Returns: The messages, in order; empty at the end of the log.
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
        let stream = try link.look()
        if stream.last <= position { return [] }
        if stream.first > position + 1 { throw LogFault.gone(first: stream.first) }
        end = stream.last
      }
    }

    /// Reads one message from the stream's leader; see `ReplicationLog`.
    ///
    /// - Parameter position: The position, from 1.
    /// - Returns: The message; `nil` if the log has none there.
    /// - Throws: `LogFault`.
    public func message(at position: UInt64) throws -> LoggedMessage? {
      try find()
      return try link.message(at: position, of: configuration.stream).map {
        LoggedMessage(position: position, bytes: $0.bytes)
      }
    }

    /// The number of subscriptions; a gap, a missing heartbeat or a new connection adds one.
    public var interruptionCount: UInt64 { feed.subscriptionCount }

    /// The position of the last message, read from the server.
    ///
    /// - Returns: The position; 0 if there is none.
    /// - Throws: `LogFault`.
    public func end() throws -> UInt64 {
      try find()
      return try link.end()
    }

    /// Sets a closure that receives the positions of new messages; see `ReplicationLog`.
    ///
    /// - Parameter onEnd: Receives positions, on a thread of the log.
    public func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
      feed.follow(onEnd)
    }

    /// Ends the connection; waiting and later calls throw.
    public func close() {
      guard link.close() else { return }
      isReading.notifyAll()
      feed.close()
    }

    /// Checks the streams, once.
    func find() throws {
      if isFound.withLock(\.self) { return }
      try findStream(configuration.stream, configuration.streamSubject, isLog: true)
      if configuration.makesStream { try findSnapshotStream() }
      if isFound.withLock({ exchange(&$0, with: true) }) { return }
      let replicas = try link.look().replicas
      // Other threads check the servers, because a server may hang.
      SharedThreads.runSomewhere { [configuration, addresses = link.addresses, promises] in
        let found = NATSPromises(configuration, addresses, replicas: replicas).warnings
        promises.withLock { $0 = found }
        promises.notifyAll()
      }
    }

    /// The guarantees that the log lacks in its present setup; see `ReplicationLog`.
    ///
    /// Pando checks the servers once, when it first reaches the log. It checks the version (2.10.23
    /// or later), the number of replicas, and, through ``NATSLogConfiguration/monitors``, whether
    /// servers flush each message (`sync_interval: always`). The list is empty until the end of the
    /// check; a silent server delays it by a second.
    public var warnings: [String] { promises.withLock(\.self) ?? [] }

    /// Returns the warnings, after the check of the servers.
    func waitForWarnings() -> [String] { promises.waiting(for: \.self) }

    /// Waits until no other thread reads.
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

    /// Reads one message without a consumer: a store checks a log before it follows it.
    private func message(behind position: UInt64) throws -> [LoggedMessage] {
      if let found = try message(at: position + 1) { return [found] }
      let stream = try link.look()
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
