import PandoModels
import Testing

@testable import PandoRecords

@Suite struct SchemaTests {
  struct New: Model, Codable, Hashable, SchemaVersioned {
    var modelIdentifier: String?
    var title: String
    var count: Int
    var ratio: Double
    var tags: [String]
    var note: String?
    var level: Level
    enum Level: String, Codable { case low, high }
    static let formerFieldNames = ["title": ["caption", "name"]]
    static let fieldDefaults: [String: any Encodable & Sendable] = [
      "count": 7, "ratio": 2, "tags": ["none"], "level": "high",
    ]
  }
  struct Old: Codable {
    var modelIdentifier: String?
    var name: String
  }
  struct Older: Codable {
    var modelIdentifier: String?
    var caption: String
    var name: String
    var count: Int
  }

  @Test func `a record lacks fields: defaults, former names, nil`() throws {
    let body = try RecordEncoder.encodeValue(Old(modelIdentifier: "a", name: "n")).body
    let new = try RecordDecoder.decodeValue(New.self, from: body)
    #expect(
      new == New(modelIdentifier: "a", title: "n", count: 7, ratio: 2, tags: ["none"], level: .high)
    )
  }

  @Test func `the newest of several former names counts, and what is there beats the default`()
    throws
  {
    let body = try RecordEncoder.encodeValue(Older(caption: "c", name: "n", count: 1)).body
    let new = try RecordDecoder.decodeValue(New.self, from: body)
    #expect(new.title == "c" && new.count == 1)
  }

  struct Unversioned: Model, Codable, Hashable {
    var modelIdentifier: String?
    var title: String
    var count: Int
    var note: String?
    static let formerFieldNames = ["title": ["caption", "name"]]
    static let fieldDefaults: [String: any Encodable & Sendable] = ["count": 7, "note": "none"]
  }
  struct Simple: SimpleModel, Codable, Hashable {
    var modelIdentifier: String?
    var title: String
    static let formerFieldNames = ["title": ["name"]]
  }

  @Test func `defaults and former names of a model apply without a schema version`() throws {
    let body = try RecordEncoder.encodeValue(Old(modelIdentifier: "a", name: "n")).body
    #expect(
      try RecordDecoder.decodeValue(Unversioned.self, from: body)
        == Unversioned(modelIdentifier: "a", title: "n", count: 7, note: "none"))
    #expect(
      try RecordDecoder.decodeValue(Simple.self, from: body)
        == Simple(modelIdentifier: "a", title: "n"))
  }

  @Test func `a value inside a model declares its own fields`() throws {
    struct Outer: Model, Codable, Equatable {
      struct Inner: Codable, Equatable, FieldHistory {
        var count: Int
        static let formerFieldNames = ["count": ["number"]]
      }
      var modelIdentifier: String?
      var inner: Inner
    }
    let body = try RecordEncoder.encodeValue(["inner": ["number": 3]]).body
    #expect(
      try RecordDecoder.decodeValue(Outer.self, from: body) == Outer(inner: Outer.Inner(count: 3)))
  }

  @Test func `declarations hold for the type itself, not for what is inside`() throws {
    struct Outer: Codable, SchemaVersioned {
      struct Inner: Codable { var count: Int }
      var inner: Inner
      static let fieldDefaults: [String: any Encodable & Sendable] = ["count": 7]
    }
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(
        Outer.self, from: RecordEncoder.encodeValue(["inner": [String: Int]()]).body)
    }
  }

  struct Whole: SimpleModel, Codable, Hashable {
    var modelIdentifier: String?
    var people: [Person]
  }
  struct Holder: Model, Codable, Hashable {
    var modelIdentifier: String?
    var whole: Whole
    var person: Person
  }

  @Test func `a simple model is stored whole, wherever it stands`() throws {
    let whole = Whole(modelIdentifier: "w", people: [Person(id: 1, name: "a")])
    #expect(try MemoryRecords.roundTrip(whole) == whole)
    let holder = Holder(modelIdentifier: "h", whole: whole, person: Person(id: 2, name: "b"))
    let records = MemoryRecords()
    let root = try RecordEncoder(sink: records).encode(holder)
    #expect(records.records.count == 2)
    #expect(try records.decode(Holder.self, root) == holder)
    #expect(holder.map { ($0 as? Person)?.id == 1 ? nil : $0 } == holder)
  }

  final class Shared: Model, Codable {
    let modelIdentifier: String?
    let child: Person?
    init(_ identifier: String, _ child: Person?) {
      modelIdentifier = identifier
      self.child = child
    }
  }

  @Test func `a class can be a model`() throws {
    let shared = Shared("s", Person(id: 1, name: "a"))
    let back = try MemoryRecords.roundTrip(shared)
    #expect(back.isEqual(to: shared))
    #expect(shared.map { _ in nil }?.child == nil)
  }
}
