import Foundation
import PandoFixtures
import PandoManagers
import PandoStore
import PandoURLSession
import Testing

@Suite struct QueueTests {
  /// Runs `body` with the path of a store in which requests 1 to 3 wait and 4 was refused.
  private func withQueue(_ body: (String) throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-queue-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let server = try TestServer { _ in .status(409, [:], "no\ttwice") }
    let url = try #require(URL(string: server.address))
    let store = try ModelStore(path: directory, configuration: .forTests)
    let queue = APIClientQueue.open(for: store, client: URLSessionAPIClient(baseURL: url))
    let refused = try await queue.enqueue(APIRequest(.post, "/books"))
    await #expect(throws: APIError.self) { try await refused.confirmation() }
    await queue.close()
    server.stop()
    let waiting = APIClientQueue.open(for: store, client: URLSessionAPIClient(baseURL: url))
    try await store.write { transaction in
      for path: APIPath in ["/books/1", "/books/2"] {
        let ticket = waiting.ticket(
          for: APIRequest(.put, path, body: try APIBody(json: ["title": "Dune"])),
          subjects: ["Book:1"])
        try ticket.enqueue(in: &transaction)
      }
    }
    await waiting.close()
    await store.close()
    try body(directory)
  }

  private let failed =
    "1\tfailed\t1\tPOST /books\tPOST /books: the server answered 409: no\\ttwice\n"

  @Test func `queued requests are listed in their order, refused ones last`() async throws {
    try await withQueue { path in
      try PandoProcess.output("queue", path)
      let lines = "2\twaiting\t0\tPUT /books/1\n3\twaiting\t0\tPUT /books/2\n" + failed
      #expect(try PandoProcess.output("queue", path) == lines)
      #expect(try PandoProcess.output("queue", path, "list") == lines)
      let json = try JSONSerialization.jsonObject(
        with: Data(try PandoProcess.output("queue", path, "--json").utf8))
      let requests = try #require(json as? [[String: Any]])
      #expect(requests.map { $0["number"] as? Int } == [2, 3, 1])
      #expect(requests[0]["method"] as? String == "PUT")
      #expect(requests[0]["body"] as? String == #"{"title":"Dune"}"#)
      #expect(requests[0]["nodes"] as? [String] == ["Book:1"])
      #expect(requests[0]["lanes"] as? [String] == ["Book:1"])
      #expect(requests[0]["isUndone"] as? Bool == false)
    }
  }

  @Test func `a refused request goes to the end of the queue again`() async throws {
    try await withQueue { path in
      let refusal = try PandoProcess.failure(3, "queue", path, "retry", "2")
      #expect(refusal.contains("was not refused"))
      #expect(try PandoProcess.output("queue", path, "retry", "1") == "")
      #expect(
        try PandoProcess.output("queue", path).hasSuffix(
          "4\twaiting\t0\tPOST /books\tPOST /books: the server answered 409: no\\ttwice\n"))
      #expect(try PandoProcess.output("queue", path, "retry", "all") == "")
    }
  }

  @Test func `requests are dropped, one or all`() async throws {
    try await withQueue { path in
      try PandoProcess.output("queue", path, "drop", "2", "3")
      #expect(try PandoProcess.output("queue", path) == failed)
      #expect(
        try PandoProcess.failure(1, "queue", path, "drop", "1", "9").contains("no request 9"))
      #expect(try PandoProcess.output("queue", path) == failed, "nothing was changed")
      #expect(try PandoProcess.output("queue", path, "drop", "all") == "")
      #expect(try PandoProcess.output("queue", path) == "")
    }
  }

  @Test func `get shows the state of nodes whose changes a server has not accepted`() async throws {
    try await withQueue { path in
      #expect(try PandoProcess.output("get", path, "Book:1", "--state") == "pending\n")
      try PandoProcess.output("queue", path, "drop", "2", "3")
      try PandoProcess.failure(1, "get", path, "Book:1", "--state")
      try PandoProcess.output("set", path, "Book:1", #"{"title":"Dune"}"#, "--type", "Book")
      #expect(try PandoProcess.output("get", path, "Book:1", "--state") == "unsynced\n")
    }
  }

  @Test func `a refused write that was taken back is listed as undone`() async throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-undone-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let server = try TestServer { _ in .status(422) }
    let client = URLSessionAPIClient(baseURL: try #require(URL(string: server.address)))
    let container = try CoreManagerContainer(
      entities: Page.self, client: client, diskStoreConfig: .path(directory))
    let written = try await container[Page.self].set(Page(id: .remote("7")), in: .localAndRemote)
    await #expect(throws: APIError.self) { try await written.confirmed() }
    await container.close()
    server.stop()
    let line = try PandoProcess.output("queue", directory)
    #expect(line.hasPrefix("1\tundone\t1\tPUT /Page/7\t"))
    try PandoProcess.failure(1, "get", directory, "Page:7")
  }

  private struct Page: PersistentEntity, RemoteEntity {
    var id: EntityIdentifier<Page>
  }

  @Test func `wrong actions and numbers are reported`() async throws {
    try await withQueue { path in
      #expect(try PandoProcess.failure(2, "queue", path, "send").contains("no action"))
      #expect(try PandoProcess.failure(2, "queue", path, "drop").contains("or all"))
      #expect(try PandoProcess.failure(2, "queue", path, "retry", "x").contains("no number"))
      try PandoProcess.failure(1, "queue", path + "/absent")
    }
  }
}
