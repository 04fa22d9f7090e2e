import FoundationEssentials

extension APIError {
  /// The most of an answer's text that is quoted.
  private static let quotedByteCountMaximum = 200

  /// Makes the error of an answer that says no.
  init(_ response: APIResponse, to request: APIRequest, payload: (any Error)?) {
    let code: Code =
      switch response.status {
      case 404, 410: .notFound
      case 409, 412: .conflict
      case 401, 403: .refused
      case 400..<500: .badRequest
      case 500...: .serverFailed
      default: .malformedAnswer
      }
    var reason = "the server answered \(response.status)"
    if payload == nil, let text = Self.quoted(response.body) { reason += ": \(text)" }
    self.init(code, request, reason, status: response.status, payload: payload)
    retryAfterInSeconds = response.headers["Retry-After"].flatMap(Double.init)
  }

  /// The beginning of a content, in one line; `nil` if it is no text or empty.
  @_optimize(size)
  static func quoted(_ body: Data) -> String? {
    let bytes = body.prefix(quotedByteCountMaximum)
    let text = String(decoding: bytes, as: UTF8.self).drop(while: \.isWhitespace)
    guard let last = text.lastIndex(where: { !$0.isWhitespace }), !bytes.contains(0) else {
      return nil
    }
    let line = text[...last].split(whereSeparator: \.isNewline).joined(separator: " ")
    return line + (bytes.count < body.count ? "…" : "")
  }
}
