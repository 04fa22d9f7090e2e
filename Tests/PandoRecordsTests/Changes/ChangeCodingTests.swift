import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// The encoded forms of changes: stores keep them, and other programs read them.
@Suite struct ChangeCodingTests {
  static let steps: [(CollectionChangeInformation, json: String)] = [
    (.update(index: 1), #"{"update":{"index":1}}"#),
    (.delete(index: 2), #"{"delete":{"index":2}}"#),
    (.insert(index: 3), #"{"insert":{"index":3}}"#),
    (.move(from: 4, to: 5), #"{"move":{"from":4,"to":5}}"#),
  ]

  static let changes: [(CollectionChange, json: String)] = [
    (.reset, #"{"reset":{}}"#),
    (.changes([]), #"{"changes":{"_0":[]}}"#),
    (
      .changes(steps.map(\.0)),
      #"{"changes":{"_0":[\#(steps.map(\.json).joined(separator: ","))]}}"#
    ),
  ]

  @Test(arguments: steps)
  func `a change of an element has its form`(
    change: CollectionChangeInformation, json: String
  ) throws {
    #expect(try sortedJSON(change) == json)
    #expect(try fromJSON(CollectionChangeInformation.self, json) == change)
    #expect(try roundTrip(change) == change)
  }

  @Test(arguments: changes)
  func `a change of a list has its form`(change: CollectionChange, json: String) throws {
    #expect(try sortedJSON(change) == json)
    #expect(try fromJSON(CollectionChange.self, json) == change)
    #expect(try roundTrip(change) == change)
    let update = CollectionUpdate(cacheKey: "list", change: change)
    #expect(try sortedJSON(update) == #"{"cacheKey":"list","change":\#(json)}"#)
    #expect(try writtenNames(of: update) == ["cacheKey", "change"])
    #expect(
      try fromJSON(CollectionUpdate.self, #"{"cacheKey":"list","change":\#(json)}"#) == update)
    #expect(try roundTrip(update) == update)
  }

  @Test func `in a record the forms are the same`() throws {
    #expect(try encodedHex(CollectionChange.reset) == "a1657265736574a0")
    #expect(
      try encodedHex(CollectionChange.changes([.move(from: 4, to: 5), .delete(index: 2)]))
        == "a1676368616e676573a1625f3082a1646d6f7665a262746f056466726f6d04a16664656c657465"
        + "a165696e64657802")
  }

  @Test(arguments: [nil, "me"])
  func `a change set has its form`(author: String?) throws {
    let set = ChangeSet(
      commitNumber: CommitNumber(value: .max), updated: ["u"], inserted: ["i", "j"], deleted: ["d"],
      collections: [CollectionUpdate(cacheKey: "list", change: .reset)], author: author,
      date: Date(timeIntervalSinceReferenceDate: 1.5), context: 3)
    let json =
      (author.map { #"{"author":"\#($0)","# } ?? "{")
      + #""collections":[{"cacheKey":"list","change":{"reset":{}}}],"#
      + #""commitNumber":18446744073709551615,"date":1.5,"deleted":["d"],"#
      + #""inserted":["i","j"],"updated":["u"]}"#
    #expect(try sortedJSON(set) == json)
    #expect(
      try writtenNames(of: set)
        == ["commitNumber", "updated", "inserted", "deleted", "collections"]
        + (author == nil ? [] : ["author"]) + ["date"])
    let copy = try fromJSON(ChangeSet.self, json)
    #expect(
      copy.commitNumber.value == .max && copy.updated == ["u"] && copy.inserted == ["i", "j"])
    #expect(copy.deleted == ["d"] && copy.collections == set.collections)
    #expect(copy.author == author && copy.date == set.date && copy.context == nil)
  }

  @Test(arguments: [
    "{}", #"{"other":{}}"#, #"{"reset":{},"changes":{"_0":[]}}"#,
    #"{"changes":{"_0":[{}]}}"#,
  ])
  func `a change of a list is of exactly one kind`(json: String) throws {
    let error = try #require(throws: DecodingError.self) {
      try fromJSON(CollectionChange.self, json)
    }
    guard case .typeMismatch = error else { return #expect(Bool(false), "\(error)") }
  }

  @Test(arguments: [
    "{}", #"{"other":{"index":1}}"#, #"{"insert":{"index":1},"delete":{"index":1}}"#,
    #"{"insert":1}"#, "[]", "1",
  ])
  func `a change of an element is of exactly one kind`(json: String) throws {
    let error = try #require(throws: DecodingError.self) {
      try fromJSON(CollectionChangeInformation.self, json)
    }
    guard case .typeMismatch = error else { return #expect(Bool(false), "\(error)") }
  }

  @Test(arguments: [
    #"{"insert":{}}"#, #"{"delete":{}}"#, #"{"update":{}}"#, #"{"move":{"from":1}}"#,
    #"{"move":{"to":1}}"#,
  ])
  func `a change of an element says where`(json: String) throws {
    let error = try #require(throws: DecodingError.self) {
      try fromJSON(CollectionChangeInformation.self, json)
    }
    guard case .keyNotFound = error else { return #expect(Bool(false), "\(error)") }
  }

  @Test func `unknown names are ignored`() throws {
    #expect(
      try fromJSON(CollectionChange.self, #"{"new":1,"reset":{"how":2}}"#) == .reset)
    #expect(
      try fromJSON(CollectionChangeInformation.self, #"{"insert":{"index":3,"by":1},"new":[]}"#)
        == .insert(index: 3))
    for json in ["1", "null", "[]"] {
      #expect(throws: DecodingError.self) {
        try fromJSON(CollectionChange.self, #"{"reset":\#(json)}"#)
      }
    }
  }

  /// None, two, one that nobody knows.
  @Test(arguments: ["a0", "a2657265736574a0676368616e676573a1625f3080", "a1656f74686572a0"])
  func `in a record a change of a list is of exactly one kind too`(hex: String) {
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(CollectionChange.self, from: bytes(hex))
    }
  }

  @Test(arguments: ["commitNumber", "updated", "inserted", "deleted", "collections", "date"])
  func `a change set lacks nothing but its author`(name: String) throws {
    let fields = [
      "commitNumber": "1", "updated": "[]", "inserted": "[]", "deleted": "[]",
      "collections": "[]", "date": "0",
    ]
    let json = fields.filter { $0.key != name }.map { #""\#($0.key)":\#($0.value)"# }
    let error = try #require(throws: DecodingError.self) {
      try fromJSON(ChangeSet.self, "{" + json.joined(separator: ",") + "}")
    }
    guard case .keyNotFound(let key, _) = error else { return #expect(Bool(false), "\(error)") }
    #expect(key.stringValue == name)
  }
}
