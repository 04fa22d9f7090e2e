import PandoModels
import Testing

@testable import PandoRecords

@Suite struct MergeTests {
  struct Small: Model, Codable, Hashable {
    var id: Int
    var name: String
    var image: Image?
    var friend: SmallFriend?
    var onlyHere = 5
    var modelIdentifier: String? { "person:\(id)" }
  }
  struct SmallFriend: Model, Codable, Hashable {
    var id: Int
    var name: String
    var note: String?
    var modelIdentifier: String? { "person:\(id)" }
  }
  struct Full: Model, Codable, Hashable {
    var id: Int
    var name: String
    var image: Image?
    var friend: FullFriend?
    var age: Int
    var modelIdentifier: String? { "person:\(id)" }
  }
  struct FullFriend: Model, Codable, Hashable {
    var id: Int
    var name: String
    var age: Int
    var modelIdentifier: String? { "person:\(id)" }
  }
  struct Odd: Model, Codable, Hashable {
    var id: Int
    var name: [Int]
    var image: Image?
    var modelIdentifier: String? { "person:\(id)" }
  }

  private let small = Small(
    id: 1, name: "old", image: nil, friend: SmallFriend(id: 2, name: "f", note: "kept"))
  private let image = Image(modelIdentifier: "i", url: "u")

  @Test func `a model of the same type replaces this one`() {
    var newer = small
    newer.name = "new"
    #expect(small.merge(newer) as? Small == newer)
  }

  @Test func `fields of the same name flow from another type, all others stay`() {
    let newer = Full(id: 1, name: "new", image: image, friend: nil, age: 3)
    #expect(
      small.merge(newer) as? Small == Small(id: 1, name: "new", image: image, friend: nil))
  }

  @Test func `a child of another type with the same identifier is merged in turn`() {
    let newer = Full(
      id: 1, name: "new", image: image, friend: FullFriend(id: 2, name: "g", age: 9), age: 3)
    let merged = small.merge(newer) as? Small
    #expect(merged?.friend == SmallFriend(id: 2, name: "g", note: "kept"))
  }

  @Test func `a child of another type and identifier is read as the type of the slot`() {
    let newer = Full(
      id: 1, name: "new", image: image, friend: FullFriend(id: 7, name: "g", age: 9), age: 3)
    #expect((small.merge(newer) as? Small)?.friend == SmallFriend(id: 7, name: "g", note: nil))
  }

  @Test func `a field that this type can't take keeps its value and is named`() {
    let newer = Odd(id: 1, name: [1], image: image)
    let (merged, kept) = ModelChildren.merge(newer, into: small)
    var expected = small
    expected.image = image
    #expect(merged as? Small == expected)
    #expect(kept == ["name"])
  }

  @Test func `a child that can't become the type of the slot keeps the old one`() {
    let full = Full(id: 1, name: "a", friend: FullFriend(id: 2, name: "f", age: 1), age: 1)
    let newer = Small(id: 1, name: "b", friend: SmallFriend(id: 9, name: "z"))
    let (merged, kept) = ModelChildren.merge(newer, into: full)
    #expect((merged as? Full)?.friend?.id == 2)
    #expect((merged as? Full)?.name == "b")
    #expect(kept == ["friend"])
  }
}
