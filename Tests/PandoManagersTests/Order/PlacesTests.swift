import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import Testing

@testable import PandoManagersFixtures

@Suite struct PlacesTests {
  private func manager(
    _ store: ModelStore, _ remote: ScriptedStore<Book>
  ) -> CoreManager<Book> {
    CoreManager(stores: [InMemoryStore(), DiskStore(modelStore: store), remote])
  }

  /// Order rule 1: of two reads the one that began later counts, whichever answer comes first.
  @Test func `the answer to an older read does not replace that of a newer one`() async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>(.remote, [Book("1", "older")])
      let manager = manager(store, remote)
      remote.beforeAnswer { [remote] in
        remote.beforeAnswer(nil)
        remote.entities = [Book("1", "newer")]
        _ = try? await manager.get(byID: .remote("1"), in: .remote())
      }
      let answer = try await manager.get(byID: .remote("1"), in: .remote())
      #expect(answer?.title == "older")
      #expect(try await manager.get(byID: .remote("1"))?.title == "newer")
    }
  }

  /// Order rule 4.
  @Test func `a late entity among many is skipped`() async throws {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>()
      let manager = manager(store, remote)
      remote.beforeAnswer { _ = try? await manager.set(Book("2", "edited")) }
      let written = try await manager.set(
        [Book("1", "A"), Book("2", "B"), Book("3", "C")], in: .remote())
      #expect(written.state == .confirmed)
      #expect(written.value.map(\.title) == ["A", "C"])
      #expect(try await manager.all().entities.map(\.title).sorted() == ["A", "C", "edited"])
    }
  }

  /// Order rule 4.
  @Test func `a late single entity gives what is stored, or conflict if there is nothing`()
    async throws
  {
    try await withModelStore { store in
      let remote = ScriptedStore<Book>()
      let manager = manager(store, remote)
      remote.beforeAnswer { _ = try? await manager.set(Book("1", "edited")) }
      let late = try await manager.set(Book("1", "A"), in: .remote())
      #expect(late.value.title == "edited")
      remote.beforeAnswer { _ = try? await manager.remove(atID: .remote("1")) }
      let error = await #expect(throws: ManagerError.self) {
        try await manager.set(Book("1", "B"), in: .remote())
      }
      #expect(error?.code == .conflict)
      #expect(try await manager.get(byID: .remote("1")) == nil)
    }
  }

  /// Order rule 2, inside a tree: a child has a place of its own.
  @Test func `a child that was edited or removed meanwhile stays so when its parent arrives`()
    async throws
  {
    try await withModelStore { store in
      let shelf = Shelf(
        id: .remote("s"), books: [Book("1", "one"), Book("2", "two"), Book("3", "three")])
      let remote = ScriptedStore<Shelf>(.remote, [shelf])
      let shelves = CoreManager(stores: [DiskStore<Shelf>(modelStore: store), remote])
      let books = CoreManager(stores: [DiskStore<Book>(modelStore: store)])
      _ = try await books.set([Book("1", "old"), Book("2", "old")])
      remote.beforeAnswer {
        _ = try? await books.set(Book("1", "edited"))
        _ = try? await books.remove(atID: .remote("2"))
      }
      let answer = try await shelves.get(byID: .remote("s"), in: .remote())
      #expect(answer == shelf)
      let stored = try await shelves.get(byID: .remote("s"))
      #expect(stored?.books.map(\.title) == ["edited", "three"])
      #expect(try await books.get(byID: .remote("2")) == nil)
    }
  }

  /// Order rule 5.
  @Test func `a type that no server has leaves no marks and takes no numbers in vain`() async throws
  {
    try await withModelStore { store in
      let drafts = CoreManager(stores: [DiskStore<Draft>(modelStore: store)])
      let draft = Draft(id: .local("a"), revision: 1)
      try await drafts.set(draft)
      let number = try await store.read { try $0.commitNumber.value }
      try await drafts.set(draft)
      try await drafts.remove(atID: .local("absent"))
      #expect(try await store.read { try $0.commitNumber.value } == number)
    }
  }

  @Test func `removals of any writer are recorded, for identifiers of entities only`()
    async throws
  {
    try await withModelStore { store in
      _ = try await CoreManager(stores: [DiskStore<Book>(modelStore: store)]).set(Book("1"))
      try await store.write { transaction in
        try transaction.set(Draft(id: .local("a"), revision: 1))
        _ = try transaction.deleteIfPresent("Book:1")
        _ = try transaction.deleteIfPresent("Draft:local:a")
      }
      let number = try await store.read { try $0.commitNumber.value }
      let states = try await store.read { snapshot in
        (
          book: try snapshot.sequenceState(of: "Book:1"),
          draft: try snapshot.sequenceState(of: "Draft:local:a")
        )
      }
      #expect(states.book == SequenceState(sequenceNumber: SequenceNumber.of(commit: number)))
      #expect(states.draft == SequenceState())
    }
  }

  /// Order rule 5: what goes with another node is removed as well.
  @Test func `an entity that goes because it requires a removed child is remembered too`()
    async throws
  {
    try await withModelStore { store in
      let remote = ScriptedStore<Loan>(.remote, [Loan(id: .remote("l"), book: Book("2"))])
      let loans = CoreManager(stores: [DiskStore<Loan>(modelStore: store), remote])
      _ = try await loans.set(Loan(id: .remote("l"), book: Book("1")))
      remote.beforeAnswer { _ = try? await store.write { try $0.deleteIfPresent("Book:1") } }
      _ = try await loans.get(byID: .remote("l"), in: .remote())
      #expect(
        try await loans.get(byID: .remote("l")) == nil, "the answer is older than the removal")
      let number = try await store.read { try $0.commitNumber.value }
      #expect(
        try await store.read { try $0.sequenceState(of: "Loan:l") }
          == SequenceState(sequenceNumber: SequenceNumber.of(commit: number)))
    }
  }

  @Test func `a read of a server has a place between two commits, and writes nothing`()
    async throws
  {
    try await withModelStore { store in
      let disk = DiskStore<Book>(modelStore: store)
      // Removals are remembered from now on: that is written once.
      let first = try await disk.takeReadPlace()
      let number = try await store.read { try $0.commitNumber.value }
      let flushes = store.counters.flushes
      let second = try await disk.takeReadPlace()
      let third = try await DiskStore<Book>(modelStore: store).takeReadPlace()
      #expect(SequenceNumber.of(commit: number) < first)
      #expect(first < second && second < third)
      #expect(third < SequenceNumber.of(commit: number + 1))
      #expect(store.counters.flushes == flushes)
      #expect(try await store.read { try $0.commitNumber.value } == number)
    }
  }
}

/// Can't be without its book.
private struct Loan: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Loan>
  var book: Book
}
