import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// A store that has no room left can be emptied, and filled again.
@Suite struct FullStoreTests {
  struct Page: Model, Codable, Equatable {
    var id: Int
    var text: String
    var modelIdentifier: String? { "Page:\(id)" }
  }

  /// A parent of a page, so that the removal of the page rewrites a record.
  struct Book: Model, Codable, Equatable {
    var id: Int
    var page: Page?
    var modelIdentifier: String? { "Book:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> Book? {
      Book(id: id, page: page.flatMap { transform($0) as? Page })
    }

    func forEach(_ visit: (any Model) -> Void) { page.map(visit) }
  }

  enum Emptying: CaseIterable {
    case oneByOne
    case atOnce
    case newestFirst
  }

  private static var configuration: StoreConfiguration {
    var configuration = StoreConfiguration.forTests
    configuration.mapSizeInBytes = 4 << 20
    configuration.maximumMapSizeInBytes = 4 << 20
    return configuration
  }

  private static let text = String(repeating: "x", count: 2_000)

  /// Sets one book after another until there is no room.
  ///
  /// - Returns: How many there are, and why there are no more.
  private func fill(_ store: ModelStore) throws -> (count: Int, code: LMDBError.Code) {
    var count = 0
    while true {
      do {
        let id = count
        try store.write { transaction in
          try transaction.set(Book(id: id, page: Page(id: id, text: Self.text)))
          try transaction.append([Book(id: id)], toCollection: "books")
        }
        count += 1
      } catch let error as LMDBError {
        return (count, error.code)
      }
    }
  }

  private func empty(_ store: ModelStore, _ count: Int, _ emptying: Emptying) throws {
    switch emptying {
    case .atOnce: try store.write { try $0.removeAll() }
    case .oneByOne, .newestFirst:
      let order = emptying == .oneByOne ? Array(0..<count) : (0..<count).reversed()
      for id in order {
        try store.write { try $0.deleteIfPresent("Page:\(id)") }
        try store.write { try $0.deleteIfPresent("Book:\(id)") }
      }
    }
    #expect(try store.read { try $0.identifiers() } == [])
    #expect(try store.verify().problems == [])
  }

  @Test(
    .overBothBackings,
    arguments: sample(pairs(Emptying.allCases, [Durability.unsynchronized, .full]), 2))
  func `a map that is full is emptied and filled again`(
    emptying: Emptying, durability: Durability
  ) throws {
    var configuration = Self.configuration
    configuration.durability = durability
    let store = try ModelStore.forTest(configuration)
    defer { store.close() }
    var counts: [Int] = []
    for _ in 0..<(durability == .full ? 1 : 2) {
      let (count, code) = try fill(store)
      #expect(code == .mapFull)
      counts.append(count)
      try empty(store, count, emptying)
    }
    let least = try #require(counts.min())
    #expect(least > 200)
    #expect(least > (counts.first ?? 0) * 7 / 10)
  }

  @Test(.overBothBackings)
  func `removals pass when they share a commit with writes that find no room`() throws {
    let store = try ModelStore.forTest(Self.configuration)
    defer { store.close() }
    let (count, _) = try fill(store)
    try onThreads(4) { thread in
      for id in stride(from: thread, to: count, by: 4) {
        if thread == 0 {
          do {
            try store.write { try $0.set(Page(id: count + id, text: Self.text)) }
            try store.write { try $0.deleteIfPresent("Page:\(count + id)") }
          } catch let error as LMDBError where error.code == .mapFull {
            // The others have freed too little so far.
          }
        } else {
          try store.write { try $0.deleteIfPresent("Page:\(id)") }
        }
      }
    }
    let pages = try store.read { try $0.identifiers(prefix: "Page:").count }
    #expect(pages == (count + 3) / 4)
    #expect(try store.verify().problems == [])
  }

  /// Runs `body` with the folder of a disk of its own; not at all where it can't be made.
  private func withDisk(ofSize size: String, _ body: (String) throws -> Void) throws {
    try withTemporaryDirectory { path in
      guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { return }
      defer { umount2(path, CInt(MNT_DETACH)) }
      try body(path)
    }
  }

  @Test(arguments: sample(pairs(Emptying.allCases, [Durability.unsynchronized, .relaxed()]), 2))
  func `a disk that is full lets a store be emptied and filled again`(
    emptying: Emptying, durability: Durability
  ) throws {
    try withDisk(ofSize: "8m") { path in
      var configuration = StoreConfiguration.forTests
      configuration.durability = durability
      let store = try ModelStore(path: "\(path)/store", configuration: configuration)
      defer { store.close() }
      var counts: [Int] = []
      for _ in 0..<2 {
        let (count, code) = try fill(store)
        #expect(code == .diskFull)
        counts.append(count)
        // Others take what is left of the disk.
        let file = unsafe fopen("\(path)/other", "w")
        while unsafe fwrite(Self.text, 1, 2_000, file) == 2_000, unsafe fflush(file) == 0 {}
        unsafe fclose(file)
        try empty(store, count, emptying)
        unlink("\(path)/other")
      }
      let least = try #require(counts.min())
      #expect(least > 500)
      #expect(least > (counts.first ?? 0) * 7 / 10)
    }
  }

  /// A write that stores something, though it empties or removes something else, or tries to.
  enum Disguise: CaseIterable {
    case emptyLists, emptiedLists, absentNode, absentList, absentProperty, absentIndex,
      nothingToPrune, rules

    func write(_ number: Int, in transaction: inout ModelTransaction) throws {
      let key = "\(number)/" + String(repeating: "k", count: 380)
      switch self {
      case .emptyLists: return try transaction.setCollection(key, to: [Page]())
      case .emptiedLists:
        try transaction.setCollection(key, to: [Page]())
        return try transaction.setCollection(key, to: [Page]())
      case .absentNode: try transaction.deleteIfPresent("Page:-1")
      case .absentList: try transaction.removeCollection("none")
      case .absentProperty: try transaction.setProperty("none", to: nil)
      case .absentIndex: try transaction.dropIndex(on: "none", ofType: "Page")
      case .nothingToPrune: try transaction.prune()
      case .rules:
        if number == 0 { try transaction.deleteIfPresent("Page:0") }
        return try transaction.setDeletionRules([.owned("child")], ofType: "Type\(number)")
      }
      try transaction.append([Page](), toCollection: key)
    }
  }

  @Test(.overBothBackings, arguments: sample(Disguise.allCases, 3))
  func `the room for removals is not for writes that only look like them`(disguise: Disguise) throws
  {
    let store = try ModelStore.forTest(Self.configuration)
    defer { store.close() }
    let (count, _) = try fill(store)
    #expect {
      try store.write { transaction in
        for number in 0..<4_000 { try disguise.write(number, in: &transaction) }
      }
    } throws: {
      ($0 as? LMDBError)?.code == .mapFull
    }
    try empty(store, count, .atOnce)
  }

  @Test(.overBothBackings)
  func `a write that failed does not take the room from removals beside it`() throws {
    let store = try ModelStore.forTest(Self.configuration)
    defer { store.close() }
    _ = try store.write { try $0.addIndex(on: "text", ofType: "Page") }
    let (count, _) = try fill(store)
    for id in 0..<count {
      try store.write { transaction in
        // There is such an index.
        #expect(try !transaction.addIndex(on: "text", ofType: "Page"))
        #expect(throws: StoreError.self) {
          try transaction.nested { try $0.setCollection("", to: [Page]()) }
        }
        #expect(throws: StoreError.self) { try transaction.addIndex(on: [], ofType: "Page") }
        try transaction.deleteIfPresent("Book:\(id)")
        try transaction.deleteIfPresent("Page:\(id)")
      }
    }
    try empty(store, 0, .atOnce)
  }

  @Test(.overBothBackings, arguments: sample(pairs([20, 300, 3_000], [false, true]), 1))
  func `a full store takes back the space of the change log`(
    size: Int, keepsRecords: Bool
  ) throws {
    var configuration = Self.configuration
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 1 << 20
    configuration.changeLogKeepsRecords = keepsRecords
    let store = try ModelStore.forTest(configuration)
    defer { store.close() }
    let text = String(repeating: "x", count: size)
    var counts: [Int] = []
    for _ in 0..<2 {
      var count = 0
      while true {
        do {
          let id = count
          try store.write { try $0.set(Page(id: id, text: text)) }
          count += 1
        } catch let error as LMDBError where error.code == .mapFull {
          break
        }
      }
      counts.append(count)
      for id in 0..<count { try store.write { try $0.deleteIfPresent("Page:\(id)") } }
    }
    let least = try #require(counts.min())
    #expect(least > (counts.first ?? 0) / 2, "\(counts)")
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: sample([3, 1], 1))
  func `on a full disk the change log leaves removals of small models their room`(
    threadCount: Int
  ) throws {
    try withDisk(ofSize: "2m") { path in
      let store = try ModelStore(path: "\(path)/store", configuration: .forTests)
      defer { store.close() }
      var counts: [Int] = []
      for _ in 0..<2 {
        let added = Locked(0)
        try onThreads(threadCount) { thread in
          for number in 0... {
            let id = number * threadCount + thread
            do {
              try store.write { try $0.set(Page(id: id, text: "twenty bytes of text")) }
              added.withLock { $0 += 1 }
            } catch let error as LMDBError where error.code == .diskFull {
              break
            }
          }
        }
        counts.append(added.withLock(\.self))
        let identifiers = try store.read { try $0.identifiers() }
        try onThreads(threadCount) { thread in
          for place in stride(from: thread, to: identifiers.count, by: threadCount) {
            try store.write { try $0.deleteIfPresent(identifiers[place]) }
          }
        }
        #expect(try store.read { try $0.count() } == 0)
      }
      let least = try #require(counts.min())
      #expect(least > (counts.first ?? 0) / 2, "\(counts)")
      #expect(try store.verify().problems == [])
    }
  }

  @Test(.overBothBackings) func `the change log stays where the room it takes is not enough`()
    throws
  {
    let store = try ModelStore.forTest(Self.configuration)
    defer { store.close() }
    for id in 0..<100 { try store.write { try $0.set(Page(id: id, text: "x")) } }
    let text = String(repeating: "x", count: 5 << 20)
    #expect {
      try store.write { try $0.set(Page(id: -1, text: text)) }
    } throws: {
      ($0 as? LMDBError)?.code == .mapFull
    }
    #expect(try store.read { try $0.changes(since: .zero) }.count == 100)
  }

  @Test(.overBothBackings) func `a full store keeps the changes of a cursor until its removal`()
    throws
  {
    var configuration = Self.configuration
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 1 << 20
    let store = try ModelStore.forTest(configuration)
    defer { store.close() }
    _ = try store.cursor(named: "slow")
    let start = try store.read { try $0.commitNumber.value }
    let count = (0..<100_000).first { id in
      (try? store.write { try $0.set(Page(id: id, text: "x")) }) == nil
    }
    #expect(try store.read { try $0.changes(since: CommitNumber(value: start)) }.count == count)
    #expect(try store.removeCursor(named: "slow"))
    try store.write { try $0.set(Page(id: -1, text: "x")) }
  }

  @Test func `writes that replace leave removals their room on a full disk beside a read`() throws {
    try withDisk(ofSize: "4m") { path in
      let store = try ModelStore(path: "\(path)/store", configuration: .forTests)
      defer { store.close() }
      for id in 0..<100 { try store.write { try $0.set(Page(id: id, text: Self.text)) } }
      try store.read { _ in
        try onThreads(1) { _ in
          var number = 0
          while true {
            do {
              let page = Page(id: 1, text: Self.text + "\(number)")
              try store.write { try $0.set(page) }
              number += 1
            } catch let error as LMDBError where error.code == .diskFull {
              break
            }
          }
          // One after another would come to the end of the room: the read keeps what each of them frees.
          for id in 0..<3 { try store.write { try $0.deleteIfPresent("Page:\(id)") } }
          try store.write { try $0.removeAll() }
        }
      }
    }
  }

  @Test func `a store on a full disk can be opened with a longer change log`() throws {
    try withDisk(ofSize: "4m") { path in
      var configuration = StoreConfiguration.forTests
      let first = try ModelStore(path: "\(path)/store", configuration: configuration)
      let (count, _) = try fill(first)
      first.close()
      let file = unsafe fopen("\(path)/other", "w")
      while unsafe fwrite(Self.text, 1, 2_000, file) == 2_000, unsafe fflush(file) == 0 {}
      unsafe fclose(file)
      configuration.changeLogLimit *= 2
      let second = try ModelStore(path: "\(path)/store", configuration: configuration)
      defer { second.close() }
      try empty(second, count, .oneByOne)
    }
  }
}
