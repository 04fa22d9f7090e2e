import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// The natural order once a server has named an entity.
@Suite struct MergedOrderTests {
  /// A server that gives what is made the number 42, once it may.
  private struct Naming: APIClient {
    let mayAnswer: Event

    func send(_ request: APIRequest) async throws -> APIResponse {
      await blocking { mayAnswer.wait() }
      return APIResponse(status: 201, body: Data(#"{"id":42,"title":"A"}"#.utf8))
    }
  }

  /// A container with volumes A, B and C in this order; of a query that was followed before the server
  /// has named the first one, `body` gets what it shows afterwards.
  private func withVolumes(
    following query: Query<Volume>,
    _ body: (_ volumes: CoreManager<Volume>, _ followed: [String]) async throws -> Void
  ) async throws {
    let mayAnswer = Event()
    let container = try CoreManagerContainer(
      entities: Volume.self, client: Naming(mayAnswer: mayAnswer), diskStoreConfig: .temporary())
    let volumes = container[Volume.self]
    let first = try await volumes.set(
      Volume(id: .local("a"), title: "A"), in: .localAndRemote)
    try await volumes.set(Volume(id: .local("b"), title: "B"))
    try await volumes.set(Volume(id: .local("c"), title: "C"))
    var values = volumes.follow(query).makeAsyncIterator()
    _ = try await values.next()
    mayAnswer.signal()
    let named = try await first.confirmed()
    #expect(named.id == .remote(42))
    try await volumes.set(Volume(id: .local("d"), title: "D"))
    var followed: [String] = []
    while followed.last != "D" {
      followed = try #require(try await values.next()).entities.map(\.title)
    }
    try await body(volumes, followed)
    await container.close()
  }

  /// The first result of a query that is followed from now on.
  private func first(_ query: FollowedQuery<Volume>) async throws -> [String]? {
    var values = query.makeAsyncIterator()
    return try await values.next()?.entities.map(\.title)
  }

  @Test func `all entities stand in the order in which they are followed`() async throws {
    try await withVolumes(following: Query()) { volumes, followed in
      let all = try await volumes.all().entities.map(\.title)
      let begun = try await first(volumes.followAll())
      #expect(followed == ["A", "B", "C", "D"])
      #expect(begun == followed)
      #expect(all == followed)
    }
  }

  @Test func `a search stands in the order in which it is followed`() async throws {
    let query = Query(filter: \Volume.title != "B")
    try await withVolumes(following: query) { volumes, followed in
      let found = try await volumes.search(withQuery: query).entities.map(\.title)
      #expect(followed == ["A", "C", "D"])
      #expect(found == followed)
    }
  }

  @Test func `a page has the entities of the same page of what is followed`() async throws {
    try await withVolumes(following: Query()) { volumes, followed in
      var pages: [String] = []
      for page in 0..<2 {
        let query = Query<Volume>(offset: 2 * page, limit: 2)
        pages += try await volumes.search(withQuery: query).entities.map(\.title)
      }
      #expect(followed == ["A", "B", "C", "D"])
      #expect(pages == followed)
    }
  }
}
