import FoundationEssentials

extension APIError {
  /// The maximum length of an answer's text that an error quotes.
  private static let quotedByteCountMaximum = 200

  /// Makes the error for an answer without success.
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
    retryAfterInSeconds = response.headers["Retry-After"].flatMap { text in
      let seconds = Double(text) ?? Self.date(text).map { max(0, $0.timeIntervalSinceNow) }
      return seconds.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }
  }

  /// Reads the date of a header field: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
  static func date(_ text: String) -> Date? {
    let parts = text.split { !$0.isLetter && !$0.isNumber }
    let names = "JanFebMarAprMayJunJulAugSepOctNovDec"
    guard parts.count == 8, parts[7] == "GMT", let month = names.firstRange(of: parts[2]),
      let day = Int(parts[1]), let year = Int(parts[3]), (1...31).contains(day),
      (1...9999).contains(year), let hour = Int(parts[4]), let minute = Int(parts[5]),
      let second = Int(parts[6]), (0..<24).contains(hour), (0..<60).contains(minute),
      (0...60).contains(second)
    else { return nil }
    let number = names.distance(from: names.startIndex, to: month.lowerBound) / 3 + 1
    // Days since 1970, counted in years that begin in March.
    let (y, m) = number > 2 ? (year, number - 3) : (year - 1, number + 9)
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468
    return Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
  }

  /// Returns the beginning of a content, in one line; `nil` if it is no text or empty.
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
