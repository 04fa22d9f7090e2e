#if PostgreSQL
  import PandoReplication
  import PandoSystem

  /// The thread of a log: it tells of messages as they come, and lets go of those that are kept no longer.
  final class PostgreSQLWatch: Sendable {
    fileprivate struct State {
      var onEnd: (@Sendable (UInt64) -> Void)?
      /// What the closure was told last.
      var told: UInt64 = 0
      /// How much was appended since messages were let go, and when that was.
      var appendedCount = 0
      var appendedByteCount = 0
      var trimmedAt: Int64 = 0
      /// Whether there is a thread.
      var isRunning = false
      var isClosed = false
    }

    private let link: PostgreSQLLink
    private let tables: PostgreSQLTables
    private let state = Monitor(State())

    init(_ link: PostgreSQLLink, _ tables: PostgreSQLTables) {
      (self.link, self.tables) = (link, tables)
    }

    /// Has a closure told of the position of messages that come.
    func follow(_ onEnd: @escaping @Sendable (UInt64) -> Void) {
      change { state in (state.onEnd, state.told) = (onEnd, 0) }
    }

    /// Notes that a message was appended here.
    func noteAppended(_ byteCount: Int) {
      change { state in
        state.appendedCount += 1
        state.appendedByteCount += byteCount
      }
    }

    /// Ends it; nobody is told of anything when this returns.
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
      var pause = Self.pauseMinimum
      repeat {
        let began = monotonicNanoseconds()
        do {
          try serve(try link.connect(until: deadline))
        } catch {
          // The calls of the log say what is wrong.
          if monotonicNanoseconds() - began > Self.pauseMaximum { pause = Self.pauseMinimum }
          if !link.wait(pause) { break }
          pause = min(pause * 2, Self.pauseMaximum)
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
      } catch let failure as PostgreSQLFailure where failure.kind == .refused {
        // A role that may not delete leaves it to others.
      }
    }

    private var deadline: Int64 { monotonicNanoseconds() + link.timeout }

    /// Tells of a position.
    ///
    /// - Parameter choose: Gets what was told last, and returns what is to be told.
    private func tell(_ choose: (UInt64) -> UInt64?) {
      let news = state.withLock { state -> (body: @Sendable (UInt64) -> Void, UInt64)? in
        guard let body = state.onEnd, let position = choose(state.told) else { return nil }
        state.told = position
        return (body, position)
      }
      if let (body, position) = news { body(position) }
    }

    /// In nanoseconds, between two looks at the end.
    private static let lookInterval: Int64 = 1_000_000_000
    /// In nanoseconds, between two connections.
    private static let pauseMinimum: Int64 = 100_000_000
    private static let pauseMaximum: Int64 = 5_000_000_000
  }

  extension PostgreSQLWatch.State {
    /// Whether it is time to let messages go; says so once.
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
