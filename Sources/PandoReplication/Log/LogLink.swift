package import PandoSystem

/// A connection to a server of a log.
package protocol LogConnection: AnyObject, Sendable {
  /// The server, in errors.
  var server: String { get }
  /// Whether a call can begin.
  var isUsable: Bool { get }
}

/// The connections of a log, behind the lock of its link.
package protocol LogConnections {
  associatedtype Connection: LogConnection
  var isClosed: Bool { get set }
  /// Whether the last failed call reached no server that could answer.
  var wasAway: Bool { get set }
  /// The error of the last attempt to connect; `nil` after a success.
  var trouble: LogFailure? { get set }
  /// The error of a call for which there is no connection in time.
  var absence: String { get }

  /// Gives a connection to a call, if there is one.
  mutating func take() -> Connection?
  /// Begins an attempt to connect, if one is due.
  ///
  /// - Returns: The number of the attempt, or the time of the next look.
  mutating func beginAttempt(_ now: Int64) -> LogAttempt
}

/// Whether an attempt to connect begins.
package enum LogAttempt {
  case begin(Int)
  case wait(until: Int64)
}

/// The link of a log to its servers: it connects again after a loss, and repeats calls.
package protocol LogLink: AnyObject, Sendable {
  associatedtype Connections: LogConnections
  var state: Monitor<Connections> { get }
  /// In nanoseconds: how long a call waits for the servers.
  var timeout: Int64 { get }

  /// Makes an attempt to connect, and leaves its result in the state.
  func attempt(_ number: Int, until deadline: Int64)
  /// Takes a connection back after a call.
  func giveBack(_ connection: Connections.Connection, after failure: LogFailure?)
}

extension LogLink {
  package typealias Connection = Connections.Connection

  package var isClosed: Bool { state.withLock(\.isClosed) }

  /// Whether the last failed call reached no server that could answer: a later one may.
  package var wasAway: Bool { state.withLock(\.wasAway) }

  /// Waits for a time.
  ///
  /// - Returns: Whether the log is still open.
  package func wait(_ nanoseconds: Int64) -> Bool {
    let deadline = monotonicNanoseconds() + nanoseconds
    return state.waiting(until: deadline) { $0.isClosed ? false : nil } ?? true
  }

  /// Runs a closure with a connection, until it has an answer or the time is up.
  ///
  /// - Parameters:
  ///   - what: The operation, for errors.
  ///   - isAppend: Whether a lost answer forbids a repetition. With a deadline of the caller (``LogDeadline``), an append
  ///     waits half of the time, since the caller repeats it.
  ///   - body: Receives the connection and the deadline. The link calls it again after a ``LogFailure`` that may pass.
  /// - Returns: The result of the closure.
  /// - Throws: ``LogFault``; other errors of the closure.
  package func repeating<Result>(
    _ what: String, isAppend: Bool = false, _ body: (Connection, Int64) throws -> Result
  ) throws -> Result {
    let limit = LogDeadline.nanoseconds
    let deadline = min(monotonicNanoseconds() + timeout, limit ?? .max)
    while true {
      let connection = try connection(until: deadline)
      var end = deadline
      if isAppend, limit != nil {
        let now = monotonicNanoseconds()
        end = now + max((deadline - now) / 2, min(deadline - now, appendWaitMinimum))
      }
      do {
        let result = try body(connection, end)
        giveBack(connection, after: nil)
        return result
      } catch let failure as LogFailure {
        giveBack(connection, after: failure)
        if isAppend, failure.kind == .lost || failure.kind == .closed { throw LogFault.noAnswer }
        let isPassing =
          failure.kind != .refused
          && monotonicNanoseconds() + repetitionPause < deadline && wait(repetitionPause)
        if isPassing { continue }
        if isClosed { throw isClosedFault }
        state.withLock { $0.wasAway = failure.kind != .refused }
        throw LogFault.unavailable("\(connection.server): \(what): \(failure.reason)")
      } catch {
        giveBack(connection, after: nil)
        state.withLock { $0.wasAway = false }
        throw error
      }
    }
  }

  /// Returns a connection, as soon as there is one.
  ///
  /// - Throws: ``LogFault`` `unavailable`.
  private func connection(until deadline: Int64) throws(LogFault) -> Connection {
    while true {
      let step = state.waiting {
        (state: inout Connections, nanoseconds: inout Int64?) -> LogStep<Connection>? in
        if state.isClosed { return .fail(isClosedFault) }
        if let connection = state.take() { return .use(connection) }
        let now = monotonicNanoseconds()
        if now >= deadline {
          state.wasAway = state.trouble?.isAway ?? true
          return .fail(.unavailable(state.absence))
        }
        switch state.beginAttempt(now) {
        case .begin(let number): return .attempt(number)
        case .wait(let next):
          nanoseconds = min(deadline, next) - now
          return nil
        }
      }
      switch step {
      case .use(let connection): if connection.isUsable { return connection }
      case .attempt(let number): attempt(number, until: deadline)
      case .fail(let fault): throw fault
      }
    }
  }
}

private enum LogStep<Connection> {
  case use(Connection)
  case attempt(Int)
  case fail(LogFault)
}

private let isClosedFault = LogFault.unavailable("the log is closed")
/// In nanoseconds, between two attempts of a call.
private let repetitionPause: Int64 = 50_000_000
/// In nanoseconds: the minimal wait of an append, if that much time is left.
private let appendWaitMinimum: Int64 = 1_000_000_000
