/// An event of a queue, for logs and metrics; the callers of requests get results of their own.
///
/// ```swift
/// configuration.onEvent = { event in
///   if case .failed(let request, let error) = event { print(request.id, error) }
/// }
/// ```
public indirect enum QueueEvent: Sendable {
  /// A durable request is sent.
  case sending(QueuedRequest)
  /// A durable request was answered, and the answer is stored.
  case confirmed(QueuedRequest)
  /// A durable request went back to the front: the server could not be reached or was busy.
  case putBack(QueuedRequest, APIError)
  /// A durable request has ended without success, and is kept as failed.
  case failed(QueuedRequest, APIError)
  /// A request was answered, and no handler is set for answers of its kind.
  case unhandled(QueuedRequest)
  /// The store of the queue could not be read or written; the queue tries again.
  case storeFailed(any Error)
}

/// A step of a durable request, at which a test can end the process.
package enum QueueStep: String, Sendable, CaseIterable {
  /// The request is marked as in flight, and not sent yet.
  case marked
  /// The request was answered, and the answer is not stored yet.
  case answered
  /// The request is removed from the queue or kept as failed, and its ticket has not ended yet.
  case acknowledged
}
