import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

/// Static edits at a place that is looked up with the write: by a closure, or by an identifier.
@Suite struct CollectionPlaceTests {
  private typealias Contacts = CollectionDataProvider<Contact>
  private struct Refusal: Error {}

  /// A backing, and whether somebody shows the list; without a store nobody else keeps it.
  static let cases: [(Backing, Bool)] = [
    (.store, true), (.store, false), (.cache, true), (.cache, false), (.memory, true),
  ]

  /// Runs a body over a list of 1, 2 and 3, and tells what the list is then.
  private func list(
    _ backing: Backing, isShown: Bool, after body: @Sendable (DataModelManager) async throws -> Void
  ) async throws -> [Contact]? {
    try await backing.withManager { manager in
      let owner = Contacts(dataModelManager: manager)
      try await owner.setData(Contact.list(1, 2, 3), cacheKey: "c").committed()
      if !isShown { owner.setData([], cacheKey: "elsewhere") }
      await manager.drain()
      try await body(manager)
      await manager.drain()
      let reader = Contacts(dataModelManager: manager)
      let read = try await reader.fetchDataFromCache(withCacheKey: "c")
      if isShown { #expect(owner.data == read) }
      return read
    }
  }

  @Test(arguments: cases)
  func `a closure over the list says where, and whether at all`(
    backing: Backing, isShown: Bool
  ) async throws {
    let list = try await list(backing, isShown: isShown) { manager in
      Contacts.insert(
        [Contact(4)], at: { $0.firstIndex { $0.id == 3 } }, cacheKey: "c",
        dataModelManager: manager)
      Contacts.update(
        Contact(2, "new"), at: { $0.firstIndex { $0.id == 2 } }, cacheKey: "c",
        dataModelManager: manager)
      Contacts.remove(
        at: { $0.firstIndex { $0.id == 1 } }, cacheKey: "c", dataModelManager: manager)
      let left = Contacts.insert(
        [Contact(2, "other")], at: { $0.contains { $0.id == 2 } ? nil : 0 }, cacheKey: "c",
        dataModelManager: manager)
      let change = try await left.committed()
      #expect(change == nil)
    }
    #expect(list == [Contact(2, "new"), Contact(4), Contact(3)])
  }

  @Test func `an insertion that was not wanted shows its models nowhere`() async throws {
    try await withStore { store in
      try await store.write { try $0.setCollection("c", to: Contact.list(1)) }
      let manager = try DataModelManager(store: store)
      let contact = DataProvider<Contact>(dataModelManager: manager)
      try await contact.fetchDataFromCache(withCacheKey: "Contact:1")
      let left = Contacts.insert(
        [Contact(1, "other")], at: { $0.isEmpty ? 0 : nil }, cacheKey: "c",
        dataModelManager: manager)
      let change = try await left.committed()
      #expect(change == nil)
      #expect(contact.data == Contact(1))
      await manager.close()
    }
  }

  @Test(arguments: cases)
  func `an identifier says where`(backing: Backing, isShown: Bool) async throws {
    let list = try await list(backing, isShown: isShown) { manager in
      Contacts.insert(
        [Contact(4), Contact(5)], at: "Contact:3", cacheKey: "c", dataModelManager: manager)
      Contacts.update(
        Contact(2, "new"), at: "Contact:2", cacheKey: "c", dataModelManager: manager)
      Contacts.remove(at: "Contact:1", cacheKey: "c", dataModelManager: manager)
    }
    #expect(list == [Contact(2, "new"), Contact(4), Contact(5), Contact(3)])
  }

  @Test(arguments: cases)
  func `an element that is not there is named, and nothing changes`(
    backing: Backing, isShown: Bool
  ) async throws {
    let list = try await list(backing, isShown: isShown) { manager in
      let writes = [
        Contacts.insert([Contact(4)], at: "X:1", cacheKey: "c", dataModelManager: manager),
        Contacts.update(Contact(4), at: "X:1", cacheKey: "c", dataModelManager: manager),
        Contacts.remove(at: "X:1", cacheKey: "c", dataModelManager: manager),
      ]
      for write in writes {
        let error = await #expect(throws: DataProviderError.self) { try await write.committed() }
        #expect(error?.code == .noSuchElement)
        #expect(error?.reason.contains("X:1") ?? false)
      }
    }
    #expect(list == Contact.list(1, 2, 3))
  }

  @Test(arguments: cases)
  func `an error of a closure or an impossible position fails its write only`(
    backing: Backing, isShown: Bool
  ) async throws {
    let list = try await list(backing, isShown: isShown) { manager in
      let refused = Contacts.remove(
        at: { _ in throw Refusal() }, cacheKey: "c", dataModelManager: manager)
      let outside = Contacts.remove(at: { $0.count }, cacheKey: "c", dataModelManager: manager)
      Contacts.remove(at: { $0.count - 1 }, cacheKey: "c", dataModelManager: manager)
      await #expect(throws: Refusal.self) { try await refused.committed() }
      let error = await #expect(throws: DataProviderError.self) { try await outside.committed() }
      #expect(error?.code == .indexOutOfRange)
    }
    #expect(list == Contact.list(1, 2))
  }

  @Test(arguments: Backing.allCases)
  func `a closure is asked again when the list has changed meanwhile`(backing: Backing) async throws
  {
    let asked = Locked<[[Int]]>([])
    let list = try await list(backing, isShown: true) { manager in
      Contacts.insert(
        [Contact(4)],
        at: { list in
          asked.withLock { $0.append(list.map(\.id)) }
          if list.contains(where: { $0.id == 4 }) { return nil }
          Contacts.append([Contact(4)], cacheKey: "c", dataModelManager: manager)
          return 0
        }, cacheKey: "c", dataModelManager: manager)
    }
    #expect(asked.withLock { $0 } == [[1, 2, 3], [1, 2, 3, 4]])
    #expect(list == Contact.list(1, 2, 3, 4))
  }

  /// Nothing comes between the closure and what it decides.
  @Test(arguments: cases)
  func `of many that insert what is missing, one does`(
    backing: Backing, isShown: Bool
  ) async throws {
    let list = try await list(backing, isShown: isShown) { manager in
      await withTaskGroup { group in
        for number in 0..<8 {
          group.addTask {
            for id in 4..<24 {
              Contacts.insert(
                [Contact(id)], at: { $0.contains { $0.id == id } ? nil : $0.count },
                cacheKey: "c", dataModelManager: manager)
              if number == 0 { await Task.yield() }
            }
          }
        }
      }
    }
    #expect(list?.map(\.id).sorted() == Array(1..<24))
  }
}
