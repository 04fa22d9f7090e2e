import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import Testing

/// Trees of many levels of nodes, and the limit that all writes keep.
@Suite(.overBothBackings) struct DepthTests {
  private let limit = RecordLimits.maximumNodeDepth

  private func store() throws -> ModelStore {
    try ModelStore.forTest()
  }

  private func names(_ numbers: Range<Int>) -> [String] { numbers.map { "\($0)" } }

  /// Reads a tree on a thread of a modest size.
  private func read(_ identifier: String, in store: ModelStore) throws -> Deep? {
    nonisolated(unsafe) var found: Deep?  // read after the thread has ended
    try onThread(stackSizeInBytes: 512 << 10) {
      found = try store.read { try $0.get(identifier, as: Deep.self) }
    }
    return found
  }

  @Test func `two chains that meet are one readable tree`() throws {
    // Was: two legal writes, after which node 0 could not be read any more.
    let store = try store()
    try store.write { try $0.set(Deep.chain(0..<60)) }
    try store.write { try $0.set(Deep.chain(59..<90)) }
    #expect(try read("0", in: store)?.identifiers == names(0..<90))
    #expect(try store.read { try $0.tree("0") }?.identifier == "0")
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: Deep.Slot.allCases)
  func `a thousand levels are set, read, changed and shortened`(slot: Deep.Slot) throws {
    let store = try store()
    // In a required slot every second node is a shell.
    let count = slot == .required ? 500 : 1_000
    let last = "\(count - 1)"
    try onThread(stackSizeInBytes: 512 << 10) {
      let chain = Deep.chain(0..<count, slot)
      try store.write { try $0.set(chain) }
      let read = try store.read { try $0.get("0", as: Deep.self) }
      #expect(read?.identifiers == chain.identifiers)
      try store.write { try $0.updateIfPresent(Deep.self, last) { $0.text = "deepest" } }
      #expect(try store.read { try $0.get("0", as: Deep.self) }?.deepestText == "deepest")
      try store.write { try $0.updateIfPresent(Deep.self, "0") { $0.text = "top" } }
      let both = try #require(try store.read { try $0.get("0", as: Deep.self) })
      #expect(both.text == "top" && both.deepestText == "deepest")
      _ = try store.write { try $0.deleteIfPresent(last) }
      let shorter = try store.read { try $0.get("0", as: Deep.self) }
      #expect(shorter?.identifiers == names(0..<count - 1))
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `a deep tree is read in a task and inside a write`() async throws {
    let store = try store()
    try await store.write { try $0.set(Deep.chain(0..<1_000)) }
    let read = try await Task.detached {
      try store.read { try $0.get("0", as: Deep.self)?.identifiers.count }
    }.value
    #expect(read == 1_000)
    let inside = try await store.write { transaction in
      try transaction.set(Deep("x"))
      return try transaction.snapshot.get("0", as: Deep.self)?.identifiers.count
    }
    #expect(inside == 1_000)
  }

  private func expectTooDeep(
    in store: ModelStore, sourceLocation: SourceLocation = #_sourceLocation,
    _ write: @escaping @Sendable (inout ModelTransaction) throws -> Void
  ) throws {
    let before = try store.read { try [Int($0.commitNumber.value), $0.count()] }
    expectFailure(model: .nestingTooDeep, "\(limit) levels", sourceLocation: sourceLocation) {
      try store.write { try write(&$0) }
    }
    let after = try store.read { try [Int($0.commitNumber.value), $0.count()] }
    #expect(before == after, sourceLocation: sourceLocation)
  }

  @Test func `a tree at the limit is taken, and one level more is refused`() throws {
    let store = try store()
    try store.write { try $0.set(Deep.chain(0..<limit)) }
    #expect(try read("0", in: store)?.identifiers.count == limit)
    try expectTooDeep(in: store) { try $0.set(Deep.chain(0..<limit + 1)) }
    #expect(try read("0", in: store)?.identifiers.count == limit)
    #expect(try store.read { try $0.tree("0") } != nil)
  }

  @Test func `no way of writing joins trees to one that is too deep`() throws {
    let store = try store()
    let (half, end) = (limit / 2, limit + 1)
    try store.write { transaction in
      try transaction.set(Deep.chain(0..<half + 1))
      try transaction.set(Deep.chain(half + 1..<end))
    }
    let joined = Deep.chain(half..<end)
    let last = "\(half)"
    let reference = TreeValue.reference(identifier: "\(half + 1)", typeName: "Deep")
    let tree = TreeNode(
      last, type: "Deep",
      fields: ["id": .string(last), "text": "", "named": [:], "list": [reference]])
    try expectTooDeep(in: store) { try $0.set(joined) }
    try expectTooDeep(in: store) { try $0.setRoot(joined) }
    try expectTooDeep(in: store) { try $0.merge(joined) }
    try expectTooDeep(in: store) { try $0.set(tree) }
    try expectTooDeep(in: store) { try $0.merge(tree) }
    try expectTooDeep(in: store) { try $0.set(joined, replacing: Deep(last)) }
    try expectTooDeep(in: store) { try $0.append([joined], toCollection: "list") }
    try expectTooDeep(in: store) { try $0.append([.node(tree)], toCollection: "list") }
    try expectTooDeep(in: store) { transaction in
      try transaction.updateIfPresent(Deep.self, last) { $0.list = [Deep("\(half + 1)")] }
    }
    try expectTooDeep(in: store) { transaction in
      // A new node between the two.
      try transaction.updateIfPresent(Deep.self, last) {
        $0.list = [Deep("new", .list, Deep("\(half + 1)"))]
      }
    }
    #expect(try read("0", in: store)?.identifiers == names(0..<half + 1))
    #expect(try store.verify().problems == [])
    // One level less is taken.
    try store.write { try $0.set(Deep.chain(half..<limit)) }
    #expect(try read("0", in: store)?.identifiers == names(0..<limit))
  }

  @Test func `levels count along the longest way, and those that have gone do not`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.set(Deep.chain(0..<limit))
      try transaction.set(Deep("short", .list, Deep.chain(limit - 2..<limit)))
    }
    // The same node lies near one root and far from another.
    try expectTooDeep(in: store) { transaction in
      try transaction.set(Deep("\(limit - 1)", .list, Deep("more")))
    }
    try store.write { transaction in
      _ = try transaction.deleteIfPresent("5")
      try transaction.set(Deep("\(limit - 1)", .list, Deep("more")))
    }
    #expect(try read("6", in: store)?.identifiers.count == limit - 5)
    #expect(try store.verify().problems == [])
  }

  @Test func `a tree may be turned around in one write`() throws {
    let store = try store()
    try store.write { try $0.set(Deep.chain(0..<limit)) }
    // The lower half comes first: each node has lost its way down before it has got another.
    var turned = Deep("\(limit / 2 - 1)")
    for number in (0..<limit / 2 - 1).reversed() { turned = Deep("\(number)", .list, turned) }
    for number in (limit / 2..<limit).reversed() { turned = Deep("\(number)", .list, turned) }
    let tree = turned
    try store.write { try $0.set(tree) }
    #expect(try read("\(limit / 2)", in: store)?.identifiers == tree.identifiers)
    #expect(try store.verify().problems == [])
  }

  @Test func `a projection that merges in children keeps the limit`() throws {
    let store = try store()
    try store.write { transaction in
      try transaction.set(Deep.chain(0..<limit))
      try transaction.set(DeepTitle(id: "\(limit - 1)", text: "t"))
    }
    try expectTooDeep(in: store) { transaction in
      try transaction.set(
        TreeNode(
          "\(limit - 1)", type: "DeepTitle",
          fields: [
            "id": .string("\(limit - 1)"), "text": "t",
            "list": [
              .node(
                TreeNode(
                  "more", type: "Deep",
                  fields: ["id": "more", "text": "", "list": [], "named": [:]]))
            ],
          ]))
    }
    #expect(try read("0", in: store)?.identifiers.count == limit)
  }

  @Test func `a dump of a deep store is loaded, one that is too deep is not`() throws {
    let store = try store()
    try store.write { try $0.set(Deep.chain(0..<limit)) }
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let copy = try self.store()
    let source = LineSource(lines)
    try copy.load { source.next() }
    #expect(try read("0", in: copy)?.identifiers.count == limit)
    let records = #"[["Deep",1,{"x":{"$reference":["0","Deep"]}}]]"#
    let top = #"{"node":"top","isAskedFor":true,"records":\#(records)}"#
    let at = try #require(lines.firstIndex { $0.contains(#""node":"#) })
    lines.insert(top, at: at)
    lines[lines.count - 1] = lines[lines.count - 1].replacing(
      "\"nodes\":\(limit)", with: "\"nodes\":\(limit + 1)")
    let deeper = try self.store()
    expectFailure(.invalidDump, "nested deeper than \(limit) levels") {
      let source = LineSource(lines)
      try deeper.load { source.next() }
    }
  }

  @Test(arguments: seeds(1))
  func `every node of randomly joined forests can be read`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try store()
    for _ in 0..<40 {
      // The identifiers rise from a parent to its child mostly, so that there are few cycles.
      let start = Int.random(in: 0..<20, using: &random) * 80
      let slot = Deep.Slot.allCases.randomElement(using: &random) ?? .list
      let chain = Deep.chain(start..<start + Int.random(in: 1...500, using: &random), slot)
      let parent = "\(Int.random(in: max(0, start - 50)..<start + 50, using: &random))"
      let top = Bool.random(using: &random) ? Deep(parent, .list, chain) : chain
      let isWhole = Bool.random(using: &random)
      do {
        try store.write { try isWhole ? $0.set(top) : $0.setRoot(top) }
      } catch let error as ModelError
        where error.code == .nestingTooDeep || error.code == .cyclicModel
      {
      } catch let error as StoreError where error.code == .cyclicModel {}
    }
    #expect(try store.verify().problems == [])
    try onThread(stackSizeInBytes: 512 << 10) {
      try store.read { snapshot in
        var roots = 0
        for number in 0..<2_100 where try snapshot.contains("\(number)") {
          guard try snapshot.parents(of: "\(number)").isEmpty else { continue }
          roots += 1
          let root = try snapshot.get("\(number)", as: Deep.self)
          #expect(root != nil)
        }
        #expect(roots > 0)
      }
    }
  }
}

/// A projection of ``Deep``.
private struct DeepTitle: Model, Codable, Equatable {
  var id: String
  var text: String
  var list: [Deep] = []
  var modelIdentifier: String? { id }

  static var modelTypeName: String { "DeepTitle" }
}
