import PandoModels

/// The contents that a store must have, kept in the simplest way: dictionaries of nodes, changed by walking
/// everything.
///
/// A value: a copy is a version. Nothing in it is shared with the code under test but the value
/// types `TreeNode` and `TreeValue`.
struct ReferenceStore {
  /// The content of a node as one type; children are references.
  struct Record: Equatable {
    var fields: TreeValue
    /// The commit that last changed it.
    var commitNumber: UInt64
  }

  struct Node: Equatable {
    var isAskedFor = false
    var records: [String: Record] = [:]
  }

  /// The error of a refused operation.
  enum Refusal: Error {
    case cyclicModel
    case noSuchNode
  }

  /// All types in the order of their numbers.
  let types: [String]
  var nodes: [String: Node] = [:]
  var collections: [String: [TreeValue]] = [:]
  var properties: [String: [UInt8]] = [:]
  var commitNumber: UInt64 = 0
  var changes = ReferenceChanges()

  init(types: [String]) { self.types = types }
}

extension ReferenceStore {
  /// Numbers the write that has just been made, if it did anything.
  ///
  /// - Returns: What it did; `nil` if nothing.
  mutating func commit() -> ReferenceChanges? {
    defer { changes = ReferenceChanges() }
    guard !changes.isEmpty else { return nil }
    commitNumber += 1
    return changes
  }

  mutating func set(_ tree: TreeNode) throws {
    var collector = ReferenceCollector(known: Set(nodes.keys))
    try collector.add(tree)
    try storeLast(collector.items)
    nodes[tree.identifier]?.isAskedFor = true
  }

  mutating func merge(_ tree: TreeNode) throws {
    var collector = ReferenceCollector(known: Set(nodes.keys))
    try collector.add(tree)
    for item in collector.items {
      let own = nodes[item.identifier]?.records[item.type] != nil ? item.type : nil
      guard let target = own ?? newestType(of: item.identifier),
        let old = nodes[item.identifier]?.records[target]?.fields
      else {
        try storeLast([item])
        continue
      }
      let fields =
        target == item.type
        ? ReferenceMerge.update(old, with: item.fields)
        : ReferenceMerge.project(item.fields, into: old)
      try storeLast([
        ReferenceCollector.Item(identifier: item.identifier, type: target, fields: fields)
      ])
    }
    nodes[tree.identifier]?.isAskedFor = true
  }

  /// Stores what was collected; of two items for one node and type the last one.
  mutating func storeLast(_ items: [ReferenceCollector.Item]) throws {
    let last = items.enumerated().filter { index, item in
      !items[(index + 1)...].contains {
        $0.identifier == item.identifier && $0.type == item.type
      }
    }.map(\.element)
    var changed: Set<String> = []
    for item in last where nodes[item.identifier]?.records[item.type]?.fields != item.fields {
      if nodes[item.identifier] == nil {
        changes.insert(item.identifier)
      } else {
        changes.update(item.identifier)
      }
      put(item.fields, item.identifier, item.type)
      changed.insert(item.identifier)
    }
    // The other types of a node follow; what came last is given on first, and so wins.
    for item in last.reversed() where changed.contains(item.identifier) {
      for type in types where type != item.type {
        guard let source = nodes[item.identifier]?.records[item.type]?.fields,
          let old = nodes[item.identifier]?.records[type]?.fields
        else { continue }
        let merged = ReferenceMerge.project(source, into: old)
        if merged != old { put(merged, item.identifier, type) }
      }
    }
  }

  private mutating func put(_ fields: TreeValue, _ identifier: String, _ type: String) {
    nodes[identifier, default: Node()].records[type] = Record(
      fields: fields, commitNumber: commitNumber + 1)
  }

  /// The type of the record that changed last; of two from one commit, the one of the lower number.
  func newestType(of identifier: String) -> String? {
    guard let records = nodes[identifier]?.records else { return nil }
    let newest = records.values.map(\.commitNumber).max()
    return types.first { records[$0] != nil && records[$0]?.commitNumber == newest }
  }

  /// The type whose record shows a node that is meant as a type.
  func shownType(of identifier: String, meantAs type: String) -> String? {
    nodes[identifier]?.records[type] != nil ? type : newestType(of: identifier)
  }
}
