extension PageWalk {
  /// Walks every tree, then accounts for every page.
  func run() throws {
    try walk(&freeListTree)
    var main = PageTree(mainOf: meta)
    try walkTable(&main)
    // Removed first: otherwise a damaged file could extend this list during the walk.
    let found = tablesToWalk
    tablesToWalk = []
    for var table in found { try walkTable(&table) }
    try checkAccounts()
    try progress?(Int(meta.lastPage) + 1, Int(meta.lastPage) + 1)
  }

  /// Walks a table and keeps it for the report, even if the walk stops inside it.
  func walkTable(_ table: inout PageTree) throws {
    defer { tables.append(table) }
    try walk(&table)
  }

  /// Walks one tree and compares it with its record.
  func walk(_ tree: inout PageTree) throws {
    guard try checkRecord(&tree), tree.record.root != PageFormat.noPage else { return }
    let root = PagePosition(
      page: tree.record.root, parent: nil, level: 1, bounds: PagePosition.Bounds())
    try walkPage(root, in: &tree)
    guard tree.isWhole else { return }
    let counts: [(String, UInt64, UInt64)] = [
      ("entries", tree.entries, tree.record.entries),
      ("branch pages", tree.branchPages, tree.record.branchPages),
      ("leaf pages", tree.leafPages, tree.record.leafPages),
      ("overflow pages", tree.overflowPages, tree.record.overflowPages),
    ]
    for (what, found, recorded) in counts where found != recorded {
      try note(.count, page: nil, in: &tree, "holds \(found) \(what), its record says \(recorded)")
    }
  }

  private func checkRecord(_ tree: inout PageTree) throws -> Bool {
    let record = tree.record
    guard tree.kind == .freeList || !record.has(PageFormat.TableFlags.duplicates) else {
      try note(
        .unsupportedTable, page: nil, in: &tree,
        "allows several values under one key (MDB_DUPSORT); such tables can't be read")
      return false
    }
    let known =
      tree.kind == .freeList
      ? PageFormat.TableFlags.knownOfFreeList : PageFormat.TableFlags.known
    if record.flags & ~known != 0 {
      try note(
        .tableRecord, page: nil, in: &tree, "its record has flags \(PageFormat.hex(record.flags))")
      return false
    }
    if tree.kind == .freeList, !record.has(PageFormat.TableFlags.integerKey) {
      try note(
        .tableRecord, page: nil, in: &tree, "its record does not say that keys are integers")
      return false
    }
    if record.root == PageFormat.noPage {
      let (pages, overflow) = record.branchPages.addingReportingOverflow(record.leafPages)
      if record.depth == 0, record.entries == 0, record.overflowPages == 0, pages == 0, !overflow {
        return true
      }
      try note(.tableRecord, page: nil, in: &tree, "its record has no root but is not empty")
      return false
    }
    if !(1...PageFormat.depthMax).contains(Int(record.depth)) {
      try note(
        .tableRecord, page: nil, in: &tree,
        "its record gives a depth of \(record.depth); 1 to \(PageFormat.depthMax) can be")
      return false
    }
    return true
  }

  /// Walks a page and its descendants.
  func walkPage(_ position: PagePosition, in tree: inout PageTree) throws {
    guard try claim(position.page, parent: position.parent, in: &tree) else { return }
    let buffer = buffer(atLevel: position.level)
    guard try read(position.page, byteCount: pageSize, into: buffer, in: &tree) else { return }
    let page = Page(buffer.bytes)
    guard try checkPageNumber(page, position.page, in: &tree) else { return }
    let isLast = position.level == Int(tree.record.depth)
    switch page.flags {
    case PageFormat.Flags.branch:
      tree.branchPages += 1
      guard !isLast else {
        return try noteDepth("a branch page", position, in: &tree)
      }
      try walkBranch(position, buffer, in: &tree)
    case PageFormat.Flags.leaf:
      tree.leafPages += 1
      guard isLast else { return try noteDepth("a leaf", position, in: &tree) }
      try walkLeaf(position, buffer, in: &tree)
    default:
      try note(
        .pageFlags, page: position.page, in: &tree,
        "has flags \(PageFormat.hex(page.flags)); a branch page has 0x1, a leaf 0x2")
    }
  }

  private func noteDepth(
    _ what: String, _ position: PagePosition, in tree: inout PageTree
  ) throws {
    try note(
      .depth, page: position.page, in: &tree,
      "is \(what) at level \(position.level) of a tree whose leaves are at \(tree.record.depth)")
  }

  private func walkBranch(
    _ position: PagePosition, _ buffer: PageBuffer, in tree: inout PageTree
  ) throws {
    let page = Page(buffer.bytes)
    guard try checkNodes(page, position.page, isBranch: true, in: &tree) else { return }
    let count = page.nodeCount
    // liblmdb aborts on a branch page with one child, except in the free list, which may have one
    // while it shrinks.
    guard count >= (tree.kind == .freeList ? 1 : 2) else {
      return try note(
        .pageBounds, page: position.page, in: &tree, "is a branch page with \(count) children")
    }
    // The first key is unused: the parent's key replaces it.
    guard try checkKeys(page, position.page, from: 1, in: &tree),
      try checkBounds(page, position, first: 1, in: &tree)
    else { return }
    announceChildren(of: page)
    for index in 0..<count {
      let node = page[index]
      var bounds = position.bounds
      if index > 0 { bounds.lower = PagePosition.Key(buffer: buffer, range: node.keyRange) }
      if index + 1 < count {
        bounds.upper = PagePosition.Key(buffer: buffer, range: page[index + 1].keyRange)
      }
      let child = PagePosition(
        page: node.child, parent: position.page, level: position.level + 1, bounds: bounds)
      try walkPage(child, in: &tree)
    }
  }
}

/// A page's position in its tree.
struct PagePosition {
  /// The location of a key in a parent page.
  struct Key {
    let buffer: PageBuffer
    let range: Range<Int>
  }

  /// The key range that the parents give a page; `nil` is unbounded.
  struct Bounds {
    var lower: Key?
    var upper: Key?
  }

  let page: UInt64
  /// The page that refers to this one; `nil` for the root.
  let parent: UInt64?
  /// 1 for the root.
  let level: Int
  let bounds: Bounds
}
