import PandoLMDB

/// The size of a store with another number of nodes, from the measured tables of one.
///
/// Tables with rows for each node grow with their number. The others keep their size.
struct StoreEstimate {
  /// The share of one table.
  struct Part {
    /// The name of the table in docs/format.md.
    let table: String
    /// Bytes for each node, with the free parts of pages.
    let byteCountPerNode: Double
  }

  /// Tables whose size does not depend on the number of nodes.
  private static let fixedTables: Set<String> = ["meta", "types", "changes", "indexes"]

  /// The number of nodes in the estimated store.
  let nodeCount: Int
  /// The tables that grow, largest first.
  let parts: [Part]
  /// Bytes of everything else, without the change log.
  private let fixedByteCount: Double
  /// Bytes of the change log.
  let changeLogByteCount: Int

  /// Scales a measured store.
  ///
  /// - Parameters:
  ///   - report: The pages of the measured store.
  ///   - measuredCount: Its number of nodes, at least 1.
  ///   - nodeCount: The number of nodes to estimate.
  ///   - changeLogByteCount: Bytes of the change log; `nil` for those of the measured store.
  init(
    _ report: PageReport, of measuredCount: Int, scaledTo nodeCount: Int,
    changeLogByteCount: Int? = nil
  ) {
    precondition(measuredCount > 0, "a store without nodes can't be scaled")
    self.nodeCount = nodeCount
    var parts: [Part] = []
    var fixed = Int(report.pages.meta) * report.pageSizeInBytes
    var changes = 0
    for table in report.tables {
      let size = Int(table.sizeInBytes)
      guard let name = table.name, !StoreEstimate.fixedTables.contains(name) else {
        if table.name == "changes" { changes = size } else { fixed += size }
        continue
      }
      if size > 0 {
        parts.append(Part(table: name, byteCountPerNode: Double(size) / Double(measuredCount)))
      }
    }
    self.parts = parts.sorted {
      ($0.byteCountPerNode, $1.table) > ($1.byteCountPerNode, $0.table)
    }
    fixedByteCount = Double(fixed)
    self.changeLogByteCount = changeLogByteCount ?? changes
  }

  /// Bytes for each node in all tables.
  var byteCountPerNode: Double { parts.reduce(0) { $0 + $1.byteCountPerNode } }

  /// Bytes of the pages in use.
  var byteCount: Int {
    Int((fixedByteCount + byteCountPerNode * Double(nodeCount)).rounded()) + changeLogByteCount
  }
}
