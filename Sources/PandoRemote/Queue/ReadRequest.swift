import PandoModels

/// What a request reads: it waits for the requests before it that change that.
enum ReadScope: Equatable {
  /// Nobody knows: it is in order with the requests that name nothing.
  case unknown
  /// Nothing that anybody changes here.
  case nothing
  /// Nodes.
  case nodes([String])
  /// What there is in a namespace.
  case type(String)
}

/// A request that only reads, and who waits for its answer.
struct ReadRequest {
  let request: APIRequest
  let scope: ReadScope
  /// It waits for durable requests with smaller numbers only.
  let limit: UInt64
  var waiters: [UInt64: CheckedContinuation<APIResponse, any Error>] = [:]
  /// Whether it stands in line.
  var isQueued = false
  /// Whether nobody in line is before it any more.
  var isLetThrough = false
  var task: Task<Void, Never>?

  /// Its place in line: before the durable requests from ``limit`` on.
  var order: UInt64 { 2 * limit - 1 }

  /// What it stands in line for.
  var claims: [LaneClaim] {
    var claims: [LaneClaim] =
      switch scope {
      case .unknown: [LaneClaim("", isShared: true)]
      case .nodes(let names): names.map { LaneClaim($0, isShared: true) }
      case .nothing, .type: []
      }
    if let key = request.configuration.strategy.key {
      claims.append(LaneClaim(key, isShared: true))
    }
    return claims
  }

  func end(with result: Result<APIResponse, any Error>) {
    task?.cancel()
    for continuation in waiters.values { continuation.resume(with: result) }
  }
}
