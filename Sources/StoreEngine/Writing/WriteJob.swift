import ModelCore

/// One queued write: what it does, and whom to tell.
final class WriteJob: Sendable {
  typealias Body = @Sendable (inout ModelTransaction) throws -> Void

  /// Runs on the writer thread, more than once if the flush has to be run again.
  let body: Body
  let context: (any Sendable)?
  /// Called once, on the writer thread.
  let complete: @Sendable (Result<ChangeSet?, any Error>) -> Void

  init(
    context: (any Sendable)?, body: @escaping Body,
    complete: @escaping @Sendable (Result<ChangeSet?, any Error>) -> Void
  ) {
    self.context = context
    self.body = body
    self.complete = complete
  }
}
