import Foundation

/// An answer of the server: a status and a line or document of JSON.
package struct HTTPResponse: Sendable {
  /// The status code; 200 if all went well.
  package var status: Int
  /// Further header fields.
  package var fields: [HTTPRequest.Field] = []
  /// The content, JSON.
  package var body: [UInt8]

  /// Answers with a value as JSON.
  ///
  /// - Parameters:
  ///   - value: What JSON can hold; the names of its properties are sorted.
  ///   - status: The status code.
  package init(_ value: some Encodable, status: Int = 200) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.init(status: status, body: Array(try encoder.encode(value)) + [UInt8(ascii: "\n")])
    } catch {
      self.init(error: "the answer is no JSON: \(error)", status: 500)
    }
  }

  /// Answers with a failure.
  ///
  /// - Parameters:
  ///   - error: One sentence for whoever asked.
  ///   - status: The status code, 400 or more.
  package init(error: String, status: Int) {
    self.init(["error": error], status: status)
  }

  package init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }

  /// The bytes that go over the wire.
  ///
  /// - Parameters:
  ///   - keepsConnection: Whether another request may follow.
  ///   - isHead: Whether the content is left out, as for `HEAD`.
  /// - Returns: Status line, header fields and content.
  func bytes(keepsConnection: Bool, isHead: Bool) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Unknown")\r\n"
    head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
    for field in fields { head += "\(field.name): \(field.value)\r\n" }
    head += keepsConnection ? "\r\n" : "Connection: close\r\n\r\n"
    return Array(head.utf8) + (isHead ? [] : body)
  }

  private static let reasons = [
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large", 414: "URI Too Long",
    417: "Expectation Failed", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
    505: "HTTP Version Not Supported",
  ]
}
