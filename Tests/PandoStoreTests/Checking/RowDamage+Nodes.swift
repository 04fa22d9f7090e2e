import PandoLMDB
import PandoModels

@testable import PandoStore

extension RowDamage {
  static let ofNodes: [RowDamage] = [
    RowDamage("a node key of another size", "nodes", "a key has 3 bytes instead of 8") {
      try $0.put(row("c", [1]), [1, 2, 3], in: $1.nodes)
    },
    RowDamage("a node row without its end", "node 1", "its row of 1 bytes is malformed") {
      try $0.put([1], big(1), in: $1.nodes)
    },
    RowDamage("an identifier that is no text", "node 1", "its identifier is not UTF-8") {
      try $0.put(nodeRow([0xff], [(1, [0xa0])]), big(1), in: $1.nodes)
    },
    RowDamage("a node number to come", "c", "its node number 90 has not been given out") {
      try $0.put(row("c", [1]), big(90), in: $1.nodes)
      try $0.put(little(90), Array("c".utf8), in: $1.identifiers)
    },
    RowDamage(
      "an identifier that leads elsewhere", "a",
      "its identifier row does not lead back to node 1"
    ) { try $0.put(little(2), Array("a".utf8), in: $1.identifiers) },
    RowDamage("a node without records", "a", "it has no record") {
      try $0.put(row("a", []), big(1), in: $1.nodes)
    },
    RowDamage("types in no order", "a", "its type numbers are not ascending") {
      try $0.put(row("a", [2, 1]), big(1), in: $1.nodes)
    },
    RowDamage("a node row with a byte too many", "node 1", "is malformed") { transaction, tables in
      try edit(big(1), in: tables.nodes, &transaction) { $0.append(0) }
    },
    RowDamage("a record longer than its row", "node 1", "is malformed") { transaction, tables in
      try edit(big(1), in: tables.nodes, &transaction) { $0[10] = 200 }
    },
    RowDamage("a missing identifier", "identifiers", "2 rows for 3 nodes") {
      try $0.remove(Array("a".utf8), in: $1.identifiers)
    },
    RowDamage("a short identifier row", "identifiers", "a row is malformed") {
      try $0.put([1], Array("a".utf8), in: $1.identifiers)
    },
    RowDamage(
      "an identifier of no node", "node 77", "rows refer to it but it has no row of its own"
    ) { try $0.put(little(77), Array("c".utf8), in: $1.identifiers) },
    RowDamage("a long identifier row", "a", "its identifier row has 9 bytes instead of 8") {
      try $0.put(little(1, 9), Array("a".utf8), in: $1.identifiers)
    },
    RowDamage("two identifiers of one node", "a", "another identifier row leads to it too") {
      try $0.put(little(1), Array("alias".utf8), in: $1.identifiers)
    },
  ]

  static let ofRecords: [RowDamage] = [
    RowDamage(
      "a record that is not listed by type", "a", "missing among the nodes of type number 2"
    ) { try $0.putRecord(RecordKey(type: 2, node: 1), [0xa0], in: $1.nodes) },
    RowDamage("a node of a type it has no record of", "type number 1", "it lists 3 nodes, 2 have") {
      try $0.put([0b1110], big(1 << 48), in: $1.nodesByType)
    },
    RowDamage("nodes of no type", "type number 7", "it lists 1 nodes, 0 have a record of it") {
      try $0.put([1], big(7 << 48), in: $1.nodesByType)
    },
    RowDamage(
      "a list of nodes with zeros at its end", "type number 1", "has 2 bytes and is malformed"
    ) { try $0.put([6, 0], big(1 << 48), in: $1.nodesByType) },
    RowDamage("a key of nodes of another size", "nodesByType", "a key has 3 bytes instead of 8") {
      try $0.put([6], [0, 1, 2], in: $1.nodesByType)
    },
    RowDamage(
      "a flipped bit", "a",
      "the record as Leaf can't be read: its checksum does not fit its bytes"
    ) { transaction, tables in
      try edit(big(1), in: tables.nodes, &transaction) { $0[$0.count - 1] ^= 1 }
    },
    RowDamage("a record to come", "a", "a record has the later commit 99") {
      try $0.putRecord(recordOfA, [0xa0], commitNumber: 99, in: $1.nodes)
    },
    RowDamage("a body that is not in the form of records", "a", "the record as Leaf can't be read")
    {
      // The number 1, in two bytes.
      try $0.putRecord(recordOfA, [0xa1, 0x61, 0x6e, 0x18, 1], in: $1.nodes)
    },
    RowDamage("a child that does not exist", "box", "it holds node 60, which does not exist") {
      let reference: [UInt8] = [0xd9, 0x50, 0x41, 0x82, 0x18, 60, 1]
      try $0.putRecord(recordOfBox, [0xa1, 0x61, 0x61] + reference, in: $1.nodes)
    },
    RowDamage(
      "an edge that the index does not have", "box",
      "its edge to a is missing or wrong in the dependency index"
    ) { try $0.remove(edge(1, recordOfBox), in: $1.parents) },
    RowDamage(
      "an edge of another kind", "box",
      "its edge to a is missing or wrong in the dependency index"
    ) { try $0.put([2], edge(1, recordOfBox), in: $1.parents) },
    RowDamage(
      "an edge that no record has", "dependency index",
      "5 rows for 4 edges of records and collections"
    ) { try $0.put([1], edge(2, recordOfA), in: $1.parents) },
  ]
}
