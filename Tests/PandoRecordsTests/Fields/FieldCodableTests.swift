import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoRecords

/// Types that read and write their fields themselves make the same records as `Codable`.
@Suite struct FieldCodableTests {
  @Test(arguments: seeds(200))
  func `records have the same bytes and edges either way, and read the same either way`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let tree = FastTree(&random)
    let fast = MemoryRecords()
    let plain = MemoryRecords()
    let reference = try RecordEncoder(sink: fast).encode(tree)
    #expect(try RecordEncoder(sink: plain, usingFields: false).encode(tree) == reference)
    #expect(fast.records == plain.records, "seed \(seed)")
    #expect(fast.ended == plain.ended, "seed \(seed)")
    #expect(
      try RecordEncoder.encodeValue(tree).body
        == RecordEncoder.encodeValue(tree, usingFields: false).body)
    for usesFields in [true, false] {
      let body = try fast.body(of: reference, as: FastTree.self)
      let copy = try RecordDecoder(source: fast, usingFields: usesFields)
        .decode(FastTree.self, from: body)
      // Of nodes with one identifier the last counts, so the copy is compared by its records.
      let again = MemoryRecords()
      _ = try RecordEncoder(sink: again).encode(copy)
      #expect(again.record(tree.id) == fast.record(tree.id), "seed \(seed), \(usesFields)")
    }
  }

  @Test func `children are found without a store too`() throws {
    var random = SeededGenerator(seed: 5)
    var tree = FastTree(&random)
    tree.required = FastNote(id: "required", text: "old")
    tree.optional = FastNote(id: "optional", text: "old")
    tree.list = [FastNote(id: "1", text: ""), FastNote(id: "2", text: "")]
    var seen: [String] = []
    tree.forEach { child in seen.append(child.modelIdentifier ?? "") }
    #expect(seen.contains("required") && seen.contains("optional") && seen.contains("2"))
    let changed = tree.map { child in
      guard var note = child as? FastNote else { return child }
      if note.id == "1" || note.id == "optional" { return nil }
      note.text = "new"
      return note
    }
    #expect(changed?.required.text == "new")
    #expect(changed?.optional == nil)
    #expect(changed?.list.map(\.id) == ["2"])
    #expect(tree.map { ($0 as? FastNote)?.id == "required" ? nil : $0 } == nil)
  }

  private func note(_ hex: String) throws -> FastNote {
    try RecordDecoder.decodeValue(FastNote.self, from: bytes(hex))
  }

  @Test func `an error names the field`() throws {
    let missing = #expect(throws: ModelError.self) { try note("a1626964616e") }
    #expect(missing?.code == .missingField)
    #expect(missing?.field == "text")
    let wrong = #expect(throws: ModelError.self) { try note("a26269640164746578746161") }
    #expect(wrong?.code == .typeMismatch)
    #expect(wrong?.field == "id")
    #expect(throws: ModelError.self) { try note("80") }
    #expect(throws: ModelError.self) { try note("a2626964616164746578746161f6") }
  }

  struct Changed: FieldCodable, SchemaVersioned {
    var new: Int8
    var renamed: Int
    var maybe: String?
    static var fieldDefaults: [String: any Encodable & Sendable] { ["new": 7, "maybe": "x"] }
    static var formerFieldNames: [String: [String]] { ["renamed": ["older", "old"]] }

    init(fields: inout FieldSource) throws {
      new = try fields.read("new")
      renamed = try fields.read("renamed")
      maybe = try fields.read("maybe")
    }

    func write(to fields: inout FieldSink) throws {
      fields.write("new", new)
      fields.write("renamed", renamed)
      fields.write("maybe", maybe)
    }
  }

  @Test func `defaults and former names are used`() throws {
    // {"old": 5}
    let value = try RecordDecoder.decodeValue(Changed.self, from: bytes("a1636f6c6405"))
    #expect(value.new == 7)
    #expect(value.renamed == 5)
    #expect(value.maybe == "x")
  }

  #if DEBUG
    struct Forgetful: FieldCodable {
      var a = 1
      var b = 2
      init() {}
      init(fields: inout FieldSource) throws { a = try fields.read("a") }
      func write(to fields: inout FieldSink) throws { fields.write("a", a) }
    }

    @Test func `a field that is forgotten stops a debug build`() async {
      await #expect(processExitsWith: .failure) {
        _ = try RecordEncoder.encodeValue(Forgetful())
      }
    }
  #endif
}
