import Foundation
import FoundationNetworking
import PandoFixtures
import Testing

@testable import ExampleServer
@testable import inbox

@Suite struct HTTPServerTests {
  /// Answers with what it was asked.
  private static let echo: HTTPServer.Handler = { request in
    if request.path == ["missing"] { return HTTPResponse(error: "nothing here", status: 404) }
    return HTTPResponse([
      "method": request.method, "path": request.path.joined(separator: "/"),
      "body": String(decoding: request.body, as: UTF8.self),
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

  /// Sends bytes as they are and returns all that comes back until the server closes.
  private func exchange(_ port: UInt16, _ text: String) async throws -> String {
    let connection = try RawConnection(port: port)
    try connection.write(text)
    return try await connection.readToEnd()
  }

  @Test(.enabled(if: Shell.hasCurl))
  func `curl gets, puts, deletes, and sees the head`() async throws {
    try await withServer { port in
      let address = "http://127.0.0.1:\(port)"
      #expect(
        try await Shell.run("curl -sS \(address)/a/b").output
          == #"{"body":"","method":"GET","path":"a/b"}"# + "\n")
      #expect(
        try await Shell.run("curl -sS -X PUT -d hello \(address)/people/12").output
          == #"{"body":"hello","method":"PUT","path":"people/12"}"# + "\n")
      #expect(
        try await Shell.run("curl -sS -X DELETE \(address)/x").output
          == #"{"body":"","method":"DELETE","path":"x"}"# + "\n")
      let head = try await Shell.run("curl -sS -I \(address)/x").output
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.hasSuffix("\r\n\r\n"))
      let twice = try await Shell.run(
        "curl -sS -w '%{num_connects}' \(address)/1 \(address)/2"
      ).output
      #expect(twice.hasSuffix("\n0"), "the second request used the first one's connection")
    }
  }

  @Test(.enabled(if: Shell.hasCurl))
  func `curl waits for leave to send a large body, and gets it`() async throws {
    try await withServer { request in
      HTTPResponse([request.body.count])
    } _: { port in
      let run = try await Shell.run(
        "head -c 1000000 /dev/zero | curl -sS -X POST -H 'Expect: 100-continue' --data-binary @- "
          + "http://127.0.0.1:\(port)/big")
      #expect(run.output == "[1000000]\n", "\(run)")
    }
  }

  @Test func `a bad request gets an answer that says why, and the end of its connection`()
    async throws
  {
    try await withServer { port in
      let answer = try await exchange(port, "hello\r\n\r\n and a great deal more")
      #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
      #expect(answer.contains("Connection: close\r\n"))
      #expect(answer.hasSuffix("{\"error\":\"the request line is not METHOD PATH VERSION\"}\n"))
      let tooLong = try await exchange(port, "GET /" + String(repeating: "a", count: 100_000))
      #expect(tooLong.hasPrefix("HTTP/1.1 414 "))
      let tooMuch = try await exchange(
        port,
        "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n"
          + String(repeating: "a", count: 100_000))
      #expect(tooMuch.hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func `requests in one go are answered in order, and after the last one comes the end`()
    async throws
  {
    try await withServer { port in
      let answer = try await exchange(
        port,
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
          + "okGET /missing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /4 HTTP/1.1")
      let statuses = answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
      #expect(statuses == ["200", "200", "404"])
      let places = ["\"path\":\"1\"", "\"path\":\"2\"", "nothing here"].map {
        answer.range(of: $0)?.lowerBound
      }
      #expect(
        !places.contains(nil) && places.compactMap { $0 }.sorted() == places.compactMap { $0 })
    }
  }

  @Test func `clients that go away in the middle harm nobody`() async throws {
    try await withServer { port in
      for text in ["", "GE", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"] {
        try RawConnection(port: port).write(text)
      }
      let deaf = try RawConnection(port: port)
      try deaf.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(
        try await exchange(port, "GET /2 HTTP/1.0\r\n\r\n").contains(#""path":"2""#))
    }
  }

  @Test func `a hundred connections at once are all answered, each with its own answer`()
    async throws
  {
    try await withServer { port in
      let connections = try (0..<100).map { _ in try RawConnection(port: port) }
      for (number, connection) in connections.enumerated() {
        try connection.write("GET /\(number) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      }
      for (number, connection) in connections.enumerated().reversed() {
        let answer = try await connection.readToEnd()
        #expect(answer.contains("\"path\":\"\(number)\""))
      }
    }
  }

  @Test func `stopping lets the answer under way arrive, ends idle connections, frees the port`()
    async throws
  {
    let (hasBegun, mayEnd) = (Event(), Gate())
    await mayEnd.hold("answer")
    let server = try HTTPServer(port: 0) { _ in
      hasBegun.signal()
      await mayEnd.pass("answer")
      return HTTPResponse(["last words"])
    }
    let idle = try RawConnection(port: server.port)
    let client = Task.detached { [port = server.port] in
      let connection = try RawConnection(port: port)
      try connection.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      return try await connection.readToEnd()
    }
    await blocking { hasBegun.wait() }
    async let stopped: Void = server.stop()
    #expect(try await idle.readToEnd().isEmpty)
    await mayEnd.release("answer")
    await stopped
    let answer = try await client.value
    #expect(answer.hasSuffix("[\"last words\"]\n"))
    #expect(throws: SocketError.self) { try RawConnection(port: server.port) }
  }

  @Test func `a port that is taken is an error in the system's words`() async throws {
    try await withServer { port in
      let error = #expect(throws: SocketError.self) {
        try HTTPServer(port: port, handler: Self.echo)
      }
      #expect(error?.description == "Address already in use")
    }
  }
}
