import Foundation
import PandoFixtures
import PandoManagers
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

/// What the client makes of a server in another process that fails.
///
/// Not here: a connection that breaks inside the header fields, and fields behind chunks. Both end the
/// process in FoundationNetworking 6.3.1 (swift-corelibs-foundation, 5285).
@Suite struct HTTPFaultTests {
  @Test(arguments: ["drop", "cut-content", "cut-chunks", "no-http", "bad-head"])
  func `an incomplete answer is a lost connection`(fault: String) async throws {
    try await FaultServer.with { _, client in
      for method in [HTTPMethod.get, .post] {
        let error = await apiError { try await client.send(APIRequest(method, APIPath(fault))) }
        #expect(error?.code == .connectionLost, "\(error as Any)")
        #expect(error?.request == "\(method) /\(fault)")
      }
      let next = try await client.send(APIRequest(.get, "/echo"))
      #expect(next.status == 200, "and the next is whole")
    }
  }

  @Test func `bytes behind the announced length are no part of any answer`() async throws {
    try await FaultServer.with { _, client in
      for _ in 0..<3 {
        let short = try await client.send(APIRequest(.get, "/short"))
        #expect(String(decoding: short.body, as: UTF8.self) == "{}")
        let next = try await client.send(APIRequest(.get, "/echo"))
        #expect(String(decoding: next.body, as: UTF8.self) == "GET - ")
      }
    }
  }

  @Test func `chunks count, and not a length beside them`() async throws {
    try await FaultServer.with { _, client in
      let response = try await client.send(APIRequest(.get, "/both-lengths"))
      #expect(String(decoding: response.body, as: UTF8.self) == "{}")
    }
  }

  @Test func `an informational response is not the answer`() async throws {
    try await FaultServer.with { _, client in
      let response = try await client.send(APIRequest(.get, "/early"))
      #expect(response.status == 200)
      #expect(response.headers["A"] == nil)
    }
  }

  @Test func `a 401 that requests a password is returned with its content`() async throws {
    try await FaultServer.with { _, client in
      let response = try await client.send(APIRequest(.get, "/401"))
      #expect(response.status == 401)
      #expect(String(decoding: response.body, as: UTF8.self) == "who?")
    }
  }

  @Test func `a compressed answer is returned decompressed`() async throws {
    try await FaultServer.with { _, client in
      let response = try await client.send(APIRequest(.get, "/gzip"))
      #expect(String(decoding: response.body, as: UTF8.self) == #"{"title":"Dune"}"#)
    }
  }

  @Test func `429 and 503 come back with when to try again`() async throws {
    try await FaultServer.with { _, client in
      let busy = try await client.send(APIRequest(.get, "/429"))
      #expect(busy.status == 429 && busy.headers["retry-after"] == "7")
      let away = try await client.send(APIRequest(.get, "/503"))
      #expect(away.status == 503 && away.headers["retry-after"]?.hasSuffix(" GMT") == true)
    }
  }

  @Test(arguments: [true, false])
  func `the timeout of the request or of the client ends a request`(isOfRequest: Bool) async throws
  {
    try await FaultServer.with {
      if !isOfRequest { $0.timeoutInSeconds = 1 }
    } _: { server, client in
      var request = APIRequest(.get, "/hold")
      // Less than a second was none at all: FoundationNetworking cuts it off.
      if isOfRequest { request.configuration.timeoutInSeconds = 0.9 }
      let error = await apiError { try await client.send(request) }
      #expect(error?.code == .timedOut)
      _ = await server.line()
      #expect(await server.line() == "ended /hold")
    }
  }

  @Test(arguments: [Double.infinity, .nan, -1, 1e300])
  func `no number of seconds ends the process`(seconds: Double) async throws {
    try await FaultServer.with { _, client in
      var request = APIRequest(.get, "/echo")
      request.configuration.timeoutInSeconds = seconds
      let got1 = try await client.send(request).status
      #expect(got1 == 200)
    }
  }

  @Test func `an answer that comes byte by byte ends with the total timeout`() async throws {
    try await FaultServer.with {
      $0.totalTimeoutInSeconds = 0.1
    } _: { server, client in
      let error = await apiError { try await client.send(APIRequest(.get, "/drip")) }
      #expect(error?.code == .timedOut)
      _ = await server.line()
      #expect(await server.line() == "ended /drip")
    }
  }

  @Test(arguments: ["hold", "hold-content"])
  func `cancelling the task ends the request at the server`(fault: String) async throws {
    try await FaultServer.with { server, client in
      let sending = Task { try await client.send(APIRequest(.post, APIPath(fault))) }
      #expect(await server.line() == "POST /\(fault) ")
      sending.cancel()
      await #expect(throws: CancellationError.self) { try await sending.value }
      #expect(await server.line() == "ended /\(fault)")
    }
  }

  @Test func `tasks cancelled at any moment end`() async throws {
    try await FaultServer.with { _, client in
      await withTaskGroup { group in
        for number in 0..<200 {
          group.addTask {
            let path: APIPath = number % 2 == 0 ? "/echo" : "/302/~echo"
            let sending = Task { try await client.send(APIRequest(.get, path)) }
            for _ in 0..<number * 20 { await Task.yield() }
            sending.cancel()
            do {
              let got2 = try await sending.value.status
              #expect(got2 == 200)
            } catch {
              #expect(error is CancellationError, "\(error)")
            }
          }
        }
      }
      let got3 = try await client.send(APIRequest(.get, "/echo")).status
      #expect(got3 == 200)
    }
  }

  @Test func `a header field can't begin another one, and a GET has no content`() async throws {
    try await FaultServer.with { _, client in
      var request = APIRequest(.get, "/echo", headers: ["X": "1\r\nAuthorization: me"])
      let broken = await apiError { try await client.send(request) }
      #expect(broken?.code == .invalidRequest)
      request.headers = [:]
      request.body = try APIBody(json: [1])
      let full = await apiError { try await client.send(request) }
      #expect(full?.code == .invalidRequest)
    }
  }
}

/// Where redirects lead.
@Suite struct HTTPRedirectTests {
  private func text(
    _ client: URLSessionAPIClient, _ method: HTTPMethod, _ path: String
  ) async throws -> String {
    let body = method == .get ? nil : try APIBody(json: [1])
    let response = try await client.send(
      APIRequest(method, APIPath(path), headers: ["Authorization": "me"], body: body))
    return "\(response.status) " + String(decoding: response.body, as: UTF8.self)
  }

  @Test func `a redirect is followed where nothing can be lost`() async throws {
    try await FaultServer.with { _, client in
      for status in [301, 302, 303, 307, 308] {
        let got4 = try await text(client, .get, "/\(status)/~echo")
        #expect(got4 == "200 GET me ")
      }
      for status in [307, 308] {
        let got5 = try await text(client, .post, "/\(status)/~echo")
        #expect(got5 == "200 POST me [1]")
      }
      let got6 = try await text(client, .put, "/303/~echo")
      #expect(got6 == "200 GET me ")
      // What followed these with GET took a write for done that nobody had done.
      for status in [301, 302] {
        let got7 = try await text(client, .post, "/\(status)/~echo")
        #expect(got7 == "\(status) ")
      }
      let got8 = try await text(client, .get, "/300/~echo")
      #expect(got8 == "300 ")
      let got9 = try await text(client, .get, "/302/ftp:~~127.0.0.1~echo")
      #expect(got9 == "302 ")
    }
  }

  @Test func `a circle of redirects ends with one of them as the answer`() async throws {
    try await FaultServer.with { server, client in
      // Relative to its own place it leads to itself.
      let got10 = try await text(client, .get, "/302/again")
      #expect(got10 == "302 ")
      for _ in 0...20 { #expect(await server.line()?.hasPrefix("GET /302/again") == true) }
    }
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `Authorization does not go to another host`(method: HTTPMethod) async throws {
    try await FaultServer.with { server, client in
      let elsewhere = "/307/http:~~localhost:\(server.port)~echo"
      let got11 = try await text(client, method, elsewhere)

      #expect(got11 == (method == .get ? "200 GET - " : "200 POST - [1]"))
    }
  }
}
