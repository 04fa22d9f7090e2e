import Testing

@testable import PandoModels

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

  @Test func `stored properties are those of structures, and nothing else has any`() {
    enum Payment { case cash(Int), card(String) }
    struct Holder {
      var payment: Payment
      var anything: any Encodable
      var shared: Shared?
      var pair: (Int, String)
      var list: [Person?]
      var named: [String: Person]
    }
    func type(_ name: String) -> Any.Type? { StoredProperties.type(of: name, in: Holder.self) }
    #expect(type("payment") == Payment.self && type("shared") == Shared.self)
    #expect(type("other") == nil)
    #expect(StoredProperties.element(of: [Person?].self) == Person.self)
    #expect(StoredProperties.element(of: [String: Person].self) == Person.self)
    #expect(StoredProperties.type(of: "name", in: Person?.self) == String.self)
    let others: [Any.Type] = [
      Payment.self, (any Encodable).self, Shared.self, (Int, String).self, Any.self,
      (() -> Void).self, Payment?.self, AnyObject.self, (any Encodable)?.self,
    ]
    for other in others {
      #expect(StoredProperties.type(of: "cash", in: other) == nil, "\(other)")
    }
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

  struct Generic<Value: Codable & Sendable>: SimpleModel, Encodable {
    var modelIdentifier: String?
    func isEqual(to other: any SimpleModel) -> Bool { false }
  }
  private struct Hidden: SimpleModel, Codable { var modelIdentifier: String? }
  struct NamedGeneric<Value: Codable & Sendable>: SimpleModel, Codable {
    var modelIdentifier: String?
    static var modelTypeName: String { "named" }
  }

  @Test func `types without a name of their own have to give one`() throws {
    struct Local: SimpleModel, Codable { var modelIdentifier: String? }
    #expect(try ModelTypeName.validated(New.self) == "New")
    #expect(try ModelTypeName.validated(Hidden.self) == "Hidden")
    #expect(try ModelTypeName.validated(NamedGeneric<Int>.self) == "named")
    for type in [Local.self, Generic<Int>.self] as [any SimpleModel.Type] {
      let error = #expect(throws: ModelError.self) { try ModelTypeName.validated(type) }
      #expect(error?.code == .unnamedType)
    }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "n", count: 256)])
  func `names that can't be stored are refused`(name: String) {
    #expect(throws: ModelError.self) { try ModelTypeName.validate(name) }
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
