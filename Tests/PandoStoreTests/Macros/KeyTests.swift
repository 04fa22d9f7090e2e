import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import Testing

@Model private struct Member {
  @Key var id: Int
  @Indexed var name: String
  var team: Key<Squad>?
}

@Model private struct Squad {
  @Key var region: Region
  @Key var name: String
  var lead: Member?
  var ranks: [Key<Member>: Int] = [:]
}

@Embedded private enum Region: String { case north, south }
@Embedded private enum Kind { case star, galaxy }

@Model private struct Body {
  @Key var kind: Kind
  @Key var low: Int128
  @Key var high: UInt128
  var name: String
}

@Suite struct KeyTests {
  private let store: ModelStore

  init() throws { store = try ModelStore.inMemory() }

  private func set(_ models: some Sequence<some SimpleModel & Codable>) throws {
    let models = Array(models)
    try store.write { transaction in for model in models { try transaction.set(model) } }
  }

  @Test func `a model is read by its key`() throws {
    try set([Member(id: 1, name: "Ada"), Member(id: 2, name: "Ben")])
    #expect(try store.get(Member.key(1))?.name == "Ada")
    #expect(try store.get(Member.key(9)) == nil)
    let keys = [2, 9, 1].map { Member.key($0) }
    let names = try store.read { try $0[keys].map(\.name) }
    #expect(names == ["Ben", "Ada"])
    #expect(try store.read { try $0.contains(Member.key(2)) })
  }

  @Test func `a key has integers of any size and an enum by the name of its case`() throws {
    let body = Body(kind: .galaxy, low: .min, high: .max, name: "M31")
    try set([body, Body(kind: .galaxy, low: .max, high: 0, name: "M33")])
    #expect(
      body.key.rawValue == "Body:galaxy/-170141183460469231731687303715884105728"
        + "/340282366920938463463374607431768211455")
    #expect(try store.get(Body.key(.galaxy, .min, .max)) == body)
    #expect(try store.get(Body.key(.galaxy, .max, 0))?.name == "M33")
    #expect(try store.get(Body.key(.star, .min, .max)) == nil)
  }

  @Test func `a model is inserted once`() throws {
    try store.write { try $0.insert(Member(id: 1, name: "Ada")) }
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.insert(Member(id: 1, name: "Eve")) }
    }
    #expect(error?.code == .alreadyExists)
    #expect(error?.subject == "Member:1")
    #expect(try store.get(Member.key(1))?.name == "Ada")
  }

  @Test func `an update and a delete of what is not there throw`() throws {
    try set([Member(id: 1, name: "Ada")])
    #expect(try store.update(Member.key(1)) { $0.name = "Eve" }.name == "Eve")
    #expect(try store.updateIfPresent(Member.key(1)) { $0.name = "Bo" }?.name == "Bo")
    #expect(try store.updateIfPresent(Member.key(2)) { $0.name = "" } == nil)
    for change: @Sendable (inout ModelTransaction) throws -> Void in [
      { try $0.update(Member.key(2)) { $0.name = "" } },
      { try $0.update(Member.self, "Member:2") { $0.name = "" } },
      { try $0.delete(Member.key(2)) }, { try $0.delete("Member:2") },
    ] {
      let error = #expect(throws: StoreError.self) { try store.write { try change(&$0) } }
      #expect(error?.code == .noSuchNode)
      #expect(error?.subject == "Member:2")
    }
    try store.write { transaction in
      let updated = try transaction.updateIfPresent(Member.key(2)) { $0.name = "" }
      #expect(updated == nil)
      #expect(try transaction.deleteIfPresent(Member.key(2)) == nil)
      #expect(try transaction.delete(Member.key(1)).deleted == ["Member:1"])
    }
    #expect(try store.get(Member.key(1)) == nil)
  }

  @Test func `elements of a list are moved and removed by their keys`() throws {
    try store.write { transaction in
      try transaction.append((1...3).map { Member(id: $0, name: "a") }, toCollection: "open")
      let isMoved = try transaction.moveElement(
        Member.key(2), fromCollection: "open", toCollection: "done")
      #expect(isMoved)
      #expect(try transaction.removeElements(Member.key(3), fromCollection: "open") == 1)
    }
    let lists = try store.read { snapshot in
      try ["open", "done"].map { try snapshot.collection($0, as: Member.self)?.map(\.id) }
    }
    #expect(lists == [[1], [2]])
  }

  @Test func `the result of a query is deleted in parts`() throws {
    try set((0..<10).map { Member(id: $0, name: $0 < 7 ? "a" : "b") })
    let named = Query(filter: \Member.name == "a")
    var counts: [Int] = []
    repeat {
      counts.append(try store.write { try $0.deleteAll(matching: named, limit: 3) })
    } while counts.last == 3
    #expect(counts == [3, 3, 1])
    #expect(try store.read { try $0.find(Query<Member>()).count } == 3)
    #expect(try store.write { try $0.deleteAll(matching: Query<Member>()) } == 3)
  }

  @Test func `parents and references are found by key`() throws {
    let ada = Member(id: 1, name: "Ada")
    let squad = Squad(region: .north, name: "a/b", lead: ada, ranks: [ada.key: 3])
    try set([squad])
    try set([Member(id: 2, name: "Ben", team: squad.key)])
    #expect(squad.key.rawValue == "Squad:north/a%2Fb")
    try store.read { snapshot in
      #expect(try snapshot.parents(of: ada.key, as: Squad.self) == [squad.key])
      #expect(try snapshot.parents(of: ada.key, as: Member.self).isEmpty)
      let led = try snapshot.find(Query(filter: .holds(\Squad.lead, ada.key)))
      #expect(led.entities == [squad])
      let members = try snapshot.find(Query(filter: \Member.team == squad.key))
      #expect(members.entities.map(\.id) == [2])
      #expect(try snapshot[squad.key]?.ranks == [ada.key: 3])
    }
  }

  @Test func `keys are compared by the bytes of their texts`() throws {
    // Swift's `==` takes both spellings as one text; the store has two nodes.
    let names = ["\u{e9}", "e\u{301}"]
    try set(names.map { Squad(region: .north, name: $0) })
    let keys = names.map { Squad.key(.north, $0) }
    #expect(keys[0] != keys[1])
    #expect(!(keys[0] == keys[1]))
    #expect(Set(keys).count == 2)
    #expect(keys[0] == Squad.key(.north, "\u{e9}"))
    #expect(Set(keys).contains(Squad.key(.north, "e\u{301}")))
    #expect(try store.read { try $0[keys].map(\.name.utf8.count) } == [2, 3])
  }

  @Test func `a key is coded as its text`() throws {
    let squad = Squad(region: .south, name: "s", lead: nil, ranks: [Member.key(3): 1])
    let json = try JSONEncoder().encode(squad)
    let text = String(decoding: json, as: UTF8.self)
    #expect(text.contains(#""ranks":{"Member:3":1}"#))
    #expect(try JSONDecoder().decode(Squad.self, from: json) == squad)
  }
}
