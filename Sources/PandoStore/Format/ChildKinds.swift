import PandoModels

/// The children of one record, each once, with the kinds of all edges to it.
///
/// A sorted list and not a dictionary: most records have a handful of children.
struct ChildKinds {
  private(set) var entries: [(child: UInt64, kinds: EdgeKinds)] = []

  /// Joins edges to one child as several types.
  ///
  /// - Parameter edges: Sorted by child, as encoders and `RecordBody.edges` give them.
  init(_ edges: ArraySlice<RecordEdge>) {
    entries.reserveCapacity(edges.count)
    for edge in edges {
      if let last = entries.last, last.child == edge.child.node {
        entries[entries.count - 1].kinds.formUnion(edge.kinds)
      } else {
        entries.append((edge.child.node, edge.kinds))
      }
    }
  }

  subscript(child: UInt64) -> EdgeKinds? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].child < child { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].child == child ? entries[low].kinds : nil
  }
}
