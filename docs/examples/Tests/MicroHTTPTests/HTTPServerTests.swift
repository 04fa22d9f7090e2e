import Foundation
import FoundationNetworking
import PandoFixtures
import Testing

@testable import MicroHTTP

@Suite struct HTTPServerTests {
  /// Answers with what it was asked.
  private static let echo: HTTPServer.Handler = { request in
    if request.path == ["missing"] { throw HTTPError(404, "nothing here") }
    if request.path == ["broken"] { throw POSIXError(.EIO) }
    if request.path == ["fixed"] { throw HTTPError(405, "not for this path", allowed: "GET, PUT") }
    if request.path == ["query"] {
      return HTTPResponse(request.query.map { "\($0.name)=\($0.value)" })
    }
    if request.path == ["length"] { return HTTPResponse([request.body.count]) }
    return HTTPResponse([
      "method": request.method, "path": request.path.joined(separator: "|"),
      "body": String(decoding: request.body, as: UTF8.self),
      "x": request.values(of: "x").joined(separator: "|"),
    ])
  }

  /// Runs `body` with the port of a server that is stopped afterwards.
  private func withServer(
    _ handler: @escaping HTTPServer.Handler = echo, _ body: (UInt16) async throws -> Void
  ) async throws {
    let server = try HTTPServer(port: 0, handler: handler)
    do {
      try await body(server.port)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// Sends bytes as they are and returns all bytes of the answer until the server closes.
  private func exchange(_ port: UInt16, _ text: String) async throws -> String {
    let connection = try RawConnection(port: port)
    try connection.write(text)
    return try await connection.readToEnd()
  }

  /// A request after whose answer the server closes.
  private func last(
    _ line: String, _ fields: String = "", body: String = ""
  ) -> String {
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    return "\(line) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\(length)\r\n\(body)"
  }

  @Test func `a handler gets what follows the question mark, decoded and in its order`()
    async throws
  {
    try await withServer { port in
      let answer = try await exchange(port, last("GET /query?b=caf%C3%A9+au%20lait&a=1%2B1&b=&c"))
      #expect(answer.hasSuffix(#"["b=café au lait","a=1+1","b=","c="]"# + "\n"), "\(answer)")
      let refused = try await exchange(port, last("GET /query?a=%E9"))
      #expect(refused.hasPrefix("HTTP/1.1 400 "), "\(refused)")
    }
  }

  @Test func `a handler gets method, decoded path, fields and the whole content`() async throws {
    try await withServer { port in
      let answer = try await exchange(
        port,
        last("PUT /caf%C3%A9/a%2Fb?dry=1", "X: one\r\nx: two\r\n", body: "hello"))
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.contains("Content-Type: application/json\r\n"))
      #expect(
        answer.hasSuffix(
          #"{"body":"hello","method":"PUT","path":"café|a/b","x":"one|two"}"# + "\n"))
      #expect(try await exchange(port, last("GET /")).contains(#""path":"""#))
    }
  }

  @Test func `the error of a handler is the answer`() async throws {
    try await withServer { port in
      let missing = try await exchange(port, last("GET /missing"))
      #expect(missing.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
      #expect(missing.hasSuffix("\r\n\r\n{\"error\":\"nothing here\"}\n"))
      let fixed = try await exchange(port, last("POST /fixed", body: "x"))
      #expect(fixed.hasPrefix("HTTP/1.1 405 ") && fixed.contains("\r\nAllow: GET, PUT\r\n"))
      #expect(try await exchange(port, last("GET /broken")).hasPrefix("HTTP/1.1 500 "))
    }
  }

  @Test func `a request that makes no sense is refused`() async throws {
    try await withServer { port in
      let long = String(repeating: "a", count: 100_000)
      for (text, status) in [
        (last("GET /%zz"), 400), (last("GET /", "X"), 400), (last("GET /\(long)"), 414),
        (last("GET /", "X: \(long)\r\n"), 431),
      ] {
        let answer = try await exchange(port, text)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(100)): \(answer)")
      }
      #expect(try await !exchange(port, "hello\r\n\r\n").contains(" 200 "))
    }
  }

  @Test(arguments: [0, 1])
  func `content is taken up to its maximum and refused beyond`(excess: Int) async throws {
    let body = String(repeating: "a", count: HTTPServer.bodyByteCountMaximum + excess)
    try await withServer { port in
      let whole = try await exchange(port, last("PUT /length", body: body))
      // The same in two chunks, so that the length is unknown beforehand.
      let half = body.utf8.count / 2
      let chunks = [body.prefix(half), body.dropFirst(half)].map {
        String($0.utf8.count, radix: 16) + "\r\n\($0)\r\n"
      }
      let chunked = try await exchange(
        port, last("PUT /length", "Transfer-Encoding: chunked\r\n") + chunks.joined() + "0\r\n\r\n")
      for answer in [whole, chunked] {
        if excess == 0 {
          #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("[\(body.utf8.count)]\n"))
        } else {
          #expect(answer.hasPrefix("HTTP/1.1 413 "))
          #expect(answer.hasSuffix("{\"error\":\"the content is longer than 1048576 bytes\"}\n"))
        }
      }
    }
  }

  @Test func `a client that asks before it sends gets an answer at once`() async throws {
    try await withServer { port in
      let refused = try await exchange(
        port, last("PUT /", "Expect: 100-continue\r\nContent-Length: 2000000\r\n"))
      #expect(refused.hasPrefix("HTTP/1.1 413 "))
      let welcome = try await exchange(
        port, last("PUT /length", "Expect: 100-continue\r\n", body: "hello"))
      #expect(welcome.hasSuffix("[5]\n"))
    }
  }

  @Test func `requests in one go are answered in order, and after the last one comes the end`()
    async throws
  {
    try await withServer { port in
      let answer = try await exchange(
        port,
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
          + "ok" + last("GET /missing") + "GET /4 HTTP/1.1")
      let statuses = answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
      #expect(statuses == ["200", "200", "404"])
      let places = ["\"path\":\"1\"", "\"path\":\"2\"", "nothing here"].compactMap {
        answer.range(of: $0)?.lowerBound
      }
      #expect(places.count == 3 && places.sorted() == places)
    }
  }

  @Test func `HEAD gets the head alone`() async throws {
    try await withServer { port in
      let answer = try await exchange(port, last("HEAD /x"))
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test func `clients that go away in the middle harm no other client`() async throws {
    try await withServer { port in
      for text in ["", "GE", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"] {
        try RawConnection(port: port).write(text)
      }
      let deaf = try RawConnection(port: port)
      try deaf.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try await exchange(port, last("GET /2")).contains(#""path":"2""#))
    }
  }

  @Test func `a client that goes away while its handler runs harms no other client`() async throws {
    let (hasBegun, mayEnd) = (Event(), Event())
    try await withServer { request in
      if request.path == ["slow"] {
        hasBegun.signal()
        await blocking { mayEnd.wait() }
      }
      return HTTPResponse([request.path.count])
    } _: { port in
      do {
        let client = try RawConnection(port: port)
        try client.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        await blocking { hasBegun.wait() }
      }
      mayEnd.signal()
      #expect(try await exchange(port, last("GET /a/b")).hasSuffix("[2]\n"))
    }
  }

  @Test func `a hundred connections at once are all answered, each with its own answer`()
    async throws
  {
    try await withServer { port in
      let connections = try (0..<100).map { _ in try RawConnection(port: port) }
      for (number, connection) in connections.enumerated() {
        try connection.write(last("GET /\(number)"))
      }
      for (number, connection) in connections.enumerated().reversed() {
        let answer = try await connection.readToEnd()
        #expect(answer.contains("\"path\":\"\(number)\""))
      }
    }
  }

  @Test func `stopping lets the answer under way arrive, closes connections, frees the port`()
    async throws
  {
    let (hasBegun, mayEnd) = (Event(), Event())
    let server = try HTTPServer(port: 0) { _ in
      hasBegun.signal()
      await blocking { mayEnd.wait() }
      return HTTPResponse(["last words"])
    }
    let (idle, half) = (try RawConnection(port: server.port), try RawConnection(port: server.port))
    try half.write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
    let client = try RawConnection(port: server.port)
    try client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await blocking { hasBegun.wait() }
    async let stopped: Void = server.stop()
    // While the answer is under way, the port takes no new connection.
    await blocking { while (try? RawConnection(port: server.port)) != nil { sched_yield() } }
    mayEnd.signal()
    await stopped
    let answer = try await client.readToEnd()
    #expect(answer.contains("\r\nConnection: close\r\n"))
    #expect(answer.hasSuffix("[\"last words\"]\n"))
    #expect(try await idle.readToEnd().isEmpty)
    #expect(try await half.readToEnd().isEmpty)
    #expect(throws: POSIXError.self) { try RawConnection(port: server.port) }
    let next = try HTTPServer(port: server.port, handler: Self.echo)
    await next.stop()
  }

  @Test func `a request on an open connection is refused once the server stops`() async throws {
    let (hasBegun, mayEnd) = (Event(), Event())
    let server = try HTTPServer(port: 0) { _ in
      hasBegun.signal()
      await blocking { mayEnd.wait() }
      return HTTPResponse(["last words"])
    }
    let (first, second) = (
      try RawConnection(port: server.port), try RawConnection(port: server.port)
    )
    try first.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await blocking { hasBegun.wait() }
    async let stopped: Void = server.stop()
    await blocking { while (try? RawConnection(port: server.port)) != nil { sched_yield() } }
    try second.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try await second.readToEnd().hasPrefix("HTTP/1.1 503 "))
    mayEnd.signal()
    await stopped
    #expect(try await first.readToEnd().hasSuffix("[\"last words\"]\n"))
  }

  @Test func `a port that is taken is an error that names it, in the system's words`()
    async throws
  {
    try await withServer { port in
      let error = #expect(throws: PortError.self) {
        try HTTPServer(port: port, handler: Self.echo)
      }
      #expect(error?.description == "can't listen on 127.0.0.1:\(port): Address already in use")
    }
  }
}
