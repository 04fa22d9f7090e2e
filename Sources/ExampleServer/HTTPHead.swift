/// What the lines before the content of a request say.
struct HTTPHead {
  /// The request, without its content.
  private(set) var request: HTTPRequest
  /// How long the content is.
  private(set) var bodyByteCount = 0
  /// Whether the client waits for `100 Continue` before it sends the content.
  private(set) var expectsContinue = false

  /// Reads a head.
  ///
  /// - Parameter lines: The request line and the header fields, without line ends.
  /// - Throws: What is wrong with them.
  init(_ lines: [ArraySlice<UInt8>]) throws(HTTPError) {
    let words = (lines.first ?? []).split(
      separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, words[0].allSatisfy(\.isTokenByte), !words[0].isEmpty else {
      throw HTTPError(400, "the request line is not METHOD PATH VERSION")
    }
    let version = String(decoding: words[2], as: UTF8.self)
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      throw version.hasPrefix("HTTP/")
        ? HTTPError(505, "HTTP/1.1 is spoken here")
        : HTTPError(400, "the request line does not end with an HTTP version")
    }
    let target = try HTTPTarget(words[1])
    request = HTTPRequest(
      method: String(decoding: words[0], as: UTF8.self), path: target.path, query: target.query)
    for line in lines.dropFirst() { request.fields.append(try Self.field(line)) }
    try readLength()
    try readExpectation()
    if version == "HTTP/1.1", request.values(of: "host").count != 1 {
      throw HTTPError(400, "a request has one Host field")
    }
    let options = request.values(of: "connection").joined(separator: ",").lowercased()
      .split { $0 == "," || $0 == " " }
    request.keepsConnection = version == "HTTP/1.1" && !options.contains("close")
  }

  private static func field(_ line: ArraySlice<UInt8>) throws(HTTPError) -> HTTPRequest.Field {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(\.isTokenByte)
    else { throw HTTPError(400, "a header field is not NAME: VALUE") }
    let value = line[(colon + 1)...]
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw HTTPError(400, "a header field holds a control character")
    }
    let text = String(decoding: value, as: UTF8.self)
    return HTTPRequest.Field(
      name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
      value: String(text.trimmingPrefix { $0 == " " || $0 == "\t" }.trimmingSpaceAtEnd))
  }

  private mutating func readLength() throws(HTTPError) {
    let lengths = request.values(of: "content-length")
    guard request.values(of: "transfer-encoding").isEmpty else {
      throw lengths.isEmpty
        ? HTTPError(411, "content comes with a Content-Length here, not in chunks")
        : HTTPError(400, "Content-Length and Transfer-Encoding exclude each other")
    }
    guard let length = lengths.first else { return }
    guard lengths.count == 1, !length.isEmpty, length.utf8.allSatisfy(\.isDigit) else {
      throw HTTPError(400, "Content-Length is not one number")
    }
    guard let byteCount = Int(length), byteCount <= HTTPParser.bodyByteCountMaximum else {
      throw HTTPError(413, "the content is longer than \(HTTPParser.bodyByteCountMaximum) bytes")
    }
    bodyByteCount = byteCount
  }

  private mutating func readExpectation() throws(HTTPError) {
    guard let expectation = request.values(of: "expect").first else { return }
    guard expectation.lowercased() == "100-continue" else {
      throw HTTPError(417, "the only expectation that can be met is 100-continue")
    }
    expectsContinue = bodyByteCount > 0
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// Whether a method or a field name may hold this byte (RFC 9110, section 5.6.2).
  fileprivate var isTokenByte: Bool {
    let letter = self | 0x20
    return isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
      || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}

extension Substring {
  fileprivate var trimmingSpaceAtEnd: Substring {
    self[..<(lastIndex { $0 != " " && $0 != "\t" }.map { index(after: $0) } ?? startIndex)]
  }
}
