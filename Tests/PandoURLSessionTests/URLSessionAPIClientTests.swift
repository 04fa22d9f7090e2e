import Foundation
import PandoFixtures
import PandoManagers
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

@Suite struct URLSessionAPIClientTests {
  /// Runs `body` with a client of a server that is stopped afterwards.
  private func withClient(
    _ handler: @escaping TestServer.Handler,
    configure: (inout URLSessionAPIClient.Configuration) -> Void = { _ in },
    _ body: (URLSessionAPIClient, TestServer) async throws -> Void
  ) async throws {
    let server = try TestServer(handler: handler)
    defer { server.stop() }
    try await body(try URLSessionAPIClient(server: server, configure: configure), server)
  }

  @Test func `method, path, query, headers and content go over the wire as they were given`()
    async throws
  {
    try await withClient { _ in
      .json(#"{"ok":true}"#)
    } configure: {
      $0.headers["X-App"] = "library"
    } _: { client, server in
      let request = APIRequest(
        .post, "/books/\("a/b ü")/notes", query: [.init("q", "1 & 2"), .init("é", "=")],
        headers: ["X-Trace": "7"], body: try APIBody(json: ["title": "Dune/2"]))
      let response = try await client.send(request)
      #expect(response.status == 200)
      #expect(response.headers["content-type"] == "application/json")
      #expect(String(decoding: response.body, as: UTF8.self) == #"{"ok":true}"#)
      let seen = try #require(server.requests.first)
      #expect(seen.method == "POST")
      #expect(seen.target == "/books/a%2Fb%20%C3%BC/notes?q=1%20%26%202&%C3%A9=%3D")
      #expect(seen.headers["x-app"] == "library")
      #expect(seen.headers["x-trace"] == "7")
      #expect(seen.headers["content-type"] == "application/json")
      #expect(seen.body == #"{"title":"Dune/2"}"#)
    }
  }

  @Test(arguments: [200, 201, 301, 304, 400, 404, 409, 500, 503])
  func `every status is returned as an answer`(status: Int) async throws {
    try await withClient { _ in
      .status(status, [:], "text")
    } _: { client, _ in
      let response = try await client.send(APIRequest(.get, "/x"))
      #expect(response.status == status)
    }
  }

  @Test func `half a body is a lost connection that says how much came`() async throws {
    try await withClient { _ in
      .half(#"{"id": 7, "title": "Dune"}"#)
    } _: { client, _ in
      let error = await apiError { try await client.send(APIRequest(.get, "/books/7")) }
      #expect(error?.code == .connectionLost)
      #expect(error?.description.hasPrefix("GET /books/7: ") == true, "\(error as Any)")
    }
  }

  @Test func `a dropped connection and an absent server are lost connections`() async throws {
    try await withClient { _ in
      .drop
    } _: { client, server in
      let dropped = await apiError { try await client.send(APIRequest(.get, "/x")) }
      #expect(dropped?.code == .connectionLost)
      #expect(dropped?.isConnectionFailure == true)
      server.stop()
      let absent = await apiError { try await client.send(APIRequest(.put, "/x")) }
      #expect(absent?.code == .connectionLost)
      #expect(absent?.description.hasPrefix("PUT /x: ") == true)
    }
  }

  @Test func `an answer that does not come in time is a timeout`() async throws {
    let mayAnswer = Event()
    try await withClient { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { client, _ in
      var request = APIRequest(.get, "/slow")
      request.configuration.timeoutInSeconds = 0.2
      let error = await apiError { try await client.send(request) }
      mayAnswer.signal()
      #expect(error?.code == .timedOut)
      #expect(error?.description == "GET /slow: no answer came in time")
    }
  }

  @Test func `a response that is not HTTP is a lost connection`() async throws {
    try await withClient { _ in
      .bytes("SSH-2.0-OpenSSH_9.6\r\n")
    } _: { client, _ in
      let error = await apiError { try await client.send(APIRequest(.get, "/x")) }
      #expect(error?.code == .connectionLost)
    }
  }

  @Test func `a cancelled task stops waiting`() async throws {
    let mayAnswer = Event()
    try await withClient { _ in
      mayAnswer.wait()
      return .json("{}")
    } _: { client, server in
      let task = Task { try await client.send(APIRequest(.get, "/slow")) }
      await server.received(1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      mayAnswer.signal()
    }
  }
}
