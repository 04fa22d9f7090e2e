import Foundation
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagers

@Model private struct Post {
  @Key var id: Int
  var title: String
  var rank: Int
  /// The stars of all remarks on the post; the writers of a test keep it so.
  var stars = 0
}

@Model(indexed: [\.post, \.created]) private struct Remark {
  @Key var id: Int
  @Indexed var post: Key<Post>?
  var stars: Int
  var created: Int
}

@Model private struct Picture {
  @Key var id: Int
  var post: Post?
  var others: [Key<Post>]
  var bytes: Int
}

@Model private struct Line {
  @Key var id: Int
  var post: Key<Post>
  var text: String
}

/// Entities with related values: followed, asked and worked out in plain Swift.
@Suite struct RelatedTests {
  private typealias Value = (Int, Int, Int?, [Remark], Remark?, Int, [Int: Int])

  private static func ask(
    _ store: ModelStore, _ posts: Query<Post>
  ) throws -> RelatedResult<Post, Value> {
    try store.find(
      posts, with: .answer(.count, by: \Remark.post),
      .answer(.sum(\.stars), of: Query<Remark>(filter: \.stars > 1), by: \.post),
      .answer(.max(\.bytes), by: .child(\Picture.post)), .list(of: lastTwo, by: \.post),
      .first(of: best, by: \.post), .answer(.count, by: .each(\Picture.others)),
      .answer(.count.grouped(by: \.stars), by: \Remark.post))
  }

  private static func follow(
    _ store: ModelStore, _ posts: Query<Post>
  ) -> FollowedSequence<RelatedResult<Post, Value>> {
    store.follow(
      posts, with: .answer(.count, by: \Remark.post),
      .answer(.sum(\.stars), of: Query<Remark>(filter: \.stars > 1), by: \.post),
      .answer(.max(\.bytes), by: .child(\Picture.post)), .list(of: lastTwo, by: \.post),
      .first(of: best, by: \.post), .answer(.count, by: .each(\Picture.others)),
      .answer(.count.grouped(by: \.stars), by: \Remark.post))
  }

  private static let lastTwo = Query<Remark>(
    order: [.descending(\.created), .ascending(\.id)], offset: 1, limit: 2)
  private static let best = Query<Remark>(
    filter: \.stars > 0, order: [.descending(\.stars), .ascending(\.id)])

  private static func same(_ one: (entity: Post, value: Value), _ other: (Post, Value)) -> Bool {
    let (left, right) = (one.value, other.1)
    guard one.entity == other.0, left.0 == right.0, left.1 == right.1, left.2 == right.2 else {
      return false
    }
    return left.3 == right.3 && left.4 == right.4 && left.5 == right.5 && left.6 == right.6
  }

  /// The rows in plain Swift.
  private static func rows(
    _ store: ModelStore, _ posts: Query<Post>
  ) throws -> [(Post, Value)] {
    try store.read { snapshot in
      let remarks = try snapshot.find(Query<Remark>.all).entities
      let pictures = try snapshot.find(Query<Picture>.all).entities
      return try snapshot.find(posts).entities.map { post in
        let own = remarks.filter { $0.post == post.key }
        let newest = own.sorted { ($1.created, $0.id) < ($0.created, $1.id) }
        let best = own.filter { $0.stars > 0 }.min { ($1.stars, $0.id) < ($0.stars, $1.id) }
        return (
          post,
          (
            own.count, own.filter { $0.stars > 1 }.reduce(0) { $0 + $1.stars },
            pictures.filter { $0.post?.key == post.key }.map(\.bytes).max(),
            Array(newest.dropFirst().prefix(2)), best,
            pictures.filter { $0.others.contains(post.key) }.count,
            Dictionary(grouping: own, by: \.stars).mapValues(\.count)
          )
        )
      }
    }
  }

  private static let lists: [(name: String, query: Query<Post>)] = [
    ("all", .all), ("ordered", Query(order: [.ascending(\.rank), .descending(\.title)])),
    ("window", Query(order: [.descending(\.rank)], offset: 1, limit: 3)),
    ("filtered", Query(filter: \.rank > 3)),
    ("unique", Query(order: [.ascending(\.title)], uniqueBy: [.field(\.rank)])),
    ("named", Query(filter: .keys([Post.key(4), Post.key(1), Post.key(90)]))),
  ]

  private static func change(
    _ transaction: inout ModelTransaction, _ random: inout SeededGenerator
  ) throws {
    func post() -> Post {
      Post(
        id: Int.random(in: 0..<8, using: &random),
        title: ["a", "b", "c"].randomElement(using: &random) ?? "",
        rank: Int.random(in: 0..<7, using: &random))
    }
    for _ in 0..<([1, 1, 1, 5, 30].randomElement(using: &random) ?? 1) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: try transaction.deleteIfPresent(Post.key(post().id))
      case 1...2: try transaction.set(post())
      case 3: try transaction.deleteIfPresent(Remark.key(Int.random(in: 0..<30, using: &random)))
      case 4...5:
        try transaction.set(
          Picture(
            id: Int.random(in: 0..<10, using: &random),
            post: Bool.random(using: &random) ? post() : nil,
            others: [post().key, post().key], bytes: Int.random(in: 0..<9, using: &random)))
      default:
        try transaction.set(
          Remark(
            id: Int.random(in: 0..<30, using: &random),
            post: Int.random(in: 0..<6, using: &random) == 0 ? nil : post().key,
            stars: Int.random(in: 0..<4, using: &random),
            created: Int.random(in: 0..<5, using: &random)))
      }
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: seeds(2))
  func `followed, asked and plain values are equal after every commit`(seed: UInt64) async throws {
    let models: [any SimpleModel.Type] =
      seed.isMultiple(of: 2) ? [Post.self, Remark.self, Picture.self] : []
    let store = try ModelStore.inMemory(models: models)
    var random = SeededGenerator(seed: seed)
    for (name, query) in Self.lists {
      var iterator = Self.follow(store, query).makeAsyncIterator()
      var told = try #require(try await iterator.next())
      #expect(told.change == .reset)
      for step in 0..<steps(40) {
        let changes = random.next()
        try await store.write { transaction in
          var random = SeededGenerator(seed: changes)
          try Self.change(&transaction, &random)
        }
        let rows = try Self.rows(store, query)
        let asked = try Self.ask(store, query)
        let comment: Comment = "seed \(seed), \(name), step \(step)"
        try #require(
          asked.count == rows.count && zip(asked, rows).allSatisfy(Self.same), comment)
        while told.count != rows.count || !zip(told, rows).allSatisfy(Self.same) {
          // A wrong last element has no successor, so this would end with the time limit.
          let former = Array(told)
          told = try #require(try await iterator.next())
          let applied = former.applying(told.change, from: Array(told)) { $0 }
          try #require(
            applied.count == told.count
              && zip(told, applied).allSatisfy { Self.same($0, ($1.entity, $1.value)) }, comment)
        }
      }
    }
    await store.close()
  }

  @Test(.timeLimit(.minutes(5)), arguments: seeds(2))
  func `each element is of one commit, beside writers that await nothing`(
    seed: UInt64
  ) async throws {
    let store = try ModelStore.inMemory(models: [Post.self, Remark.self])
    let posts = Query<Post>(order: [.ascending(\.rank)])
    let sum = Related<Post, Int>.answer(.sum(\Remark.stars), by: \.post)
    let rows = store.follow(posts, with: sum, .list(by: \Remark.post), sum, sum, sum, sum)
    let done = Locked(false)
    defer { done.withLock { $0 = true } }
    let reader = Task {
      var elementCount = 0
      for try await rows in rows {
        elementCount += 1
        try Self.checkSums(rows)
        if rows.first?.entity.title == "last" { break }
      }
      return elementCount
    }
    // First elements are read at any moment, also while a commit is published.
    let others = (0..<2).map { _ in
      Task {
        while !done.withLock({ $0 }) {
          var iterator = rows.makeAsyncIterator()
          if let rows = try await iterator.next() { try Self.checkSums(rows) }
          await Task.yield()
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { writers in
      for writer in 0..<3 {
        for step in 0..<60 {
          let (id, stars) = (Int.random(in: 0..<6), Int.random(in: 0..<9))
          let number = writer * 100 + step / 2
          writers.addTask {
            try await store.write { transaction in
              // The remark moves to another post, and both posts are counted again.
              let old = try transaction.snapshot[Remark.key(number)]
              let new = Remark(id: number, post: Post.key(id), stars: stars, created: step)
              for (key, difference) in [(old?.post, -(old?.stars ?? 0)), (new.post, stars)] {
                guard let key else { continue }
                var post =
                  try transaction.snapshot[key]
                  ?? Post(id: Int(key.rawValue.dropFirst(5)) ?? 0, title: "", rank: id)
                post.stars += difference
                post.rank = stars
                try transaction.set(post)
              }
              try transaction.set(new)
            }
          }
        }
      }
      try await writers.waitForAll()
    }
    try await store.write { try $0.set(Post(id: 99, title: "last", rank: -1)) }
    #expect(try await reader.value > 0)
    done.withLock { $0 = true }
    for other in others { try await other.value }
    await store.close()
  }

  private static func checkSums(
    _ rows: RelatedResult<Post, (Int, [Remark], Int, Int, Int, Int)>
  ) throws {
    for (post, (sum, remarks, second, third, fourth, last)) in rows {
      try #require(
        [sum, second, third, fourth, last].allSatisfy { $0 == post.stars }
          && remarks.reduce(0) { $0 + $1.stars } == post.stars)
    }
  }

  @Test func `a commit changes the values of the entities that its models name`() async throws {
    let store = try ModelStore.inMemory(models: [Post.self, Remark.self])
    try await store.write { transaction in
      for id in 0..<600 { try transaction.set(Post(id: id, title: "", rank: id)) }
    }
    let posts = Query<Post>(order: [.ascending(\.rank)])
    var iterator = store.follow(posts, with: .answer(.count, by: \Remark.post)).makeAsyncIterator()
    _ = try await iterator.next()
    try await store.write {
      try $0.set(Remark(id: 1, post: Post.key(431), stars: 1, created: 1))
    }
    var told = try #require(try await iterator.next())
    #expect(told.change == .changes([.update(index: 431)]))
    #expect(told[431].value == 1 && told[430].value == 0 && told.values.reduce(0, +) == 1)
    try await store.write { transaction in
      try transaction.set(Remark(id: 1, post: Post.key(7), stars: 1, created: 1))
      try transaction.set(Post(id: 600, title: "", rank: 5))
    }
    told = try #require(try await iterator.next())
    #expect(
      told.change
        == .changes([.insert(index: 6), .update(index: 8), .update(index: 432)]))
    #expect(told[8].entity.id == 7 && told.entities.count == 601)
    // A remark of no post, and one of a post that does not exist, change nothing.
    try await store.write { transaction in
      try transaction.set(Remark(id: 2, post: nil, stars: 1, created: 1))
      try transaction.set(Remark(id: 3, post: Post.key(1_000), stars: 1, created: 1))
    }
    try await store.write { try $0.delete(Post.key(0)) }
    told = try #require(try await iterator.next())
    #expect(told.change == .changes([.delete(index: 0)]))
    await store.close()
  }

  @Test func `an invalid query and a sum that overflows end an iteration`() async throws {
    let store = try ModelStore.inMemory(models: [Post.self, Remark.self])
    let wrong = Query<Remark>(limit: -1)
    let unique = Query<Remark>(uniqueBy: [.field(\.stars)])
    await #expect(throws: QueryError.self) {
      for try await _ in store.follow(.all, with: .answer(.count, of: wrong, by: \.post)) {}
    }
    await #expect(throws: QueryError.self) {
      for try await _ in store.follow(.all, with: .list(of: unique, by: \.post)) {}
    }
    await #expect(throws: QueryError.self) {
      for try await _ in store.follow(Query<Post>(offset: -1), with: .list(by: \Remark.post)) {}
    }
    #expect(throws: QueryError.self) {
      try store.find(Query<Post>.all, with: .list(by: .each(\Picture.others)))
    }
    try await store.write { transaction in
      try transaction.set(Post(id: 1, title: "", rank: 1))
      try transaction.set(Remark(id: 1, post: Post.key(1), stars: .max, created: 1))
    }
    var iterator = store.follow(Query<Post>.all, with: .answer(.sum(\Remark.stars), by: \.post))
      .makeAsyncIterator()
    #expect(try await iterator.next()?.values == [.max])
    try await store.write {
      try $0.set(Remark(id: 2, post: Post.key(1), stars: 1, created: 1))
    }
    await #expect(throws: QueryError.self) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
    await store.close()
  }

  @Test func `an iteration ends when the store is closed, and when its task is cancelled`()
    async throws
  {
    let store = try ModelStore.inMemory(models: [Post.self, Remark.self])
    let rows = store.follow(Query<Post>.all, with: .answer(.count, by: \Remark.post))
    let begun = Event()
    let cancelled = Task {
      for try await _ in rows { begun.signal() }
    }
    await blocking { begun.wait() }
    cancelled.cancel()
    try await cancelled.value
    var iterator = rows.makeAsyncIterator()
    #expect(try await iterator.next()?.isEmpty == true)
    await store.close()
    await #expect(throws: ManagerError.self) { try await iterator.next() }
  }

  @Test(.timeLimit(.minutes(1))) func `the end after a last value is not lost`() async throws {
    // An iteration waited for ever if the value and the end of the store came before it looked.
    let store = try ModelStore.inMemory(models: [Post.self, Remark.self])
    let hub = try StoreHub.hub(of: store)
    var iterator = store.follow(Query<Post>.all, with: .list(by: \Remark.post)).makeAsyncIterator()
    _ = try await iterator.next()
    try await store.write { transaction in
      try transaction.set(Post(id: 1, title: "", rank: 1))
      try transaction.set(Remark(id: 1, post: Post.key(1), stars: 0, created: 0))
    }
    await store.close()
    // The end has been published when the pipeline has done this.
    await #expect(throws: StoreError.self) { try await hub.line.refresh() }
    #expect(try await iterator.next()?.values.map(\.count) == [1])
    await #expect(throws: ManagerError.self) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test(.timeLimit(.minutes(1)))
  func `an equal related text with other bytes is another value`() async throws {
    let store = try ModelStore.inMemory(models: [Post.self, Line.self])
    let texts = ["\u{e9}", "e\u{301}"]
    try await store.write { transaction in
      try transaction.set(Post(id: 1, title: "", rank: 0))
      try transaction.set(Line(id: 1, post: Post.key(1), text: texts[0]))
    }
    var iterators = (
      store.follow(Query<Post>.all, with: .first(of: Query<Line>.all, by: \.post))
        .makeAsyncIterator(),
      store.follow(Query<Post>.all, with: .list(of: Query<Line>.all, by: \.post))
        .makeAsyncIterator(),
      store.follow(Query<Post>.all, with: .answer(.max(\.text), by: \Line.post))
        .makeAsyncIterator()
    )
    for text in texts {
      try await store.write { try $0.set(Line(id: 1, post: Post.key(1), text: text)) }
      let first = try #require(try await iterators.0.next())
      let list = try #require(try await iterators.1.next())
      let greatest = try #require(try await iterators.2.next())
      let found = [first[0].value?.text, list[0].value.first?.text, greatest[0].value]
      #expect(found.allSatisfy { Array(($0 ?? "").utf8) == Array(text.utf8) })
    }
    await store.close()
  }

  @Test func `rows of a list that is read again are updated only if they differ`() async throws {
    let store = try ModelStore.inMemory(models: [Post.self, Remark.self, Picture.self])
    try await store.write { transaction in
      for id in 0..<4 {
        let post = Post(id: id, title: "", rank: id)
        try transaction.set(Picture(id: id, post: post, others: [], bytes: 0))
      }
    }
    let held = Query<Post>(
      filter: .held(by: Picture.key(1)) || .held(by: Picture.key(2)), order: [.ascending(\.rank)])
    let unique = Query<Post>(order: [.ascending(\.rank)], uniqueBy: [.field(\.title)])
    var helds = store.follow(held, with: .answer(.count, by: \Remark.post)).makeAsyncIterator()
    var uniques = store.follow(unique, with: .answer(.count, by: \Remark.post)).makeAsyncIterator()
    #expect(try await helds.next()?.values == [0, 0])
    #expect(try await uniques.next()?.values == [0])
    // Both lists are read again after the first write, and have not changed.
    try await store.write { try $0.set(Post(id: 3, title: "", rank: 3, stars: 1)) }
    try await store.write { try $0.set(Post(id: 2, title: "b", rank: 2)) }
    #expect(try await helds.next()?.change == .changes([.update(index: 1)]))
    #expect(try await uniques.next()?.change == .changes([.insert(index: 1)]))
    await store.close()
  }
}
