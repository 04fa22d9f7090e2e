import Foundation
import FuzzSupport
import Pando
import Synchronization

/// Arbitrary JSON and mappings, as `pando import`, `pando load` and `pando set` take them in.
///
/// The first byte says which. A refused file has a reason and leaves nothing; an accepted one can be
/// read, dumped and loaded again.
@main enum FuzzImport {
  static func main() {
    let directory = FuzzDirectory.make("fuzz-import")
    FuzzTarget.run { bytes in
      let rest = Array(bytes.dropFirst(2))
      let choice = bytes.count > 1 ? bytes[1] : 0
      do {
        let store = try makeStore("\(directory)/store")
        defer { store.close() }
        switch (bytes.first ?? 0) % 4 {
        case 0: try load(rest, into: store, "\(directory)/again")
        case 1: try set(rest, in: store, "\(directory)/again")
        default: try takeIn(rest, choice, store, "\(directory)/again")
        }
      } catch {
        FuzzTarget.fail("\(error)")
      }
    }
  }

  private static func makeStore(_ path: String) throws -> ModelStore {
    try? FileManager.default.removeItem(atPath: path)
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 16 << 20
    configuration.durability = .unsynchronized
    return try ModelStore(path: path, configuration: configuration)
  }

  // MARK: load

  private static func load(_ bytes: [UInt8], into store: ModelStore, _ again: String) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    do {
      let report = try store.load(lines)
      FuzzTarget.canary(report.nodeCount >= 2)
    } catch let error as StoreError {
      FuzzTarget.require(!error.reason.isEmpty, "an error without a reason")
      FuzzTarget.require(try store.read { try $0.count() } == 0, "refused, and yet there are nodes")
      return
    }
    try checkWhole(store, again)
  }

  /// A store that has taken something in is sound, and its dump loads as the same store.
  private static func checkWhole(_ store: ModelStore, _ path: String) throws {
    let report = try store.verify()
    FuzzTarget.require(report.isClean, "\(report.problems)")
    var lines: [String] = []
    try store.dump { lines.append($0) }
    let copy = try makeStore(path)
    defer { copy.close() }
    try copy.load(lines)
    var again: [String] = []
    try copy.dump { again.append($0) }
    FuzzTarget.require(again == lines, "loaded again it dumps \(again) instead of \(lines)")
  }

  // MARK: set

  private static func set(_ bytes: [UInt8], in store: ModelStore, _ again: String) throws {
    guard let value = try? TreeValue(json: bytes.span, form: .lossless) else { return }
    let trees = value.nodeValue.map { [$0] } ?? (value.arrayValue ?? []).compactMap(\.nodeValue)
    guard !trees.isEmpty else { return }
    do {
      try store.write { transaction in
        for tree in trees { try transaction.set(tree) }
        for tree in trees { try transaction.merge(tree) }
      }
    } catch {
      FuzzTarget.require(error is StoreError || error is ModelError, "\(error)")
      FuzzTarget.require(try store.read { try $0.count() } == 0, "refused, and yet there are nodes")
      return
    }
    try checkWhole(store, again)
  }

  // MARK: import

  /// Types of a mapping: some properties, one of them required, and perhaps a root.
  private static func mapping(_ choice: UInt8) -> ImportMapping {
    var mapping = ImportMapping()
    let types = [
      NodeType(typeName: "A", field: "id"), NodeType(typeName: "B", field: "id"),
      choice & 128 != 0
        ? NodeType(keyedTypeName: "C") : NodeType(typeName: "C", field: "key"),
    ]
    for (index, property) in ["a", "b", "c"].enumerated() where choice & (1 << UInt8(index)) == 0 {
      mapping.properties[property] = types[(index + Int(choice >> 6)) % types.count]
    }
    if choice & 8 != 0 { mapping.root = types[Int(choice >> 4) % types.count] }
    if choice & 16 != 0 { mapping.required.formUnion(mapping.properties.keys.filter { $0 != "b" }) }
    return mapping
  }

  private static func takeIn(
    _ bytes: [UInt8], _ choice: UInt8, _ store: ModelStore, _ again: String
  ) throws {
    guard let value = try? TreeValue(json: bytes.span) else { return }
    var splitter = TreeSplitter(
      mapping(choice), isStrict: choice & 32 != 0, acceptsReferences: choice & 64 != 0)
    let trees: [TreeNode]
    do {
      trees = try splitter.trees(in: value)
    } catch {
      return FuzzTarget.require(!error.reason.isEmpty, "an error without a reason")
    }
    if trees.count == 1, let root = splitter.mapping.root, !root.isKeyed, case .object = value,
      choice & 64 == 0
    {
      FuzzTarget.require(
        TreeValue.node(trees[0]).json() == value.json(), "the parts put together are another value")
    }
    FuzzTarget.canary(splitter.findings.occurrenceCount >= 3)
    do {
      try store.write { transaction in
        for tree in trees { try transaction.set(tree) }
      }
    } catch {
      FuzzTarget.require(error is StoreError || error is ModelError, "\(error)")
      FuzzTarget.require(try store.read { try $0.count() } == 0, "refused, and yet there are nodes")
      return
    }
    try checkWhole(store, again)
  }
}

extension ModelStore {
  /// Loads lines that are in memory.
  @discardableResult
  fileprivate func load(_ lines: [String]) throws -> (nodeCount: Int, collectionCount: Int) {
    let rest = Mutex(lines[...])
    return try load { rest.withLock { $0.popFirst() } }
  }
}
