public import Foundation
import FoundationNetworking
public import PandoManagers

/// Carries requests over HTTP with FoundationNetworking.
///
/// - Note: Any thread may call it, several at the same time.
public final class URLSessionAPIClient: APIClient {
  /// How a client connects.
  public struct Configuration: Sendable {
    /// The name of the server among those that one store has requests for.
    public var identifier = "default"
    /// Header fields of every request; those of the request itself come before them.
    public var headers: APIHeaders = ["Accept": "application/json"]
    /// How long to wait for an answer, in seconds, where the request does not say.
    public var timeoutInSeconds = 60.0
    /// How many connections to the server are open at most.
    public var connectionCountMaximum = 16
    /// Completes a request before each attempt; `nil` to send it as it is.
    public var prepare: (@Sendable (APIRequest) async throws -> APIRequest)?
    /// Reads the content of an answer that says no; `nil` to quote it.
    public var errorPayload: (@Sendable (APIResponse, APIRequest) -> (any Error)?)?

    /// Makes the usual configuration.
    public init() {}
  }

  /// The address that paths are relative to.
  public let baseURL: URL
  /// The name of the server among those that one store has requests for.
  public var identifier: String { configuration.identifier }

  private let configuration: Configuration
  private let session: URLSession
  private let base: String

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - baseURL: The address that paths are relative to, such as `https://example.org/v1`.
  ///   - configuration: How to connect.
  public init(baseURL: URL, configuration: Configuration = Configuration()) {
    self.baseURL = baseURL
    self.configuration = configuration
    let text = baseURL.absoluteString
    base = text.hasSuffix("/") ? String(text.dropLast()) : text
    let sessionConfiguration = URLSessionConfiguration.ephemeral
    sessionConfiguration.timeoutIntervalForRequest = configuration.timeoutInSeconds
    sessionConfiguration.httpMaximumConnectionsPerHost = configuration.connectionCountMaximum
    // What is kept of answers is kept above the transport, where it can be asked for.
    sessionConfiguration.urlCache = nil
    sessionConfiguration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: sessionConfiguration)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Completes a request as the configuration says.
  ///
  /// - Parameter request: The request as it was made.
  /// - Returns: The request as it is sent.
  /// - Throws: What the closure of the configuration throws.
  public func prepareRequest(_ request: APIRequest) async throws -> APIRequest {
    guard let prepare = configuration.prepare else { return request }
    return try await prepare(request)
  }

  /// Sends a request and waits for the whole answer.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, whatever its status is.
  /// - Throws: ``APIError`` `connectionLost`, `timedOut` or `invalidRequest`.
  public func send(_ request: APIRequest) async throws -> APIResponse {
    let urlRequest = try urlRequest(request)
    let data: Data
    let response: URLResponse
    do {
      (data, response) = try await session.data(for: urlRequest)
    } catch {
      throw Self.failure(of: request, error)
    }
    guard let response = response as? HTTPURLResponse else {
      throw APIError(.malformedAnswer, request, "the answer is none of HTTP")
    }
    var headers = APIHeaders()
    for (name, value) in response.allHeaderFields {
      headers["\(name)"] = "\(value)"
    }
    try Self.checkLength(of: data, headers: headers, status: response.statusCode, request)
    return APIResponse(status: response.statusCode, headers: headers, body: data)
  }

  /// Reads the content of an answer that says no, as the configuration says.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - request: What it answers.
  /// - Returns: An error in the words of the API, or `nil` to quote the content.
  public func errorPayload(of response: APIResponse, to request: APIRequest) -> (any Error)? {
    configuration.errorPayload?(response, request)
  }

  private func urlRequest(_ request: APIRequest) throws -> URLRequest {
    guard let url = URL(string: base + request.target), url.host != nil,
      url.scheme == "http" || url.scheme == "https"
    else {
      throw APIError(
        .invalidRequest, request,
        "\(base + request.target) is no address; escape the path with APIPath(\"…\\(value)…\")")
    }
    var made = URLRequest(url: url)
    made.httpMethod = request.method.rawValue
    if let timeout = request.configuration.timeoutInSeconds { made.timeoutInterval = timeout }
    for field in configuration.headers.fields {
      made.setValue(field.value, forHTTPHeaderField: field.name)
    }
    if let body = request.body {
      made.httpBody = body.bytes
      made.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
    }
    for field in request.headers.fields {
      made.setValue(field.value, forHTTPHeaderField: field.name)
    }
    return made
  }

  /// Refuses an answer that ended before all of it had come.
  private static func checkLength(
    of data: Data, headers: APIHeaders, status: Int, _ request: APIRequest
  ) throws {
    guard request.method != .head, status != 204, !(300..<400).contains(status),
      headers["Content-Encoding"] == nil,
      let length = headers["Content-Length"].flatMap({ Int($0) }),
      data.count < length
    else { return }
    throw APIError(
      .connectionLost, request,
      "the connection ended after \(data.count) of \(length) bytes of the answer")
  }

  private static func failure(of request: APIRequest, _ error: any Error) -> any Error {
    guard let error = error as? URLError else {
      if error is CancellationError { return error }
      return APIError(.connectionLost, request, "no answer came", underlying: error)
    }
    switch error.code {
    case .cancelled: return CancellationError()
    case .timedOut:
      return APIError(.timedOut, request, "no answer came in time")
    default:
      return APIError(.connectionLost, request, "no whole answer came", underlying: error)
    }
  }
}
