import PandoLMDB
import PandoModels

/// One queued write: what it does, and whom to notify.
///
/// The closure is let go before anybody is notified, because a caller that waits may have lent it.
///
/// Sendable because the closure is touched by one thread at a time: the caller's until the write is
/// queued, then the writer's.
final class WriteJob: @unchecked Sendable {
  typealias Body = @Sendable (inout ModelTransaction) throws -> Void
  typealias Completion = @Sendable (Result<ChangeSet?, any Error>) -> Void

  private var body: Body?
  private let completion: Completion
  /// What followers know the write by; `nil` for writes of users.
  let ticket: (any Sendable)?
  let context: (any Sendable)?
  /// Whether its last run wants it to be on the disk when it is answered.
  var isFlushed = false
  /// When it was queued, in nanoseconds, if it goes to a log; set before it is.
  var queuedAt = Int64.max

  /// Makes a write that has not run yet.
  ///
  /// - Parameters:
  ///   - ticket: What followers know it by.
  ///   - context: Travels with the change set.
  ///   - body: Runs on the thread that leads the flush, more than once if the flush has to be run again.
  ///   - completion: Called once, on the thread that ends the job.
  init(
    ticket: (any Sendable)? = nil, context: (any Sendable)?, body: @escaping Body,
    completion: @escaping Completion
  ) {
    self.ticket = ticket
    self.context = context
    self.body = body
    self.completion = completion
  }

  func run(_ transaction: inout ModelTransaction) throws {
    guard let body else {
      preconditionFailure("a write ran after its caller had been notified of its end")
    }
    try body(&transaction)
  }

  func finish(_ result: Result<ChangeSet?, any Error>) {
    body = nil
    completion(result)
  }
}
