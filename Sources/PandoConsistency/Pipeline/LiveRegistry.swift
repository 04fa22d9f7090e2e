import PandoModels

/// The index of live trees: from identifiers to trees, and from trees to identifiers.
///
/// It contains no models, and removes a node with the last tree that contains it. Trees ("rows")
/// and nodes ("entries") have numbers. Each records its position in the other's list. So insertion
/// and removal cost the same for any number of trees that share a node. A row is *settled* on a node
/// if its tree has the content of the last update that set the node.
struct LiveRegistry {
  /// One node of a row, with the row's position in the node's list.
  struct Link {
    let entry: Int32
    var position: Int32
    /// True if the row's tree contains the node.
    var isInTree: Bool
    /// True if the row waits until the node exists.
    var isAwaited: Bool
  }

  struct Row {
    /// The number of the row's holder.
    let holder: UInt64
    let row: LiveRow
    let owner: (any LiveHolder)?
    var links: [Link] = []
    /// The mark of the last search that found this row.
    var mark: UInt64 = 0
    /// The mark of the last search whose update the row's tree contains.
    var resolved: UInt64 = 0
    /// The count of the row's nodes on which it is settled.
    var settledCount: Int32 = 0
  }

  /// One row of a node, with the node's position in the row's list.
  struct Slot {
    let row: Int32
    var link: Int32
  }

  struct Entry {
    let identifier: ByteString
    /// The settled rows, followed by the others.
    ///
    /// Settled rows have the same content of the node. So an update is compared with one of them.
    var slots: [Slot] = []
    var settledCount = 0
    /// The type in which live trees contain the node.
    let type: any SimpleModel.Type
    /// Further types in which trees have contained the node since its entry was made; rarely any.
    var otherTypes: [any SimpleModel.Type]?
    /// The mark of the last comparison that found this entry.
    var mark: UInt64 = 0

    /// All types in which trees have contained the node since its entry was made.
    var types: [any SimpleModel.Type] { [type] + (otherTypes ?? []) }

    /// Adds a type, unless it is there.
    mutating func add(_ newType: any SimpleModel.Type) {
      if type == newType { return }
      let others = otherTypes ?? []
      if !others.contains(where: { $0 == newType }) { otherTypes = others + [newType] }
    }
  }

  /// The type of a vacant entry.
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
  /// The entries of the last update's nodes, in its order; negative if there was none.
  var foundEntries: [Int32] = []
  private(set) var lastMark: UInt64 = 0

  mutating func makeMark() -> UInt64 {
    lastMark += 1
    return lastMark
  }

  mutating func add(_ holder: any LiveHolder) {
    if holders[holder.number] == nil { holders[holder.number] = Holder(holder: holder) }
  }

  /// Removes a holder and all its rows.
  mutating func remove(holder: UInt64) {
    guard let removed = holders.removeValue(forKey: holder) else { return }
    removed.rows.forEach { removeRow($0) }
  }

  func rowNumber(_ holder: UInt64, _ row: LiveRow) -> Int32? { holders[holder]?.rows[row] }

  mutating func types(of identifier: ByteString) -> [any SimpleModel.Type] {
    entryNumbers[identifier].map { entries[$0].types } ?? []
  }
}
