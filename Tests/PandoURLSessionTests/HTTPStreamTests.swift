import Foundation
import PandoFixtures
import PandoManagers
import PandoURLSession
import Testing

@testable import PandoManagersFixtures

/// Answers that are read piece by piece.
@Suite struct HTTPStreamTests {
  @Test func `all bytes come, and the head before them`() async throws {
    try await FaultServer.with { server, client in
      let count = 8 << 20
      let answer = try await client.stream(APIRequest(.get, "/large/\(count)"))
      #expect(answer.head.status == 200)
      #expect(answer.head.headers["Content-Length"] == "\(count)")
      var (seen, isRight) = (0, true)
      for try await piece in answer {
        seen += piece.count
        isRight = isRight && piece.allSatisfy { $0 == 7 }
      }
      #expect(seen == count && isRight)
      _ = await server.line()
      #expect(await server.line() == "sent \(count)")
    }
  }

  @Test func `unread bytes of a slow reader wait, and delay no other request`() async throws {
    try await FaultServer.with { server, client in
      let count = 32 << 20
      let answer = try await client.stream(APIRequest(.get, "/large/\(count)"))
      var reader = answer.makeAsyncIterator()
      var seen = try await reader.next()?.count ?? 0
      _ = await server.line()
      #expect(await server.line() == "sent \(count)")
      let other = try await client.send(APIRequest(.get, "/echo"))
      #expect(other.status == 200)
      while let piece = try await reader.next() { seen += piece.count }
      #expect(seen == count)
    }
  }

  @Test func `letting go of the answer ends the request`() async throws {
    try await FaultServer.with { server, client in
      do { _ = try await client.stream(APIRequest(.get, "/drip")) }
      _ = await server.line()
      #expect(await server.line() == "ended /drip")
    }
  }

  @Test(arguments: ["cut-content", "cut-chunks"])
  func `half a content throws after its bytes`(fault: String) async throws {
    try await FaultServer.with { _, client in
      var seen = 0
      let error = await apiError {
        for try await piece in try await client.stream(APIRequest(.get, APIPath(fault))) {
          seen += piece.count
        }
      }
      #expect(error?.code == .connectionLost)
    }
  }

  @Test func `cancelling ends a reader that waits, and the request`() async throws {
    try await FaultServer.with { server, client in
      let began = AsyncStream.makeStream(of: Void.self)
      let reading = Task {
        for try await _ in try await client.stream(APIRequest(.get, "/hold-content")) {
          began.continuation.finish()
        }
      }
      for await _ in began.stream {}
      reading.cancel()
      await #expect(throws: CancellationError.self) { try await reading.value }
      _ = await server.line()
      #expect(await server.line() == "ended /hold-content")
    }
  }

  @Test func `a server that stops sending is a timeout`() async throws {
    try await FaultServer.with {
      $0.timeoutInSeconds = 1
    } _: { _, client in
      let error = await apiError {
        for try await _ in try await client.stream(APIRequest(.get, "/hold-content")) {}
      }
      #expect(error?.code == .timedOut)
    }
  }

  @Test func `redirects and refreshes come before the head`() async throws {
    try await FaultServer.with {
      $0.authorize = { $0 == nil ? "Bearer 1" : "Bearer 2" }
    } _: {
      _, client in
      let answer = try await client.stream(APIRequest(.get, "/302/~token"))
      #expect(answer.head.status == 200)
      var content = Data()
      for try await piece in answer { content += piece }
      #expect(String(decoding: content, as: UTF8.self) == #"{"ok":true}"#)
    }
  }
}
