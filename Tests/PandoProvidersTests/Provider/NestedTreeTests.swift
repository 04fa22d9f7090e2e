import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Trees of more than two levels whose children are found through their coding.
@Suite struct NestedTreeTests {
  private struct Folder: Model, Codable, Equatable {
    struct Cover: Codable, Equatable {
      var artist: Contact
    }

    var id: Int
    var folders: [Folder] = []
    var cover: Cover?
    var owner: Contact
    var roles: [String: Contact] = [:]
    var modelIdentifier: String? { "Folder:\(id)" }
  }

  /// The places below the inner folder at which the changed contact stands; others hold one that stays.
  private struct Places: OptionSet {
    let rawValue: Int
    static let cover = Places(rawValue: 1)
    static let owner = Places(rawValue: 2)
    static let roles = Places(rawValue: 4)
  }

  /// Was: where the last child of the inner model stayed as it was, the outer one kept the old inner model.
  ///
  /// Found by `fuzz-operations`.
  @Test(arguments: 0..<8)
  func `a change below an inner model shows in the outer one, wherever it is`(bits: Int)
    async throws
  {
    let places = Places(rawValue: bits)
    func contact(_ place: Places, _ name: String) -> Contact {
      places.contains(place) ? Contact(1, name) : Contact(2, "stays")
    }
    func tree(_ name: String) -> Folder {
      let inner = Folder(
        id: 2, cover: .init(artist: contact(.cover, name)), owner: contact(.owner, name),
        roles: ["editor": contact(.roles, name)])
      return Folder(id: 1, folders: [inner], owner: Contact(2, "stays"))
    }
    try await withStore { store in
      let manager = try DataModelManager(store: store)
      let (folder, person) = (
        DataProvider<Folder>(dataModelManager: manager),
        DataProvider<Contact>(dataModelManager: manager)
      )
      try await folder.setData(tree("before")).committed()
      try await person.setData(Contact(1, "after")).committed()
      await manager.drain()
      #expect(folder.data == tree("after"))
      #expect(try await store.read { try $0.get("Folder:1", as: Folder.self) } == tree("after"))
      await manager.close()
    }
  }
}
