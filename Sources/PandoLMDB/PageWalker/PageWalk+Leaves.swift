extension PageWalk {
  /// Checks a leaf as a whole, then follows the contents of its nodes.
  func walkLeaf(_ position: PagePosition, _ buffer: PageBuffer, in tree: inout PageTree) throws {
    let page = Page(buffer.bytes)
    guard try checkNodes(page, position.page, isBranch: false, in: &tree),
      try checkKeys(page, position.page, from: 0, in: &tree),
      try checkBounds(page, position, first: 0, in: &tree)
    else { return }
    for index in 0..<page.nodeCount {
      let node = page[index]
      tree.contentByteCount += UInt64(node.keyByteCount)
      switch node.flags {
      case 0:
        try walkValue(node, buffer, position, in: &tree)
      case PageFormat.NodeFlags.overflow:
        try walkOverflow(node, buffer, position, in: &tree)
      case PageFormat.NodeFlags.tree where tree.kind == .main:
        try walkTableNode(node, buffer, position, in: &tree)
      default:
        try note(
          .node, page: position.page, in: &tree,
          "node \(index) has flags \(PageFormat.hex(node.flags)), which cannot be here")
      }
    }
  }

  /// Passes an entry to the visitor, if this tree is visited.
  func visit(_ key: Span<UInt8>, _ value: Span<UInt8>, in tree: PageTree) throws {
    guard tree.isVisited else { return }
    try visitor?(key, value)
  }

  /// Walks a value inside the leaf.
  private func walkValue(
    _ node: PageNode, _ buffer: PageBuffer, _ position: PagePosition, in tree: inout PageTree
  ) throws {
    let bytes = buffer.bytes
    let value = bytes.extracting(node.valueRange)
    tree.entries += 1
    tree.contentByteCount += UInt64(value.count)
    let key = bytes.extracting(node.keyRange)
    if tree.kind == .freeList {
      try readFreeRecord(key: key, pages: value, on: position.page, in: &tree)
    }
    try visit(key, value, in: tree)
  }

  /// Walks a value on pages of its own.
  private func walkOverflow(
    _ node: PageNode, _ buffer: PageBuffer, _ position: PagePosition, in tree: inout PageTree
  ) throws {
    let first: UInt64 = buffer.bytes.number(at: node.valueOffset)
    guard
      let count = try checkOverflow(
        first, valueByteCount: node.valueByteCount, parent: position.page, in: &tree)
    else { return }
    tree.overflowPages += count
    tree.entries += 1
    tree.contentByteCount += UInt64(node.valueByteCount)
    guard tree.isVisited || tree.kind == .freeList else { return }
    // The run lies within the file, so the buffer is no larger than the file.
    let byteCount = PageFormat.headerByteCount + node.valueByteCount
    let run = valueBuffer(ofAtLeast: byteCount)
    guard try read(first, byteCount: byteCount, into: run, in: &tree) else { return }
    let key = buffer.bytes.extracting(node.keyRange)
    let value = run.bytes.extracting(PageFormat.headerByteCount..<byteCount)
    if tree.kind == .freeList { try readFreeRecord(key: key, pages: value, on: first, in: &tree) }
    try visit(key, value, in: tree)
  }

  /// Claims an overflow run, and checks its header; returns its number of pages.
  ///
  /// A run may be longer than its value: a value that shrinks in its own transaction keeps its
  /// pages.
  private func checkOverflow(
    _ first: UInt64, valueByteCount: Int, parent: UInt64, in tree: inout PageTree
  ) throws -> UInt64? {
    // The first page comes first: its header determines whether the run may be read.
    guard try claim(first, parent: parent, in: &tree) else { return nil }
    let header = valueBuffer(ofAtLeast: PageFormat.headerByteCount)
    guard try read(first, byteCount: PageFormat.headerByteCount, into: header, in: &tree)
    else { return nil }
    let page = Page(header.bytes)
    guard try checkPageNumber(page, first, in: &tree) else { return nil }
    guard page.flags == PageFormat.Flags.overflow else {
      try note(
        .pageFlags, page: first, in: &tree,
        "has flags \(PageFormat.hex(page.flags)); an overflow page has 0x4")
      return nil
    }
    let count = UInt64(page.overflowPageCount)
    let needed = UInt64((PageFormat.headerByteCount - 1 + valueByteCount) / pageSize + 1)
    guard count >= needed else {
      try note(
        .overflow, page: first, in: &tree,
        "is a run of \(count) overflow pages; the value of \(valueByteCount) bytes takes \(needed)")
      return nil
    }
    guard
      try count == 1 || claim(run: count - 1, from: first + 1, parent: parent, in: &tree)
    else { return nil }
    return count
  }

  /// Reads the record of a named table in the main table.
  private func walkTableNode(
    _ node: PageNode, _ buffer: PageBuffer, _ position: PagePosition, in tree: inout PageTree
  ) throws {
    let page = Page(buffer.bytes)
    let name = (0..<node.keyByteCount).map { page.bytes[node.keyOffset + $0] }
    guard node.valueByteCount == PageFormat.treeRecordByteCount else {
      return try note(
        .tableRecord, page: position.page, in: &tree,
        "the record of a table has \(node.valueByteCount) bytes, not 48")
    }
    guard !name.contains(0) else {
      return try note(
        .tableRecord, page: position.page, in: &tree, "the name of a table holds a zero byte")
    }
    guard !tree.record.has(PageFormat.TableFlags.integerKey) else {
      return try note(
        .tableRecord, page: position.page, in: &tree,
        "holds a table, which its flags \(PageFormat.hex(tree.record.flags)) exclude")
    }
    tree.entries += 1
    tree.contentByteCount += UInt64(node.valueByteCount)
    tablesToWalk.append(PageTree(name: name, record: TreeRecord(page.bytes, at: node.valueOffset)))
    try visit(
      page.bytes.extracting(node.keyRange),
      page.bytes.extracting(node.valueRange), in: tree)
  }
}

extension PageWalk {
  /// Reads one record of the free list.
  ///
  /// The key is the number (8 bytes) of the transaction that freed the pages. The value is a list
  /// of 8-byte numbers: the count, then the page numbers in descending order. Unused room may
  /// follow: liblmdb reserves records before their length is final.
  func readFreeRecord(
    key: Span<UInt8>, pages: Span<UInt8>, on page: UInt64, in tree: inout PageTree
  ) throws {
    let transactionID: UInt64 = key.number(at: 0)
    guard (1...max(1, meta.transactionID)).contains(transactionID) else {
      return try note(
        .freeList, page: page, in: &tree,
        "a record is of transaction \(transactionID), the last is \(meta.transactionID)")
    }
    let words = pages.count / 8
    guard pages.count % 8 == 0, words >= 1 else {
      return try note(
        .freeList, page: page, in: &tree,
        "the record of transaction \(transactionID) has \(pages.count) bytes")
    }
    let count: UInt64 = pages.number(at: 0)
    guard count < UInt64(words) else {
      return try note(
        .freeList, page: page, in: &tree,
        "the record of transaction \(transactionID) lists \(count) pages in \(pages.count) bytes")
    }
    var last = UInt64.max
    for index in 0..<Int(count) {
      let number: UInt64 = pages.number(at: 8 * (index + 1))
      guard number < last else {
        return try note(
          .freeList, page: page, in: &tree,
          "the record of transaction \(transactionID) lists page \(number) after \(last)")
      }
      last = number
      guard number >= PageFormat.metaPageCount, number <= meta.lastPage else {
        return try note(
          .freeList, page: page, in: &tree,
          "the record of transaction \(transactionID) lists page \(number), "
            + "outside the pages 2 to \(meta.lastPage)")
      }
      if !free.insert(number) {
        try note(.freeList, page: page, in: &tree, "page \(number) is listed twice as free")
      }
    }
    try tick(count)
  }
}
