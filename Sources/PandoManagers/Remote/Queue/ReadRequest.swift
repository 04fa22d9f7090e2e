/// A request that only reads, and who waits for its answer.
struct ReadRequest {
  let request: APIRequest
  /// It waits for the durable requests with smaller numbers, and those from this one on wait for it.
  let limit: UInt64
  var waiters: [UInt64: CheckedContinuation<APIResponse, any Error>] = [:]
  var task: Task<Void, Never>?

  func end(with result: Result<APIResponse, any Error>) {
    task?.cancel()
    for continuation in waiters.values { continuation.resume(with: result) }
  }
}
