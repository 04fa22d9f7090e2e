import PandoFixtures
import PandoModels
import PandoSystem
import Testing

@testable import PandoStore

/// One record that can't be read: the error names it, and all others are read as before.
@Suite(.overBothBackings) struct DamagedRecordTests {
  private func makeStore() throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      try transaction.set(Person(id: 1, name: "Ada"))
      try transaction.set(Person(id: 2, name: "Bob"))
      try transaction.set(Message(id: 1, text: "Hi", author: Person(id: 1, name: "Ada")))
      try transaction.append(
        [Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob")], toCollection: "people")
    }
    return store
  }

  private static let ada = RecordKey(type: 1, node: 1)

  private func expectOthers(in store: ModelStore) throws {
    #expect(try store.read { try $0.get("Person:2", as: Person.self) }?.name == "Bob")
    #expect(
      try store.read { try $0.collection("people", as: Person.self, in: 1..<2) }?.map(\.name)
        == ["Bob"])
  }

  @Test func `a flipped bit is found by reads and by verify`() throws {
    let store = try makeStore()
    try store.editRows { transaction, tables in
      var row = try transaction.value(big(Self.ada.node), in: tables.nodes)
      row[row.count - 2] ^= 1
      try transaction.put(row, big(Self.ada.node), in: tables.nodes)
    }
    let text = "Person:1: the record as Person can't be read: its checksum does not fit its bytes"
    expectFailure(.damaged, text) { _ = try store.read { try $0.tree("Person:1") } }
    expectFailure(.damaged, text) {
      _ = try store.read { try $0.get("Person:1", as: Person.self) }
    }
    expectFailure(.damaged, text) { _ = try store.read { try $0.tree("Message:1") } }
    expectFailure(.damaged, text) {
      _ = try store.read { try $0.collection("people", as: Person.self) }
    }
    expectFailure(.damaged, text) {
      try store.read { try $0.forEachModel(of: Person.self) { _ in true } }
    }
    // Which would end the process at the next write.
    if !InternalChecks.areOn {
      expectFailure(.damaged, text) { try store.write { try $0.set(Person(id: 1, name: "New")) } }
    }
    #expect(try store.verify().problems.map(\.description).contains { $0.hasPrefix(text) })
    try expectOthers(in: store)
  }

  @Test func `a record that is no CBOR names the node and the byte`() throws {
    let store = try makeStore()
    try putBody([0xff, 0x00])
    func putBody(_ body: [UInt8]) throws {
      try store.editRows { transaction, tables in
        try transaction.putRecord(Self.ada, body, in: tables.nodes)
      }
    }
    expectFailure(model: .invalidRecord, "Person:1") {
      _ = try store.read { try $0.get("Person:1", as: Person.self) }
    }
    expectFailure(model: .invalidRecord, "Person:1") {
      _ = try store.read { try $0.tree("Person:1") }
    }
    #expect(try !store.verify().isClean)
    try expectOthers(in: store)
  }

  @Test func `a missing field is named`() throws {
    let store = try makeStore()
    try store.write {
      try $0.set(TreeNode("Person:1", type: "Person", fields: ["id": 1, "isOnline": true]))
    }
    expectFailure(model: .missingField, "Person \"Person:1\", field name") {
      _ = try store.read { try $0.get("Person:1", as: Person.self) }
    }
    // A tree names the node that lacks the field, not the root.
    expectFailure(model: .missingField, "Person \"Person:1\", field name") {
      _ = try store.read { try $0.get("Message:1", as: Message.self) }
    }
    expectFailure(model: .missingField, "Person \"Person:1\", field name") {
      _ = try store.read { try $0.collection("people", as: Person.self) }
    }
    #expect(try store.read { try $0.tree("Person:1") }?["id"] == 1)
    #expect(try store.verify().problems == [])
    try expectOthers(in: store)
  }

  @Test func `a value of another type is named`() throws {
    let store = try makeStore()
    try store.write {
      try $0.set(
        TreeNode("Person:1", type: "Person", fields: ["id": 1, "name": 7, "isOnline": true]))
    }
    expectFailure(model: .typeMismatch, "Person \"Person:1\", field name") {
      _ = try store.read { try $0.get("Person:1", as: Person.self) }
    }
    try expectOthers(in: store)
  }

  @Test func `a damaged list names its key`() throws {
    // Was: an error of the list itself, which no user can match.
    let store = try makeStore()
    try store.editRows { transaction, tables in
      let root = big(1) + big(0)
      var row = try transaction.value(root, in: tables.elements)
      row[row.count - 1] ^= 1
      try transaction.put(row, root, in: tables.elements)
    }
    expectFailure(.damaged, "people: list 1, root is damaged: wrong checksum") {
      _ = try store.read { try $0.collection("people", as: Person.self) }
    }
    expectFailure(.damaged, "people: list 1, root is damaged: wrong checksum") {
      _ = try store.read { try $0.collectionCount("people") }
    }
    if !InternalChecks.areOn {
      expectFailure(.damaged, "wrong checksum") {
        try store.write { try $0.append([Person(id: 3, name: "C")], toCollection: "people") }
      }
    }
    #expect(try store.read { try $0.get("Person:1", as: Person.self) }?.name == "Ada")
  }

  @Test func `internal checks end the process at a write beside damaged rows`() async {
    await #expect(processExitsWith: .failure) {
      setenv("PANDO_INTERNAL_CHECKS", "1", 1)
      let store = try? ModelStore.inMemory()
      _ = try? store?.write { try $0.set(Person(id: 1, name: "Ada")) }
      try? store?.editRows { transaction, tables in
        var row = try transaction.value(big(1), in: tables.nodes)
        row[row.count - 2] ^= 1
        try transaction.put(row, big(1), in: tables.nodes)
      }
      _ = try? store?.write { try $0.set(Person(id: 2, name: "Bob")) }
    }
  }
}
