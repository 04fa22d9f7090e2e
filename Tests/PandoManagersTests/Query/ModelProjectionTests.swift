import PandoManagers
import PandoModels
import PandoStore
import Testing

@Model private struct Volume {
  @Key var id: Int
  @Indexed var title: String
  var pageCount: Int
}

@Model(of: Volume.self) private struct VolumeCard {
  @Key var id: Int
  @Indexed var title: String
}

/// Models that represent the nodes of another one, in queries.
@Suite struct ModelProjectionTests {
  private let store: ModelStore

  init() throws {
    store = try ModelStore.inMemory(models: [Volume.self, VolumeCard.self])
    try store.write { transaction in
      for number in 0..<6 {
        try transaction.set(Volume(id: number, title: number < 4 ? "a" : "b", pageCount: 9))
      }
      try transaction.set(VolumeCard(id: 2, title: "b"))
      try transaction.set(VolumeCard(id: 20, title: "a"))
    }
  }

  // A read by key found the card, and a query did not.
  @Test func `a query finds the nodes that were written as the other type`() async throws {
    let named = Query(filter: \VolumeCard.title == "a")
    #expect(try await store.find(named).entities.map(\.id) == [0, 1, 3, 20])
    #expect(try await store.answer(.count, to: named) == 4)
    let byKey = Query<VolumeCard>(filter: .keys([VolumeCard.key(1), VolumeCard.key(9)]))
    #expect(try await store.find(byKey).entities == [VolumeCard(id: 1, title: "a")])
    // The card 20 has no number of pages, so it is no volume.
    #expect(
      try await store.find(Query(filter: \Volume.title == "a")).entities.map(\.id) == [0, 1, 3])
    #expect(try await store.write { try $0.deleteAll(matching: named) } == 4)
    #expect(try await store.find(Query<Volume>()).entities.map(\.id) == [2, 4, 5])
  }

  @Test func `a followed key shows what a read of it returns`() async throws {
    let key = VolumeCard.key(1)
    var cards = store.follow(key).makeAsyncIterator()
    #expect(try await cards.next() == .some(VolumeCard(id: 1, title: "a")))
    try await store.update(Volume.key(1)) { $0.title = "c" }
    #expect(try await cards.next() == .some(VolumeCard(id: 1, title: "c")))
    #expect(try await store.get(key) == VolumeCard(id: 1, title: "c"))
    _ = try await store.write { try $0.delete(key) }
    #expect(try await cards.next() == .some(nil))
  }

  @Test func `a followed query shows the nodes that were written as the other type`() async throws {
    var titles = store.follow(Query(filter: \VolumeCard.title == "a")).makeAsyncIterator()
    #expect(try await titles.next()?.entities.map(\.id) == [0, 1, 3, 20])
    try await store.write { try $0.set(Volume(id: 30, title: "a", pageCount: 1)) }
    #expect(try await titles.next()?.entities.map(\.id) == [0, 1, 3, 20, 30])
    try await store.update(Volume.key(0)) { $0.title = "b" }
    #expect(try await titles.next()?.entities.map(\.id) == [1, 3, 20, 30])
  }
}
