/// What a queue tells whoever watches it; the requests themselves tell their callers.
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
  /// A durable request came to an end without success, and is set aside.
  case failed(QueuedRequest, APIError)
  /// A request was answered, and nobody is there any more who reads answers of its kind.
  case unhandled(QueuedRequest)
  /// The store of the queue could not be read or written; it is tried again.
  case storeFailed(any Error)
}

/// Where in the way of a durable request a process can be interrupted by a test.
package enum QueueStep: String, Sendable, CaseIterable {
  /// It is marked as on its way, and not sent.
  case marked
  /// It was answered, and that is not stored.
  case answered
  /// It is off the queue, or set aside, and nobody has been told.
  case acknowledged
}
