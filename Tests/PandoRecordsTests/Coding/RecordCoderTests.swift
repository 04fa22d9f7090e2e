import Foundation
import PandoModels
import Testing

@testable import PandoRecords

@Suite struct RecordCoderTests {
  @Test func `a tree of models is read back equal from its records`() throws {
    let message = Message.sample()
    #expect(try MemoryRecords.roundTrip(message) == message)
  }

  @Test func `each node becomes one record, its parents begun before it and ended after it`() throws
  {
    let records = MemoryRecords()
    let root = try RecordEncoder(sink: records).encode(Message.sample())
    #expect(records.begun.first == root)
    #expect(records.ended.last == root)
    #expect(records.records.count == 12)
    #expect(records.record("message:1")?.edges.count == 11)
  }

  @Test func `an edge says how its innermost slot loses the child`() throws {
    let records = MemoryRecords()
    let root = try RecordEncoder(sink: records).encode(Message.sample())
    let edges = try #require(records.records[root]).edges
    let kinds = Dictionary(
      uniqueKeysWithValues: edges.map { (records.identifier(of: $0.child) ?? "", $0.kinds) })
    #expect(kinds["person:1"] == [.required, .element])
    #expect(kinds["person:2"] == .optional)
    #expect(kinds["person:3"] == .element)
    #expect(kinds["person:4"] == .entry)
    #expect(kinds["person:6"] == .required)
    #expect(kinds["person:8"] == .required)
    #expect(kinds["person:10"] == .element)
    #expect(kinds["person:11"] == .element)
  }

  @Test func `a body is what the format says, byte by byte`() throws {
    struct Tiny: Model, Codable {
      static let modelTypeName = "Tiny"
      var b: Person
      var a: Person?
      var list: [Person]
      var map: [String: Person]
      var slot: Place?
      var nothing: Int?
      var modelIdentifier: String? { "tiny" }
    }
    let person = Person(id: 1, name: "x")
    let records = MemoryRecords()
    let root = try RecordEncoder(sink: records).encode(
      Tiny(
        b: person, a: person, list: [person], map: ["k": person],
        slot: Place(name: "p", owner: person)))
    let expected =
      "a6" + "6161" + "d95042820101" + "6162" + "d95041820101"
      + "636d6170" + "d95044a1616bd95041820101"
      + "646c697374" + "81d95041820101"
      + "64736c6f74" + "d95043a2646e616d656170656f776e6572d95041820101"
      + "676e6f7468696e67" + "f6"
    #expect(hex(try #require(records.records[root]).body) == expected)
  }
}
