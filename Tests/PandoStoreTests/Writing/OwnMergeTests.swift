import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Types with a `merge(_:)` of their own, used for their records.
@Suite struct OwnMergeTests {
  /// Makes a child of its own when it merges.
  private struct Album: Model, Codable, Equatable {
    static let modelTypeName = "Album"
    var name: String
    var cover: Image?
    var covers: [Image] = []
    var modelIdentifier: String? { "Album:1" }

    func merge(_ other: any Model) -> any Model {
      guard let other = other as? Title else { return self }
      let made = Image(id: 9, url: "made of \(other.name)")
      return Album(name: other.name, cover: made, covers: [made])
    }
  }

  private struct Title: Model, Codable, Equatable {
    static let modelTypeName = "Title"
    var name: String
    var modelIdentifier: String? { "Album:1" }
  }

  @Test(.overBothBackings) func `a node that a merge makes is stored`() throws {
    // Was: the record referred to a node without a row, and the album could not be read any more.
    var configuration = ModelStore.Configuration()
    configuration.models = [Album.self]
    let store = try ModelStore.forTest(configuration)
    try store.write { try $0.set(Album(name: "a")) }
    let commit = try store.commit { try $0.set(Title(name: "b")) }
    #expect(commit.changeSet?.inserted == ["Image:9"])
    #expect(commit.changeSet?.updated == ["Album:1"])
    #expect(try store.verify().problems == [])
    let album = try store.read { try $0.get("Album:1", as: Album.self) }
    #expect(album?.cover == Image(id: 9, url: "made of b"))
    #expect(album?.covers.count == 1)
  }

  @Test(.overBothBackings) func `a type that a call has named merges by itself`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.set(Album(name: "a")) }
    try store.write { try $0.set(Title(name: "b")) }
    let album = try store.read { try $0.get("Album:1", as: Album.self) }
    #expect(album?.cover == Image(id: 9, url: "made of b"))
  }

  @Test func `a type that a read has named merges by itself`() throws {
    try withTemporaryDirectory { path in
      do {
        let store = try ModelStore(path: path, configuration: .forTests)
        try store.write { try $0.set(Album(name: "a")) }
      }
      let store = try ModelStore(path: path, configuration: .forTests)
      _ = try store.read { try $0.get("Album:1", as: Album.self) }
      try store.write { try $0.set(Title(name: "b")) }
      let album = try store.read { try $0.get("Album:1", as: Album.self) }
      #expect(album?.cover == Image(id: 9, url: "made of b"))
    }
  }

  @Test func `a type that no call has named is reported once`() throws {
    try withTemporaryDirectory { path in
      do {
        let store = try ModelStore(path: path, configuration: .forTests)
        try store.write { try $0.set(Album(name: "a")) }
      }
      let unknown = Locked<[String]>([])
      var configuration = ModelStore.Configuration.forTests
      configuration.events = { event in
        if case .unknownType(let name) = event { unknown.withLock { $0.append(name) } }
      }
      let store = try ModelStore(path: path, configuration: configuration)
      for name in ["b", "c"] { try store.write { try $0.set(Title(name: name)) } }
      #expect(unknown.withLock { $0 } == ["Album"])
      for id in 1...2 {
        try store.write { try $0.set(TreeNode("Note:\(id)", type: "Note", fields: ["x": 1])) }
      }
      #expect(unknown.withLock { $0 } == ["Album", "Note"])
    }
  }

  @Test(.overBothBackings)
  func `a model that is merged leaves the fields alone that it does not have`() throws {
    let store = try ModelStore.forTest()
    try store.write {
      try $0.set(TreeNode("Album:1", type: "Title", fields: ["name": "a", "x": 7]))
    }
    let commit = try store.commit { try $0.merge(Title(name: "b")) }
    #expect(commit.changeSet?.updated == ["Album:1"])
    #expect(
      try store.read { try $0.tree("Album:1") }
        == TreeNode("Album:1", type: "Title", fields: ["name": "b", "x": 7]))
    let error = #expect(throws: ModelError.self) {
      try store.write { try $0.merge(Unnamed()) }
    }
    #expect(error?.code == .missingIdentifier)
  }

  private struct Unnamed: SimpleModel, Codable {
    var modelIdentifier: String? { nil }
  }
}
