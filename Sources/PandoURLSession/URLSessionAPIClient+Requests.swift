import Foundation
import FoundationNetworking
import PandoRemote

extension URLSessionAPIClient {
  /// Makes the request for URLSession.
  func urlRequest(_ request: APIRequest) throws -> URLRequest {
    guard let url = URL(string: base + request.target), url.host != nil,
      url.scheme == "http" || url.scheme == "https"
    else {
      throw APIError(
        .invalidRequest, request,
        "\(base + request.target) is no address; escape the path with APIPath(\"…\\(value)…\")")
    }
    if request.method == .get, request.body?.bytes.isEmpty == false {
      throw APIError(.invalidRequest, request, "a GET has no content")
    }
    var made = URLRequest(url: url)
    made.httpMethod = request.method.rawValue
    made.timeoutInterval = Self.timeout(
      request.configuration.timeoutInSeconds ?? configuration.timeoutInSeconds)
    try made.set(configuration.headers, request)
    if let body = request.body {
      made.httpBody = body.bytes
      try made.set(["Content-Type": body.contentType], request)
    }
    try made.set(request.headers, request)
    return made
  }

  /// Returns a timeout that FoundationNetworking (6.3.1) accepts: it truncates fractions of a
  /// second, and huge numbers end the process.
  private static func timeout(_ seconds: Double) -> Double {
    guard seconds < 1_000_000 else { return 1_000_000 }
    return max(seconds.rounded(.up), 1)
  }
}

extension URLRequest {
  /// Sets header fields.
  fileprivate mutating func set(_ headers: APIHeaders, _ request: APIRequest) throws {
    for field in headers.fields {
      // A line break would start another field.
      guard
        !(field.name + field.value).unicodeScalars.contains(where: { $0.value < 32 && $0 != "\t" })
      else {
        throw APIError(.invalidRequest, request, "the header field \(field.name) has a line break")
      }
      setValue(field.value, forHTTPHeaderField: field.name)
    }
  }

  /// Returns the request to the target of a redirect; `nil` if Pando does not follow the answer.
  func redirected(by head: APIResponse) -> URLRequest? {
    let isReading = httpMethod == "GET" || httpMethod == "HEAD"
    guard
      isReading
        ? [301, 302, 303, 307, 308].contains(head.status)
        // Some clients continue with GET after 301 and 302; the written content would be lost.
        : [303, 307, 308].contains(head.status),
      let location = head.headers["Location"], !location.isEmpty,
      let target = URL(string: location, relativeTo: url)?.absoluteURL, target.host != nil,
      target.scheme == "https" || target.scheme == "http" && url?.scheme == "http"
    else { return nil }
    var next = self
    next.url = target
    if head.status == 303, !isReading {
      next.httpMethod = "GET"
      next.httpBody = nil
      next.setValue(nil, forHTTPHeaderField: "Content-Type")
    }
    if !next.hasOrigin(of: self) {
      for name in ["Authorization", "Cookie", "Proxy-Authorization"] {
        next.setValue(nil, forHTTPHeaderField: name)
      }
    }
    return next
  }

  /// Whether scheme, host and port are those of another request.
  func hasOrigin(of other: URLRequest) -> Bool {
    func port(_ url: URL?) -> Int? { url?.port ?? (url?.scheme == "https" ? 443 : 80) }
    return url?.scheme == other.url?.scheme
      && url?.host?.lowercased() == other.url?.host?.lowercased()
      && port(url) == port(other.url)
  }
}
