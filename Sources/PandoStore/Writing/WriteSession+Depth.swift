import PandoModels
import PandoSystem

/// A record whose tree an operation may have made deeper.
struct GrownRecord {
  let key: RecordKey
  /// How many levels of nodes its tree has now; 0 if that is to be found out.
  let height: Int
  /// The children that it has got.
  let gained: [RecordReference]
  /// A few of those that it had before as well.
  let kept: [RecordReference]
}

/// Trees stay readable: no operation makes a node lie deeper than `RecordLimits.maximumNodeDepth`.
///
/// What an operation has made deeper is looked at when it has changed all its rows. A way down from a
/// root that is longer than before goes through a child that a record has got. Below such a record its
/// tree counts, above it the longest way up the dependency index. The longest way that a tree may have
/// had anyway need not be looked at: that of a child of the same height that the record has kept.
extension WriteSession {
  /// Notes that a record has children now, if it has not had all of them before.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - height: How many levels of nodes its tree has; 0 if nobody knows.
  ///   - edges: Its edges, sorted by child.
  ///   - before: Those that it had, sorted alike.
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

  /// How many children are looked at to find one that is as deep as those that came.
  private static let keptCountMaximum = 8

  /// Refuses the operation that is ending if it has made a tree too deep.
  ///
  /// - Throws: `ModelError` `nestingTooDeep`.
  /// - Complexity: O(*a* + *d*) rows for *a* ancestors of records that have got children, and *d*
  ///   descendants of these children where they are not as deep as they were given.
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

  /// How many levels the deepest of some trees has.
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

  /// Whether one of the first children of some trees, and so on, is found to be so deep.
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
