public import PandoManagers

/// A request of the caller, in place of the one that the entity type makes.
struct RemoteRequest<E: Entity>: Sendable {
  let request: APIRequest
  let payload: RemotePayload<E>
}

extension RemoteEndpoint {
  /// A request of the caller.
  ///
  /// For a write of several entities it is sent once.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - payload: Where the answer contains the entities.
  /// - Returns: The endpoint.
  public static func request(
    _ request: APIRequest, payload: RemotePayload<E> = .content
  ) -> RemoteEndpoint {
    let body = request.body.map { "\n" + String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    return RemoteEndpoint(
      request: RemoteRequest(request: request, payload: payload), key: "\(request)" + body)
  }

  var remoteRequest: RemoteRequest<E>? { request as? RemoteRequest<E> }
}

extension APIError: RemoteFailure {
  /// Whether the server was out of reach, has nothing at the path, or failed otherwise.
  public var remoteFailureKind: RemoteFailureKind {
    switch code {
    case .connectionLost, .timedOut: .connection
    case .notFound: .notFound
    default: .other
    }
  }
}
