import PandoModels
import PandoProviders
import Testing

/// Changes through a provider.
@Suite struct CollectionEditingTests {
  @Test func `every change shows at once and is returned`() {
    let provider = CollectionDataProvider<Contact>(dataModelManager: DataModelManager())
    #expect(provider.setData(Contact.list(1, 2), cacheKey: nil).change == .reset)
    #expect(
      provider.insert(Contact.list(3, 4), at: 1).change
        == .changes([.insert(index: 1), .insert(index: 2)]))
    #expect(provider.data == Contact.list(1, 3, 4, 2))
    #expect(provider.append([Contact(5)]).change == .changes([.insert(index: 4)]))
    #expect(provider.update(Contact(4, "Ada"), at: 2).change == .changes([.update(index: 2)]))
    #expect(provider[2].name == "Ada")
    #expect(provider.move(from: 0, to: 3).change == .changes([.move(from: 0, to: 3)]))
    #expect(provider.data.map(\.id) == [3, 4, 2, 1, 5])
    #expect(provider.remove(at: 0).change == .changes([.delete(index: 0)]))
    #expect(
      provider.remove(at: 1..<3).change == .changes([.delete(index: 2), .delete(index: 1)]))
    #expect(provider.data.map(\.id) == [4, 5])
    #expect(provider.count == 2)
  }

  @Test func `a position that does not exist is refused and nothing changes`() throws {
    let manager = DataModelManager()
    let provider = CollectionDataProvider<Contact>(dataModelManager: manager)
    let other = ListFollower<Contact>(manager)
    provider.setData(Contact.list(1, 2), cacheKey: "contacts")
    other.provider.setData(Contact.list(1, 2), cacheKey: "contacts")
    manager.settle()
    let refused = [
      provider.insert([Contact(3)], at: 3), provider.insert([Contact(3)], at: -1),
      provider.update(Contact(3), at: 2), provider.remove(at: 2), provider.remove(at: Int.max),
      provider.remove(at: 1..<3), provider.move(from: 0, to: 2), provider.move(from: -1, to: 0),
    ]
    for write in refused {
      let error = try #require(write.error as? DataProviderError)
      #expect(error.code == .indexOutOfRange)
      #expect(error.description.contains("2 elements"))
      #expect(write.change == nil)
    }
    manager.settle()
    #expect(provider.data == Contact.list(1, 2))
    #expect(other.takeChanges().isEmpty)
  }

  @Test func `a provider without elements can be filled without a key`() {
    let provider = CollectionDataProvider<Jotting>(dataModelManager: DataModelManager())
    provider.insert([Jotting(text: "b")], at: 0)
    provider.append([Jotting(text: "c")])
    provider.insert([Jotting(text: "a")], at: 0)
    #expect(provider.data.map(\.text) == ["a", "b", "c"])
    #expect(provider.cacheKey == nil)
  }
}
