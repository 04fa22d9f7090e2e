import PandoSystem
import Synchronization

extension Environment {
  /// Runs `body` in a transaction that it shares with waiting writes of other threads.
  func writeShared<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    writer.checkIsFree(for: "write")
    var result: Result?
    let outcome = withoutActuallyEscaping(body) { body in
      let write = SharedWrite(self) { transaction in result = try body(&transaction) }
      commits.run(write, in: self)
      return write.finish()
    }
    switch outcome {
    case .alone: return try writeAlone(body)
    case .failed(let error): throw error
    case .committed:
      guard let result else { preconditionFailure("a commit without a result") }
      return result
    }
  }
}

/// A write whose waiting caller runs its closure.
///
/// Sendable because only the caller's thread runs the closure, and the lock guards the rest.
final class SharedWrite: GroupedWrite, @unchecked Sendable {
  enum Outcome {
    case committed
    case failed(any Error)
    /// The caller has to run the write alone.
    case alone
  }

  /// Safe to hold: only the caller uses the transaction, and only while its leader waits.
  @safe private enum Phase {
    case queued
    /// The caller has to run the closure in the leader's transaction, which waits.
    case lent(UnsafeMutablePointer<WriteTransaction>)
    /// The closure has run, perhaps with an error.
    case ran((any Error)?)
    case leads
    case over(Outcome)
  }

  private let phase = Monitor(Phase.queued)
  private let thread = currentThread()
  private let environment: Environment
  /// `nil` once the caller continues: the leader may hold the write a little longer.
  private var body: ((inout WriteTransaction) throws -> Void)?

  init(_ environment: Environment, _ body: @escaping (inout WriteTransaction) throws -> Void) {
    self.environment = environment
    self.body = body
  }

  /// Releases the closure.
  ///
  /// - Returns: The outcome of the write, which has ended.
  func finish() -> Outcome {
    body = nil
    return phase.withLock { phase in
      guard case .over(let outcome) = phase else { preconditionFailure("a write without an end") }
      return outcome
    }
  }

  /// Runs the closure whenever the leader lends its transaction.
  ///
  /// - Returns: `true` if the caller has to lead, `false` if the write has ended.
  func waitToLead() -> Bool {
    while true {
      let next = phase.waiting { phase -> Phase? in
        switch phase {
        case .queued, .ran: return nil
        case .leads:
          phase = .queued
          return .leads
        case .lent, .over: return phase
        }
      }
      guard case .lent(let transaction) = next else {
        if case .leads = next { return true }
        return false
      }
      var failure: (any Error)?
      do {
        try environment.writer.lent { try unsafe runBody(in: transaction) }
      } catch {
        failure = error
      }
      enter(.ran(failure))
    }
  }

  func run(in transaction: UnsafeMutablePointer<WriteTransaction>) throws {
    if currentThread() == thread { return try unsafe runBody(in: transaction) }
    unsafe enter(.lent(transaction))
    let failure = phase.waiting { phase -> (any Error)?? in
      guard case .ran(let failure) = phase else { return nil }
      phase = .queued
      return .some(failure)
    }
    if let failure { throw failure }
  }

  private func runBody(in transaction: UnsafeMutablePointer<WriteTransaction>) throws {
    guard let body else { preconditionFailure("a write ran after its end") }
    try unsafe body(&transaction.pointee)
  }

  func end(_ error: (any Error)?) { enter(.over(error.map { .failed($0) } ?? .committed)) }

  func askToLead() { enter(.leads) }

  func leaveGroup() -> Bool {
    guard currentThread() == thread else {
      enter(.over(.alone))
      return true
    }
    // The leader's own write is first in its group, and runs before the others continue.
    do {
      try environment.writeAlone { transaction in
        try unsafe withUnsafeMutablePointer(to: &transaction) { try unsafe runBody(in: $0) }
      }
      end(nil)
    } catch {
      end(error)
    }
    return true
  }

  private func enter(_ next: Phase) {
    phase.withLock { $0 = next }
    phase.notifyAll()
  }
}
