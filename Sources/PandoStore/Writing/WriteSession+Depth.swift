import PandoModels
import PandoRecords
import PandoSystem

/// A record whose tree an operation may have made deeper.
struct GrownRecord {
  let key: RecordKey
  /// The levels of nodes of its tree; 0 if they have to be counted.
  let height: Int
  /// The new children.
  let gained: [RecordReference]
  /// A few of the previous children.
  let kept: [RecordReference]
}

/// Keeps trees readable: no operation may nest nodes deeper than `RecordLimits.maximumNodeDepth`.
///
/// The check comes after an operation has changed all its rows. A path from a root can become
/// longer only through a new child of a record. Its length is the height of the record's tree and
/// the longest path up the dependency index. The check is skipped if the record has kept a child of
/// the same height.
extension WriteSession {
  /// Notes the children of a record, if some are new.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - height: The levels of nodes of its tree; 0 if unknown.
  ///   - edges: Its edges, sorted by child.
  ///   - before: Its previous edges, sorted alike.
  func noteGrowth(
    of key: RecordKey, _ height: Int, _ edges: ArraySlice<RecordEdge>,
    from before: [RecordEdge] = []
  ) {
    var gained: [RecordReference] = []
    var kept: [RecordReference] = []
    var index = 0
    for edge in edges {
      let child = (edge.child.node, edge.child.type)
      while index < before.count, (before[index].child.node, before[index].child.type) < child {
        index += 1
      }
      if index < before.count, before[index].child == edge.child {
        if kept.count < Self.keptCountMaximum { kept.append(edge.child) }
      } else {
        gained.append(edge.child)
      }
    }
    if gained.isEmpty || height == 2 && !kept.isEmpty { return }
    unsafe grown.append(GrownRecord(key: key, height: height, gained: gained, kept: kept))
  }

  /// How many kept children are compared with the height of new ones.
  private static let keptCountMaximum = 8

  /// Refuses the ending operation if it has made a tree too deep.
  ///
  /// - Throws: `ModelError` `nestingTooDeep`.
  /// - Complexity: O(*a* + *d*) rows for *a* ancestors of records with new children, and *d*
  ///   descendants of these children, if heights are unknown.
  func refuseDepth() throws {
    let grown = unsafe exchange(&grown, with: [])
    try reading { reader in
      var below: [RecordKey: Int] = [:]
      var above: [RecordKey: Int] = [:]
      for record in grown {
        let height =
          try record.height > 0
          ? record.height : 1 + self.height(record.gained, &below, reader)
        guard height > 1, try !reaches(height - 1, record.kept[...], reader) else { continue }
        let depth = try reader.longestWay(from: record.key, &above) {
          try reader.parentRecords(of: $0)
        }.count
        guard depth + height - 1 > RecordLimits.maximumNodeDepth else { continue }
        throw ModelError(
          .nestingTooDeep, identifier: try reader.identifier(of: record.key.node),
          typeName: try typeName(record.key.type),
          reason: "it would lie at level \(depth) with \(height - 1) below it; "
            + "nodes are nested \(RecordLimits.maximumNodeDepth) levels deep at most")
      }
    }
  }

  /// The levels of the deepest of some trees.
  private func height(
    _ references: [RecordReference], _ known: inout [RecordKey: Int],
    _ reader: borrowing StoreReader
  ) throws -> Int {
    var height = 0
    for reference in references {
      guard
        let key = try reader.recordKey(node: reference.node, preferring: reference.type)
      else { continue }
      let way = try reader.longestWay(from: key, &known) { try reader.childRecords(of: $0) }
      height = max(height, way.count)
    }
    return height
  }

  /// Whether the path of first children from these references reaches a height.
  private func reaches(
    _ height: Int, _ references: ArraySlice<RecordReference>, _ reader: borrowing StoreReader
  ) throws -> Bool {
    var children = references
    for level in stride(from: height, to: 0, by: -1) {
      if level == 1 { return !children.isEmpty }
      guard let first = children.first,
        let key = try reader.recordKey(node: first.node, preferring: first.type),
        let body = try reader.body(of: key)
      else { return false }
      children = try RecordBody.edges(in: body).map(\.child)[...]
    }
    return true
  }
}
