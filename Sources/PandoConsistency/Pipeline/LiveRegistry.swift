import PandoModels

/// Who holds which node: identifier → live trees, and back.
///
/// It holds no model, and forgets a node with the last tree that holds it. Trees ("rows") and nodes
/// ("entries") are numbered, and each keeps where it stands in the other's list, so that joining and
/// leaving cost the same however many trees share a node.
struct LiveRegistry {
  /// One node of a row: where the row stands in the node's list.
  struct Link {
    let entry: Int32
    var position: Int32
    /// Whether the row's tree holds the node.
    var isInTree: Bool
    /// Whether the row waits for the node.
    var isAwaited: Bool
  }

  struct Row {
    /// The number of its holder.
    let holder: UInt64
    let row: LiveRow
    let owner: (any LiveHolder)?
    var links: [Link] = []
    /// The last search that found this row.
    var mark: UInt64 = 0
    /// The last search whose update is in the row's tree.
    var resolved: UInt64 = 0
    /// In how many of its nodes' lists the row is among the settled.
    var settledCount: Int32 = 0
  }

  /// One row of a node: where the node stands in the row's list.
  struct Slot {
    let row: Int32
    var link: Int32
  }

  struct Entry {
    let identifier: ByteString
    /// The settled rows, and then the others.
    ///
    /// Settled rows hold the node with the same content: as the last update had it that carried the
    /// node. So one of them speaks for all when an update changes nothing.
    var slots: [Slot] = []
    var settledCount = 0
    /// The type by which live trees hold the node.
    let type: any SimpleModel.Type
    /// The others by which they do, since somebody last began to hold it; nearly always none.
    var otherTypes: [any SimpleModel.Type]?
    /// The last comparison of a row's nodes that met this entry.
    var mark: UInt64 = 0

    /// All types by which live trees hold the node, since somebody last began to hold it.
    var types: [any SimpleModel.Type] { [type] + (otherTypes ?? []) }

    /// Adds a type, if it is another one.
    mutating func add(_ newType: any SimpleModel.Type) {
      if type == newType { return }
      let others = otherTypes ?? []
      if !others.contains(where: { $0 == newType }) { otherTypes = others + [newType] }
    }
  }

  /// Stands where no entry is.
  private struct NoModel: SimpleModel, Equatable {
    var modelIdentifier: String? { nil }
  }

  struct Holder {
    let holder: any LiveHolder
    var rows = HolderRows()
  }

  var holders: [UInt64: Holder] = [:]
  var rows = NumberedTable(vacant: Row(holder: 0, row: 0, owner: nil))
  var entries = NumberedTable(vacant: Entry(identifier: ByteString(""), type: NoModel.self))
  var entryNumbers: [ByteString: Int32] = [:]
  var topics: [ByteString: Set<UInt64>] = [:]
  /// Where the nodes of the last update were, in its order; negative where there was none.
  var foundEntries: [Int32] = []
  private(set) var lastMark: UInt64 = 0

  mutating func makeMark() -> UInt64 {
    lastMark += 1
    return lastMark
  }

  mutating func add(_ holder: any LiveHolder) {
    if holders[holder.number] == nil { holders[holder.number] = Holder(holder: holder) }
  }

  /// Forgets a holder and all its rows.
  mutating func remove(holder: UInt64) {
    guard let removed = holders.removeValue(forKey: holder) else { return }
    removed.rows.forEach { removeRow($0) }
  }

  func rowNumber(_ holder: UInt64, _ row: LiveRow) -> Int32? { holders[holder]?.rows[row] }

  mutating func types(of identifier: ByteString) -> [any SimpleModel.Type] {
    entryNumbers[identifier].map { entries[$0].types } ?? []
  }
}
