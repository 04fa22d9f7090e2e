import Foundation
import PandoFixtures
import PandoManagers
import PandoSystem
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

/// How requests are let in: the server welcomes `Bearer 2`.
@Suite struct HTTPAuthorizationTests {
  private let token = APIRequest(.get, "/token")

  @Test func `requests refused at the same time are sent once more after one refresh`() async throws
  {
    let refreshes = Locked(0)
    let mayRefresh = AsyncStream.makeStream(of: Void.self)
    try await FaultServer.with { configuration in
      configuration.authorize = { refused in
        guard let refused else { return "Bearer 1" }
        #expect(refused.status == 401)
        refreshes.withLock { $0 += 1 }
        for await _ in mayRefresh.stream {}
        return "Bearer 2"
      }
    } _: { server, client in
      let sending = (1...8).map { _ in Task { try await client.send(token).status } }
      for _ in 1...8 { _ = await server.line() }
      mayRefresh.continuation.finish()
      for task in sending { let got1 = try await task.value; #expect(got1 == 200) }
      #expect(refreshes.withLock { $0 } == 1)
    }
  }

  @Test func `when the second attempt is refused too that is the answer`() async throws {
    let asked = Locked<[Int?]>([])
    try await FaultServer.with { configuration in
      configuration.authorize = { refused in
        asked.withLock { $0.append(refused?.status) }
        return "Bearer 1"
      }
    } _: { server, client in
      let got2 = try await client.send(token).status
      #expect(got2 == 401)
      #expect(asked.withLock { $0 } == [nil, 401])
      #expect(await server.line() == "GET /token ")
      #expect(await server.line() == "GET /token ")
      let got3 = try await client.send(APIRequest(.get, "/echo")).status
      #expect(got3 == 200)
      #expect(await server.line() == "GET /echo ", "it was sent twice and not more often")
    }
  }

  @Test func `without a new value the 401 is the answer`() async throws {
    try await FaultServer.with { configuration in
      configuration.authorize = { $0 == nil ? "Bearer 1" : nil }
    } _: { server, client in
      let got4 = try await client.send(token).status
      #expect(got4 == 401)
      let got5 = try await client.send(APIRequest(.get, "/echo")).status
      #expect(got5 == 200)
      #expect(await server.line() == "GET /token ")
      #expect(await server.line() == "GET /echo ")
    }
  }

  @Test func `an Authorization of the request itself counts`() async throws {
    try await FaultServer.with { configuration in
      configuration.authorize = { _ in
        Issue.record("asked")
        return nil
      }
    } _: { _, client in
      var request = token
      request.headers["Authorization"] = "Bearer 3"
      let got6 = try await client.send(request).status
      #expect(got6 == 401)
    }
  }

  @Test func `the closure can use the client itself, and its error is thrown`() async throws {
    let known = Locked<URLSessionAPIClient?>(nil)
    try await FaultServer.with { configuration in
      configuration.authorize = { refused in
        guard refused != nil, let client = known.withLock({ $0 }) else { return "Bearer 1" }
        let answer = try await client.send(APIRequest(.get, "/echo"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "GET - ")
        _ = try await client.send(APIRequest(.get, "/drop"))
        return nil
      }
    } _: { _, client in
      known.withLock { $0 = client }
      let error = await apiError { try await client.send(token) }
      #expect(error?.code == .connectionLost)
      #expect(error?.request == "GET /drop")
      known.withLock { $0 = nil }
    }
  }

  @Test(arguments: [true, false])
  func `cancelling ends the wait for the closure at once`(isRefresh: Bool) async throws {
    let (began, end) = (
      AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
    )
    // The closure does not care that it is cancelled.
    let ending = Task.detached { for await _ in end.stream {} }
    try await FaultServer.with { configuration in
      configuration.authorize = { refused in
        guard refused != nil || !isRefresh else { return "Bearer 1" }
        began.continuation.finish()
        await ending.value
        return "Bearer 2"
      }
    } _: { _, client in
      let sending = Task { try await client.send(token).status }
      for await _ in began.stream {}
      sending.cancel()
      await #expect(throws: CancellationError.self) { try await sending.value }
      end.continuation.finish()
      let got7 = try await client.send(token).status
      #expect(got7 == 200, "and the next one begins anew")
    }
  }

  @Test func `one that leaves the refresh does not take it from the others`() async throws {
    let (began, end) = (
      AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
    )
    try await FaultServer.with { configuration in
      configuration.authorize = { refused in
        guard refused != nil else { return "Bearer 1" }
        began.continuation.finish()
        for await _ in end.stream {}
        try Task.checkCancellation()
        return "Bearer 2"
      }
    } _: { server, client in
      let first = Task { try await client.send(token).status }
      for await _ in began.stream {}
      let second = Task { try await client.send(token).status }
      let third = Task { try await client.send(token).status }
      second.cancel()
      await #expect(throws: CancellationError.self) { try await second.value }
      end.continuation.finish()
      let got8 = try await first.value
      #expect(got8 == 200)
      let got9 = try await third.value
      #expect(got9 == 200)
    }
  }
}
