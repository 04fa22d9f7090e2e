import Testing

@testable import ExampleServer

@Suite struct HTTPParserTests {
  /// Feeds a parser with pieces of a text.
  private func requests(
    _ text: String, pieceByteCount: Int = .max
  ) throws(HTTPError) -> [HTTPRequest] {
    var parser = HTTPParser()
    var requests: [HTTPRequest] = []
    var rest = Array(text.utf8)[...]
    repeat {
      parser.append(Array(rest.prefix(pieceByteCount)))
      rest = rest.dropFirst(pieceByteCount)
      while let request = try parser.next() { requests.append(request) }
    } while !rest.isEmpty
    return requests
  }

  private static let twoRequests =
    "\r\nPUT /people/12?dry=1 HTTP/1.1\r\nHost: localhost\r\nX-Empty:\r\n"
    + "content-LENGTH:  5 \r\n\r\nhello"
    + "GET http://localhost/caf%C3%A9/a%2Fb HTTP/1.1\nhost: x\nConnection: close\n\n"

  @Test(arguments: [1, 2, 3, 7, 64, Int.max])
  func `requests are the same however the bytes are cut`(pieceByteCount: Int) throws {
    let requests = try requests(Self.twoRequests, pieceByteCount: pieceByteCount)
    #expect(requests.map(\.method) == ["PUT", "GET"])
    #expect(requests.map(\.path) == [["people", "12"], ["café", "a/b"]])
    #expect(requests.map(\.query) == ["dry=1", ""])
    #expect(requests.map(\.body) == [Array("hello".utf8), []])
    #expect(requests.map(\.keepsConnection) == [true, false])
    #expect(requests.first?.values(of: "x-empty") == [""])
    #expect(requests.first?.values(of: "content-length") == ["5"])
  }

  @Test func `an old client gets one answer a connection`() throws {
    let requests = try requests("GET / HTTP/1.0\r\n\r\n")
    #expect(requests.map(\.path) == [[]])
    #expect(requests.map(\.keepsConnection) == [false])
  }

  @Test func `a client that asks first is told to go on, until its content comes`() throws {
    var parser = HTTPParser()
    parser.append(
      Array("POST /p HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n".utf8)
    )
    #expect(try parser.next() == nil)
    #expect(parser.awaitsContinue)
    parser.append([1])
    #expect(try parser.next() == nil)
    #expect(!parser.awaitsContinue)
    parser.append([2])
    #expect(try parser.next()?.body == [1, 2])
    #expect(!parser.isInsideRequest)
  }

  @Test(arguments: [
    ("hello\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / FTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("GET people HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("GET /\u{e9} HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\u{1}\r\n\r\n", 400),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
    ("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n", 413),
    ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    ("PUT / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 417),
    ("GET /LONG", 414), ("GET / HTTP/1.1\r\nX: LONG", 431),
  ])
  func `a request that makes no sense is refused with its status`(text: String, status: Int) {
    let long = String(repeating: "a", count: 20_000)
    let error = #expect(throws: HTTPError.self) {
      try requests(text.replacing("LONG", with: long), pieceByteCount: 1000)
    }
    #expect(error?.status == status)
  }
}
