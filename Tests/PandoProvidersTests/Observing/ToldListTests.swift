import Dispatch
import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

/// The list that each change leads to, and the order of told and own changes.
@Suite struct ToldListTests {
  /// A row of a table.
  private struct Row: Equatable {
    let name: String

    init(_ model: any SimpleModel) { name = (model as? Contact)?.name ?? "" }
  }

  /// The delegate of the documentation, word for word.
  private final class Table: CollectionDataProviderDelegate {
    private let shown: Locked<[Row]>
    private var rows: [Row] {
      get { shown.withLock { $0 } }
      set { shown.withLock { $0 = newValue } }
    }

    init(_ people: [Contact]) { shown = Locked(people.map { Row($0) }) }

    var names: [String] { rows.map(\.name) }

    func show(_ people: [Contact]) { shown.withLock { $0 = people.map { Row($0) } } }

    func collectionDataProviderHasUpdatedData<T>(
      _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
      context: (any Sendable)?
    ) {
      shown.withLock { rows in
        rows = rows.applying(collectionChanges, from: data) { Row($0) }
      }
    }
  }

  /// Names of elements, with an edit of another provider that is not committed.
  @Test(arguments: [false, true])
  func `a new delegate gets the changes since the data at the time when it was set`(
    isPaused: Bool
  ) async throws {
    try await withStore { store in
      try await store.write { transaction in
        try transaction.setCollection("contacts", to: (1...3).map { Contact($0, "\($0)") })
      }
      let manager = try DataModelManager(store: store)
      let editor = CollectionDataProvider<Contact>(dataModelManager: manager)
      let viewer = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await editor.fetchDataFromCache(withCacheKey: "contacts")
      try await viewer.fetchDataFromCache(withCacheKey: "contacts")
      let writer = WriterGate(store)
      editor.append([Contact(4, "4")])
      editor.move(from: 0, to: 3)
      if isPaused { viewer.isPaused = true }
      let table = Table(viewer.data)
      viewer.delegate = table
      #expect(table.names == ["2", "3", "4", "1"])
      editor.append([Contact(5, "5")])
      writer.open()
      await manager.drain()
      viewer.isPaused = false
      await manager.drain()
      #expect(table.names == ["2", "3", "4", "1", "5"])
      #expect(viewer.data.map(\.name) == table.names)
      await manager.close()
    }
  }

  @Test func `a new delegate does not get a change that was queued before`() async throws {
    try await withStore { store in
      try await store.write { try $0.setCollection("contacts", to: [Contact(1, "1")]) }
      let queue = DispatchQueue(label: "delegates")
      let manager = try DataModelManager(store: store, deliveringOn: .queue(queue))
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await provider.fetchDataFromCache(withCacheKey: "contacts")
      let (isHeld, mayGoOn) = (Event(), Event())
      queue.async {
        isHeld.signal()
        mayGoOn.wait()
      }
      await blocking { isHeld.wait() }
      try await store.write { try $0.append([Contact(2, "2")], toCollection: "contacts") }
      let table = Table(provider.data)
      provider.delegate = table
      try await store.write { try $0.append([Contact(3, "3")], toCollection: "contacts") }
      mayGoOn.signal()
      await manager.drain()
      #expect(table.names == ["1", "2", "3"])
      await manager.close()
    }
  }

  @Test(arguments: seeds(8))
  func `the delegate of the documentation follows a writer that awaits nothing`(
    seed: UInt64
  ) async throws {
    try await withStore { store in
      try await store.write { try $0.setCollection("contacts", to: [Contact(1, "1")]) }
      let manager = try DataModelManager(store: store)
      let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await provider.fetchDataFromCache(withCacheKey: "contacts")
      let table = Table(provider.data)
      provider.delegate = table
      var random = SeededGenerator(seed: seed)
      for step in 0..<60 {
        let kind = Int.random(in: 0..<6, using: &random)
        let place = Int.random(in: 0..<8, using: &random)
        try store.submit(ticket: "elsewhere", context: nil) { transaction in
          let count = try transaction.snapshot.collectionCount("contacts") ?? 0
          switch kind {
          case 0 where step % 7 == 0:
            try transaction.setCollection("contacts", to: [Contact(step, "a"), Contact(1, "b")])
          case 1 where count > 0:
            try transaction.removeElements(in: 0..<1, fromCollection: "contacts")
          case 2 where count > 1:
            try transaction.moveElement(
              from: place % count, to: step % count, inCollection: "contacts")
            try transaction.set(Contact(1, "moved \(step)"))
          case 3: try transaction.set(Contact(step / 2, "set \(step)"))
          default:
            try transaction.insert(
              [Contact(step, "\(step)")], at: Swift.min(place, count), inCollection: "contacts")
          }
        }
      }
      try await store.write { try $0.append([Contact(99, "last")], toCollection: "contacts") }
      await manager.drain()
      #expect(table.names == provider.data.map(\.name))
      #expect(table.names.last == "last")
      await manager.close()
    }
  }

  @Test(arguments: Backing.allCases, seeds(4))
  func `own changes and those of the delegate lead to the data, in the order of the queue`(
    backing: Backing, seed: UInt64
  ) async throws {
    let queue = DispatchQueue(label: "owner")
    try await backing.withManager(deliveringOn: .queue(queue)) { manager in
      let owner = ListReplica(manager)
      let others = (0..<2).map { _ in CollectionDataProvider<Contact>(dataModelManager: manager) }
      try await others[0].setData(
        (0..<4).map { Contact($0, "\($0)") }, cacheKey: "contacts"
      ).committed()
      for provider in others + [owner.provider] {
        try await provider.fetchDataFromCache(withCacheKey: "contacts")
      }
      await manager.drain()
      queue.sync { owner.check("at the beginning") }
      try onThreads(3) { thread in
        var random = SeededGenerator(seed: seed &* 10 &+ UInt64(thread))
        for step in 0..<40 {
          if thread == 0 {
            queue.sync {
              if step % 8 == 5 { owner.provider.isPaused.toggle() }
              owner.change(&random, resets: step % 11 == 10)
            }
          } else {
            Self.change(others[thread - 1], &random)
          }
        }
      }
      owner.provider.isPaused = false
      for _ in 0..<3 { await manager.drain() }
      queue.sync { owner.check("seed \(seed)") }
      #expect(owner.provider.data == others[0].data)
    }
  }

  private static func change(
    _ provider: CollectionDataProvider<Contact>, _ random: inout SeededGenerator
  ) {
    let contact = Contact(
      Int.random(in: 0..<12, using: &random), "\(Int.random(in: 0..<100, using: &random))")
    let (count, place) = (provider.count, Int.random(in: 0..<8, using: &random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0...1: provider.insert([contact], at: Swift.min(place, count))
    case 2: provider.update(contact, at: place)
    case 3: provider.remove(at: place)
    case 4: provider.move(from: place, to: Int.random(in: 0..<8, using: &random))
    case 5: provider.dataModelManager.updateModel(contact)
    default:
      if count > 10 { provider.remove(at: 0..<4) } else { provider.append([contact]) }
    }
  }

  @Test(arguments: Backing.allCases)
  func `a moved element with other contents is reported as updated, too`(
    backing: Backing
  ) async throws {
    try await backing.withManager { manager in
      let follower = ListFollower<Contact>(manager)
      let other = CollectionDataProvider<Contact>(dataModelManager: manager)
      try await other.setData(
        (1...3).map { Contact($0, "\($0)") }, cacheKey: "contacts"
      ).committed()
      try await follower.provider.fetchDataFromCache(withCacheKey: "contacts")
      await manager.drain()
      _ = follower.takeCalls()
      follower.provider.isPaused = true
      other.move(from: 0, to: 2)
      try await other.update(Contact(1, "new"), at: 2).committed()
      follower.provider.isPaused = false
      await manager.drain()
      let calls = follower.takeCalls()
      #expect(calls.map(\.change) == [.changes([.move(from: 0, to: 2), .update(index: 2)])])
      #expect(calls.first?.data as? [Contact] == other.data)
    }
  }

  @Test func `changes that wait for the queue come with the list of their time`() async throws {
    let queue = DispatchQueue(label: "owner")
    let manager = DataModelManager(deliveringOn: .queue(queue))
    let (first, second) = (ListFollower<Contact>(manager), ListFollower<Contact>(manager))
    let other = CollectionDataProvider<Contact>(dataModelManager: manager)
    other.setData([], cacheKey: "contacts")
    for follower in [first, second] {
      try await follower.provider.fetchDataFromCache(withCacheKey: "contacts")
    }
    await manager.drain()
    queue.suspend()
    for id in 0..<50 { other.insert([Contact(id)], at: 0) }
    other.remove(at: 10..<20)
    other.setData([Contact(1)], cacheKey: "contacts")
    other.append([Contact(2)])
    queue.resume()
    await manager.drain()
    for follower in [first, second] {
      let lists = follower.takeCalls().map { ($0.data as? [Contact])?.map(\.id) ?? [] }
      #expect(lists.count == 53)
      for id in 0..<50 where id < lists.count { #expect(lists[id] == (0...id).reversed()) }
      #expect(lists.suffix(2) == [[1], [1, 2]])
    }
  }
}
