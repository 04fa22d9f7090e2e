import PandoModels
import PandoSystem

extension LiveRegistry {
  /// Finds trees that contain nodes, by holder.
  ///
  /// - Parameters:
  ///   - nodes: Identifiers of nodes.
  ///   - all: True to find all trees with one of the nodes; false to find one for each node.
  /// - Returns: The holders, each with its rows in ascending order.
  mutating func rows(
    holding nodes: some Sequence<ByteString>, all: Bool
  ) -> [(holder: any LiveHolder, rows: [LiveRow])] {
    let mark = makeMark()
    var found: [UInt64: (holder: any LiveHolder, rows: [LiveRow])] = [:]
    for node in nodes {
      guard let entry = entryNumbers[node] else { continue }
      for slot in entries[entry].slots where rows[slot.row].links[Int(slot.link)].isInTree {
        if rows[slot.row].mark != mark, let owner = rows[slot.row].owner {
          rows[slot.row].mark = mark
          let (holder, row) = (rows[slot.row].holder, rows[slot.row].row)
          found[holder, default: (owner, [])].rows.append(row)
        }
        if !all { break }
      }
    }
    return found.values.map { ($0.holder, $0.rows.ordered()) }
  }
}
