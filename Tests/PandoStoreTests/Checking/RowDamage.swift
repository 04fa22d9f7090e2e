import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

/// One rule of the store broken by hand, and what `verify` has to say of it.
struct RowDamage: Sendable, CustomTestStringConvertible {
  let name: String
  let subject: String
  let reason: String
  let apply: @Sendable (inout WriteTransaction, StoreTables) throws -> Void

  init(
    _ name: String, _ subject: String, _ reason: String,
    _ apply: @escaping @Sendable (inout WriteTransaction, StoreTables) throws -> Void
  ) {
    self.name = name
    self.subject = subject
    self.reason = reason
    self.apply = apply
  }

  var testDescription: String { name }
}

extension RowDamage {
  /// The store that is broken: numbers of nodes, types and collections are those of the order in
  /// which they come here.
  ///
  /// | node | identifier | type | record |
  /// |---|---|---|---|
  /// | 1 | `a` | 1 `Leaf` | `a` as `Leaf` |
  /// | 2 | `b` | 1 `Leaf` | `b` as `Leaf` |
  /// | 3 | `box` | 2 `Box` | holds `a` (required) and `b` (optional) |
  ///
  /// Collection 1, `list`, lists `a` twice and holds a value with `b`. Four commits are logged.
  static func makeStore() throws -> ModelStore {
    let store = try ModelStore.temporary(configuration: .forTests)
    let a = TreeNode("a", type: "Leaf", fields: ["n": 1])
    let b = TreeNode("b", type: "Leaf", fields: ["n": 2])
    try store.write { try $0.set(a) }
    try store.write { try $0.set(b) }
    try store.write {
      try $0.set(TreeNode("box", type: "Box", fields: ["a": .required(.node(a)), "b": .node(b)]))
    }
    try store.write {
      try $0.setCollection("list", to: [.node(a), .object(["who": .node(b)]), .node(a)])
    }
    return store
  }

  static let recordOfA = RecordKey(type: 1, node: 1)
  static let recordOfBox = RecordKey(type: 2, node: 3)

  /// The row of a node with empty records.
  static func row(_ identifier: String, _ types: [UInt32]) -> [UInt8] {
    nodeRow(Array(identifier.utf8), types.map { ($0, [0xa0]) })
  }

  static func edge(_ child: UInt64, _ parent: RecordKey) -> [UInt8] {
    big(child) + big(parent.rawValue)
  }

  /// Changes bytes of a value.
  static func edit(
    _ key: [UInt8], in table: RawTable, _ transaction: inout WriteTransaction,
    _ change: (inout [UInt8]) -> Void
  ) throws {
    var value = try transaction.value(key, in: table)
    change(&value)
    try transaction.put(value, key, in: table)
  }
}
