import Foundation
import Pando

/// The store that is changed: small, and with everything a store can have.
struct OriginalStore {
  /// The bytes of its file.
  let file: [UInt8]
  /// The contents of its newest commit, and of the one before.
  let newest: [String]
  let earlier: [String]

  init(_ path: String) throws {
    var configuration = ModelStore.Configuration()
    configuration.durability = .unsynchronized
    configuration.mapSizeInBytes = 16 << 20
    let store = try ModelStore(path: path, configuration: configuration)
    for round in 0..<4 {
      try store.write { transaction in
        for number in 0..<12 { try transaction.set(Self.tree(number, round)) }
        try transaction.deleteIfPresent("child:\(round)")
        try transaction.append(
          (0..<60).map { .string("element \(round) \($0)") }, toCollection: "texts")
        try transaction.append(
          (0..<6).map { .reference(identifier: "tree:\($0)", typeName: "Tree") },
          toCollection: "trees")
      }
    }
    earlier = try Self.content(of: store)
    try store.write { try $0.set(Self.tree(1, 9)) }
    newest = try Self.content(of: store)
    store.close()
    file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb")))
  }

  private static func tree(_ number: Int, _ round: Int) -> TreeNode {
    let child = TreeNode(
      "child:\((number + round) % 8)", type: "Child", fields: ["name": .string("child \(round)")])
    let text = String(repeating: "tree \(number) \(round) ", count: number == 3 ? 800 : 4)
    return TreeNode(
      "tree:\(number)", type: round == 2 && number == 5 ? "Other" : "Tree",
      fields: [
        "text": .string(text), "child": .node(child), "numbers": [1, 2.5, true, .null],
        "all": .array((0..<3).map { .node(TreeNode("leaf:\(number):\($0)", type: "Leaf")) }),
        "bytes": .bytes([0, 1, 255]),
      ])
  }

  /// All that the store shows of nodes and collections, read through LMDB.
  static func content(of store: ModelStore) throws -> [String] {
    try store.read { snapshot in
      var lines = ["commit \(try snapshot.commitNumber.value)"]
      for identifier in try snapshot.identifiers() {
        for type in try snapshot.typeNames(of: identifier) {
          let tree = try snapshot.tree(identifier, as: type).map { TreeValue.node($0) } ?? .null
          lines.append("\(identifier) \(type) \(tree.json(.lossless))")
        }
        lines.append("parents \(try snapshot.parents(of: identifier).sorted())")
        lines.append("in \(try snapshot.collections(holding: identifier))")
      }
      for key in try snapshot.collectionKeys() {
        lines.append("\(key) \(try snapshot.collectionCount(key) ?? -1)")
        let elements = try snapshot.collectionTrees(key) ?? []
        lines.append(TreeValue.array(elements).json(.lossless))
      }
      return lines
    }
  }
}
