import PandoLMDB
import PandoModels

/// One queued write, with its closure and its completion.
///
/// The closure is released before the completion, because a waiting caller may have lent it.
///
/// Sendable because one thread at a time uses the closure: the caller's until the write is queued,
/// then the writing one.
final class WriteJob: @unchecked Sendable {
  typealias Body = @Sendable (inout ModelTransaction) throws -> Void
  typealias Completion = @Sendable (Result<ChangeSet?, any Error>) -> Void

  private var body: Body?
  private let completion: Completion
  /// The token of the write for followers; `nil` for writes of users.
  let ticket: (any Sendable)?
  let context: (any Sendable)?
  /// Whether its last run requires it to be on the disk before it returns.
  var isFlushed = false
  /// When it was queued, in nanoseconds, if it goes to a log; set before queueing.
  var queuedAt = Int64.max

  /// Makes a write that has not run yet.
  ///
  /// - Parameters:
  ///   - ticket: The token for followers.
  ///   - context: Passed on with the change set.
  ///   - body: Runs on the leading thread of the flush, again if the flush runs again.
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
