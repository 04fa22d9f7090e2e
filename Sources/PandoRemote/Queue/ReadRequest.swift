import PandoModels

/// The data that a read returns; the read waits for earlier requests that change it.
enum ReadScope: Equatable {
  /// Unknown: the read is in order with requests that change no entity.
  case unknown
  /// Nothing that requests of the queue change.
  case nothing
  /// Nodes.
  case nodes([String])
  /// All entities of a namespace.
  case type(String)
}

/// A read, and the callers that wait for its answer.
struct ReadRequest {
  let request: APIRequest
  let scope: ReadScope
  /// It waits for durable requests with smaller numbers only.
  let limit: UInt64
  var waiters: [UInt64: CheckedContinuation<APIResponse, any Error>] = [:]
  /// Whether it is in the lanes.
  var isQueued = false
  /// Whether all its lanes have let it through.
  var isLetThrough = false
  var task: Task<Void, Never>?

  /// Its order: before the durable requests from ``limit`` on.
  var order: UInt64 { 2 * limit - 1 }

  /// The lanes that it needs.
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
