extension PageWalk {
  /// Claims a page for a tree; returns whether that is possible.
  func claim(_ page: UInt64, parent: UInt64?, in tree: inout PageTree) throws -> Bool {
    try claim(run: 1, from: page, parent: parent, in: &tree)
  }

  /// Claims `count` consecutive pages for a tree; returns whether that is possible.
  func claim(
    run count: UInt64, from page: UInt64, parent: UInt64?, in tree: inout PageTree
  ) throws -> Bool {
    let by = parent.map { "page \($0)" } ?? "the tree's record"
    let (end, overflow) = page.addingReportingOverflow(count)
    guard page >= PageFormat.metaPageCount, !overflow, end <= meta.lastPage + 1 else {
      let what = count == 1 ? "is" : "starts a run of \(count) pages that is"
      try note(
        .pageNumber, page: page, in: &tree,
        "\(what) outside the pages 2 to \(meta.lastPage); \(by) refers to it")
      return false
    }
    guard end <= filePageCount else {
      try note(
        .fileSize, page: page, in: &tree,
        "is in use up to page \(end - 1), but the file ends after \(filePageCount) pages")
      return false
    }
    for claimed in page..<end where !used.insert(claimed) {
      try note(.sharedPage, page: claimed, in: &tree, "is used a second time, by \(by)")
      return false
    }
    try tick(count)
    return true
  }

  /// Reads the first bytes of a page; returns whether that was possible.
  func read(
    _ page: UInt64, byteCount: Int, into buffer: PageBuffer, in tree: inout PageTree
  ) throws -> Bool {
    switch file.read(byteCount, at: page * UInt64(pageSize), into: buffer) {
    case .whole: return true
    case .short:
      try note(.fileSize, page: page, in: &tree, "lies beyond the end of the file")
    case .failed(let error):
      try note(
        .unreadable, page: page, in: &tree,
        "cannot be read: \(LMDBError.Code(rawValue: error).explanation)")
    }
    return false
  }

  /// Starts to read the children of a branch page in the background, adjacent ones together.
  func announceChildren(of page: borrowing Page) {
    var run: Range<UInt64> = 0..<0
    for index in 0..<page.nodeCount {
      let child = page[index].child
      guard child < filePageCount else { continue }
      if child == run.upperBound, !run.isEmpty {
        run = run.lowerBound..<child + 1
      } else {
        announce(run)
        run = child..<child + 1
      }
    }
    announce(run)
  }

  private func announce(_ run: Range<UInt64>) {
    guard !run.isEmpty else { return }
    let size = UInt64(pageSize)
    file.announce((run.upperBound - run.lowerBound) * size, at: run.lowerBound * size)
  }

  /// Checks that a page contains its own number.
  func checkPageNumber(
    _ page: borrowing Page, _ number: UInt64, in tree: inout PageTree
  ) throws -> Bool {
    guard page.number != number else { return true }
    try note(.pageNumber, page: number, in: &tree, "says it is page \(page.number)")
    return false
  }

  /// Checks that used and free pages do not overlap.
  func checkAccounts() throws {
    try used.forEachPage(alsoIn: free) { page in
      try note(
        PageProblem(
          kind: .sharedPage, pageNumber: page, tree: nil, message: "is in use and in the free list")
      )
    }
  }
}

extension PageWalk {
  /// Checks that the nodes of a page lie inside it, side by side.
  ///
  /// liblmdb packs the nodes: they fill the page from the upper end of the free space to its last
  /// byte. So each offset is even and leads to a node, and the sizes add up.
  ///
  /// - Parameters:
  ///   - page: A branch page or a leaf.
  ///   - number: The page's number, for messages.
  ///   - isBranch: Whether the nodes are those of a branch page.
  ///   - tree: The tree to which the page belongs.
  /// - Returns: Whether every node may be read.
  /// - Throws: ``Stop`` at the limit of problems.
  func checkNodes(
    _ page: borrowing Page, _ number: UInt64, isBranch: Bool, in tree: inout PageTree
  ) throws -> Bool {
    let size = page.bytes.count
    let (lower, upper) = (page.lower, page.upper)
    guard lower >= PageFormat.headerByteCount, lower & 1 == 0, lower <= upper, upper <= size,
      upper & 1 == size & 1
    else {
      try note(
        .pageBounds, page: number, in: &tree,
        "its free space is from byte \(lower) to \(upper) of \(size)")
      return false
    }
    guard page.nodeCount > 0 else {
      try note(.pageBounds, page: number, in: &tree, "has no nodes")
      return false
    }
    if let fault = faultInNodes(page, isBranch: isBranch) {
      try note(.node, page: number, in: &tree, fault)
      return false
    }
    return true
  }

  private func faultInNodes(_ page: borrowing Page, isBranch: Bool) -> String? {
    let size = page.bytes.count
    let upper = page.upper
    for index in 0..<page.nodeCount {
      let offset = page.nodeOffset(index)
      guard offset >= upper, offset & 1 == upper & 1, let node = page.nodeHeader(at: offset) else {
        clearNodeSizes(page, before: index)
        return "node \(index) starts at byte \(offset), nodes lie from \(upper) to \(size)"
      }
      let byteCount = isBranch ? node.branchByteCount : node.leafByteCount
      guard byteCount <= size - offset else {
        clearNodeSizes(page, before: index)
        return "node \(index) at byte \(offset) takes \(byteCount) bytes and ends outside the page"
      }
      guard nodeSizes[offset / 2] == 0 else {
        clearNodeSizes(page, before: index)
        return "node \(index) lies over another one at byte \(offset)"
      }
      nodeSizes[offset / 2] = UInt16(byteCount)
    }
    var position = upper
    var seen = 0
    while position < size, nodeSizes[position / 2] != 0 {
      position += Int(nodeSizes[position / 2])
      seen += 1
    }
    clearNodeSizes(page, before: page.nodeCount)
    guard position == size, seen == page.nodeCount else {
      return "nodes overlap or leave a gap at byte \(position)"
    }
    return nil
  }

  private func clearNodeSizes(_ page: borrowing Page, before count: Int) {
    for index in 0..<count { nodeSizes[page.nodeOffset(index) / 2] = 0 }
  }

  /// Checks the sizes of a page's keys and that they ascend.
  func checkKeys(
    _ page: borrowing Page, _ number: UInt64, from first: Int, in tree: inout PageTree
  ) throws -> Bool {
    for index in first..<page.nodeCount {
      let node = page[index]
      guard try checkKeySize(node.keyByteCount, key: index, number, in: &tree) else { return false }
      guard index > first else { continue }
      let last = page[index - 1]
      let order = tree.order.compare(
        page.bytes.extracting(last.keyRange), page.bytes.extracting(node.keyRange))
      guard order < 0 else {
        try noteOrder(key: index, isEqual: order == 0, number, in: &tree)
        return false
      }
    }
    return true
  }

  /// Checks the size of one key.
  func checkKeySize(
    _ byteCount: Int, key index: Int, _ number: UInt64, in tree: inout PageTree
  ) throws -> Bool {
    guard tree.keyByteCounts.contains(byteCount) else {
      try note(
        .keySize, page: number, in: &tree,
        "key \(index) has \(byteCount) bytes; \(tree.keyByteCounts.lowerBound) to "
          + "\(tree.keyByteCounts.upperBound) can be")
      return false
    }
    guard tree.order == .integer else { return true }
    let expected = tree.integerByteCount ?? byteCount
    guard byteCount == expected, byteCount == 4 || byteCount == 8 else {
      try note(
        .keySize, page: number, in: &tree,
        "key \(index) has \(byteCount) bytes; integer keys all have 4 or all have 8")
      return false
    }
    tree.integerByteCount = expected
    return true
  }

  /// Records that a key does not sort after the previous one.
  func noteOrder(key index: Int, isEqual: Bool, _ number: UInt64, in tree: inout PageTree) throws {
    let relation = isEqual ? "equals" : "sorts before"
    try note(.keyOrder, page: number, in: &tree, "key \(index) \(relation) key \(index - 1)")
  }

  /// Checks that a page's ascending keys are in the range of its parents.
  func checkBounds(
    _ page: borrowing Page, _ position: PagePosition, first: Int, in tree: inout PageTree
  ) throws -> Bool {
    guard first < page.nodeCount else { return true }
    let last = page.bytes.extracting(page[page.nodeCount - 1].keyRange)
    let first = page.bytes.extracting(page[first].keyRange)
    if let lower = position.bounds.lower,
      tree.order.compare(first, lower.buffer.bytes.extracting(lower.range)) < 0
    {
      try note(
        .keyRange, page: position.page, in: &tree,
        "its first key sorts before the key that leads to it")
      return false
    }
    if let upper = position.bounds.upper,
      tree.order.compare(last, upper.buffer.bytes.extracting(upper.range)) >= 0
    {
      try note(
        .keyRange, page: position.page, in: &tree,
        "its last key does not sort before the key that leads to the next page")
      return false
    }
    return true
  }
}
