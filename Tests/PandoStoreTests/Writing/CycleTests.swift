import PandoModels
import PandoRecords
import Testing

@testable import PandoStore

/// A tree of models has no cycles, whichever way the records came in.
@Suite(.overBothBackings) struct CycleTests {
  @Test func `a dump whose nodes contain one another is refused`() throws {
    // Was: loaded, and found clean by verify, but no tree of it could be read.
    let lines = [
      #"{"pando":"dump","format":1,"commit":1,"store":"x"}"#,
      #"{"type":"T","schemaVersion":0}"#,
      #"{"node":"a","isAskedFor":true,"records":[["T",1,{"x":{"$reference":["b","T"]}}]]}"#,
      #"{"node":"b","isAskedFor":true,"records":[["T",1,{"x":{"$reference":["c","T"]}}]]}"#,
      #"{"node":"c","isAskedFor":true,"records":[["T",1,{"x":{"$reference":["b","T"]}}]]}"#,
      #"{"end":1,"nodes":3,"collections":0}"#,
    ]
    let store = try ModelStore.forTest()
    expectFailure(.invalidDump, "would contain itself") {
      let source = LineSource(lines)
      try store.load { source.next() }
    }
    #expect(try store.read { try $0.count() } == 0)
    #expect(try store.verify().problems == [])
  }

  @Test func `verify finds a node that contains itself`() throws {
    let store = try ModelStore.forTest()
    let leaf = TreeNode("leaf", type: "Box")
    try store.write { try $0.set(TreeNode("box", type: "Box", fields: ["x": .node(leaf)])) }
    // Both directions of the new edge agree: nothing but the cycle is wrong.
    let box = RecordKey(type: 1, node: 1)
    let inner = RecordKey(type: 1, node: 2)
    let body = try #require(try store.recordBody(box))
    let edges = try RecordBody.edges(in: body.span)
    let child = try #require(edges.first?.child.node)
    let (parent, target) = child == inner.node ? (inner, box) : (box, inner)
    var encoder = TreeEncoder(sink: FixedSink(target.reference))
    let back = try encoder.encodeValue(.object(["x": .reference(identifier: "b", typeName: "B")]))
    try store.editRows { transaction, tables in
      try transaction.putRecord(parent, back.body, in: tables.nodes)
      let kinds = back.edges[0].kinds.rawValue
      try transaction.put([kinds], big(target.node) + big(parent.rawValue), in: tables.parents)
    }
    let problems = try store.verify().problems
    #expect(problems.map(\.reason) == ["it contains itself"])
  }

  /// Answers every reference with the same numbers.
  private final class FixedSink: TreeSink {
    private let reference: RecordReference

    init(_ reference: RecordReference) { self.reference = reference }

    func beginNode(identifier: String, typeName: String) throws -> RecordReference { reference }

    func reference(identifier: String, typeName: String) throws -> RecordReference { reference }

    func endNode(
      _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
    ) throws {}
  }
}
