import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoProviders

@Suite struct FollowedListTests {
  @Test func `a followed list shows each change of it and of its elements`() async throws {
    try await withStore { store in
      try await store.write { try $0.setCollection("contacts", to: Contact.list(1, 2)) }
      var values = store.follow(list: "contacts", as: Contact.self).makeAsyncIterator()
      try await expectNext(&values, Contact.list(1, 2))
      try await store.write { try $0.append([Contact(3)], toCollection: "contacts") }
      try await expectNext(&values, Contact.list(1, 2, 3))
      try await store.write { try $0.set(Contact(2, "Eve")) }
      try await expectNext(&values, [Contact(1), Contact(2, "Eve"), Contact(3)])
      try await store.write { transaction in
        try transaction.set(Contact(9))
        try transaction.setCollection("others", to: [Contact(8)])
        try transaction.delete(Contact(1).modelIdentifier ?? "")
      }
      try await expectNext(&values, [Contact(2, "Eve"), Contact(3)])
    }
  }

  @Test func `a list that is created later is shown, and each iteration begins anew`() async throws
  {
    try await withStore { store in
      let list = store.follow(list: "contacts", as: Contact.self)
      var values = list.makeAsyncIterator()
      try await expectNext(&values, [])
      try await store.write { try $0.setCollection("contacts", to: Contact.list(1)) }
      try await expectNext(&values, Contact.list(1))
      var later = list.makeAsyncIterator()
      try await expectNext(&later, Contact.list(1))
      try await store.write { try $0.removeCollection("contacts") }
      try await expectNext(&values, [])
      try await expectNext(&later, [])
    }
  }

  @Test func `an iteration ends with its store, and with its task`() async throws {
    try await withStore { store in
      let list = store.follow(list: "contacts", as: Contact.self)
      let task = Task {
        for try await _ in list {}
        return true
      }
      task.cancel()
      #expect(try await task.value)
      var values = list.makeAsyncIterator()
      try await expectNext(&values, [])
      await store.close()
      try await expectEnd(&values)
      var closed = list.makeAsyncIterator()
      await #expect(throws: StoreError.self) { _ = try await closed.next() }
    }
  }
}
