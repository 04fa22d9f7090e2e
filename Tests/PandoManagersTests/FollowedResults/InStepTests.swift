import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// Managers, providers and followed queries show a commit in one step.
@Suite struct InStepTests {
  /// So many that it shows in each run when views are out of step.
  private static let writeCount = 1_000
  private static let readCount = 200

  private func withContainer(
    _ body: (CoreManagerContainer, ModelStore) async throws -> Void
  ) async throws {
    try await withModelStore { store in
      let container = try CoreManagerContainer(entities: Book.self, diskStoreConfig: .store(store))
      try await body(container, store)
      await container.close()
    }
  }

  private func provider(_ container: CoreManagerContainer) async throws -> DataProvider<Book> {
    let provider = DataProvider<Book>(dataModelManager: container.dataModelManager)
    try await provider.setData(Book("1", "")).committed()
    await container.dataModelManager.drain()
    return provider
  }

  @Test func `after an awaited set of a manager no provider is behind`() async throws {
    try await withContainer { container, _ in
      let books = container[Book.self]
      let provider = try await provider(container)
      var behind = 0
      for number in 0..<Self.writeCount {
        try await books.set(Book("1", "\(number)"))
        if provider.data?.title != "\(number)" { behind += 1 }
      }
      #expect(behind == 0)
    }
  }

  @Test func `after an awaited write of a store no provider is behind`() async throws {
    try await withContainer { container, store in
      let provider = try await provider(container)
      var behind = 0
      for number in 0..<Self.writeCount {
        try await store.write { try $0.set(Book("1", "\(number)")) }
        if provider.data?.title != "\(number)" { behind += 1 }
      }
      #expect(behind == 0)
    }
  }

  @Test func `after an awaited write no followed query is behind`() async throws {
    try await withContainer { container, _ in
      let books = container[Book.self]
      let provider = try await provider(container)
      var values = books.followAll().makeAsyncIterator()
      _ = try await values.next()
      for number in 0..<Self.readCount {
        if number.isMultiple(of: 2) {
          try await books.set(Book("1", "\(number)"))
        } else {
          try await provider.setData(Book("1", "\(number)")).committed()
        }
        let title = try await values.next()?.entities.first?.title
        try #require(title == "\(number)")
      }
    }
  }

  @Test func `after an awaited write a read through a cache is not behind`() async throws {
    try await withContainer { container, _ in
      let books = container[Book.self]
      let provider = try await provider(container)
      for number in 0..<Self.readCount {
        try await provider.setData(Book("1", "\(number)")).committed()
        let title = try await books.get(byID: .remote("1"))?.title
        try #require(title == "\(number)")
      }
    }
  }

  @Test func `a followed query is never ahead of a provider`() async throws {
    try await withContainer { container, _ in
      let books = container[Book.self]
      let provider = try await provider(container)
      let query = books.followAll()
      let last = Self.writeCount
      let ahead = try await withThrowingTaskGroup(of: Int.self) { group in
        group.addTask {
          var ahead = 0
          for try await result in query {
            let title = result.entities.first.flatMap { Int($0.title) } ?? 0
            let shown = provider.data.flatMap { Int($0.title) } ?? 0
            if title > shown { ahead += 1 }
            if title == last { break }
          }
          return ahead
        }
        for number in 1...last { try await books.set(Book("1", "\(number)")) }
        return try await group.reduce(0, +)
      }
      #expect(ahead == 0)
    }
  }
}
