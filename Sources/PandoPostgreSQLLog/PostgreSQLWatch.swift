#if PostgreSQL
  import PandoReplication
  import PandoSystem

  /// The thread of a log: it reports new messages, and removes those beyond the retention limits.
  final class PostgreSQLWatch: Sendable {
    fileprivate struct State {
      var onEnd: (@Sendable (UInt64) -> Void)?
      /// The last position passed to the closure.
      var told: UInt64 = 0
      /// The messages appended since the last removal, and the time of that removal.
      var appendedCount = 0
      var appendedByteCount = 0
      var trimmedAt: Int64 = 0
      /// Whether the thread runs.
      var isRunning = false
      var isClosed = false
    }

    private let link: PostgreSQLLink
    private let tables: PostgreSQLTables
    private let state = Monitor(State())

    init(_ link: PostgreSQLLink, _ tables: PostgreSQLTables) {
      (self.link, self.tables) = (link, tables)
    }

    /// Sets a closure that receives the positions of new messages.
    func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
      change { state in (state.onEnd, state.told) = (onEnd, 0) }
    }

    /// Counts a message appended by this log.
    func noteAppended(_ byteCount: Int) {
      change { state in
        state.appendedCount += 1
        state.appendedByteCount += byteCount
      }
    }

    /// Ends the thread; after that no callback runs.
    func close() {
      state.withLock { state in (state.isClosed, state.onEnd) = (true, nil) }
      state.waiting { $0.isRunning ? nil : () }
    }

    private func change(_ body: (inout State) -> Void) {
      let starts = state.withLock { state -> Bool in
        guard !state.isClosed else { return false }
        body(&state)
        return !exchange(&state.isRunning, with: true)
      }
      if starts { startThread(named: "pando.postgres") { [self] in run() } }
    }

    private func run() {
      // Between two attempts to connect.
      var pause = LogPause(100_000_000, upTo: Self.pauseMaximum)
      repeat {
        let began = monotonicNanoseconds()
        do {
          try serve(try link.connect(until: deadline))
        } catch {
          // The calls of the log report the error.
          if monotonicNanoseconds() - began > Self.pauseMaximum { pause.reset() }
          if !link.wait(pause.next()) { break }
        }
      } while !link.isClosed
      state.withLock { $0.isRunning = false }
      state.notifyAll()
    }

    private func serve(_ connection: PostgreSQLConnection) throws {
      var listens = false
      while true {
        if !listens, state.withLock({ $0.onEnd != nil }) {
          try connection.run("LISTEN \"\(tables.channel)\"", until: deadline)
          listens = true
        }
        if listens {
          let rows = try connection.run("SELECT last FROM \(tables.end)", until: deadline)
          if !rows.isEmpty, let last = rows.number(0, 0) {
            tell { $0 == UInt64(clamping: last) ? nil : UInt64(clamping: last) }
          }
        }
        if state.withLock({ $0.takeTrim(of: link.configuration.maximalByteCount) }) {
          try trim(connection)
        }
        let next = monotonicNanoseconds() + Self.lookInterval
        while monotonicNanoseconds() < next {
          let last = try connection.notices(until: next).compactMap { UInt64($0) }.max()
          if let last { tell { last > $0 ? last : nil } }
        }
      }
    }

    private func trim(_ connection: PostgreSQLConnection) throws {
      do {
        try tables.trim(connection) { self.deadline }
      } catch let failure as LogFailure where failure.kind == .refused {
        // The role may not delete; another machine does it.
      }
    }

    private var deadline: Int64 { monotonicNanoseconds() + link.timeout }

    /// Calls the closure with a position.
    ///
    /// - Parameter choose: Receives the last reported position; returns the next one, if any.
    private func tell(_ choose: (UInt64) -> UInt64?) {
      let news = state.withLock { state -> (body: @Sendable (UInt64) -> Void, UInt64)? in
        guard let body = state.onEnd, let position = choose(state.told) else { return nil }
        state.told = position
        return (body, position)
      }
      if let (body, position) = news { body(position) }
    }

    /// In nanoseconds, between two reads of the end.
    private static let lookInterval: Int64 = 1_000_000_000
    /// In nanoseconds.
    private static let pauseMaximum: Int64 = 5_000_000_000
  }

  extension PostgreSQLWatch.State {
    /// Whether a removal is due; resets the counts if it is.
    fileprivate mutating func takeTrim(of byteCount: Int) -> Bool {
      let now = monotonicNanoseconds()
      guard appendedCount > 0,
        now - trimmedAt > Self.trimInterval || byteCount > 0 && appendedByteCount >= byteCount / 16
      else { return false }
      (appendedCount, appendedByteCount, trimmedAt) = (0, 0, now)
      return true
    }

    /// In nanoseconds.
    private static let trimInterval: Int64 = 10_000_000_000
  }
#endif
