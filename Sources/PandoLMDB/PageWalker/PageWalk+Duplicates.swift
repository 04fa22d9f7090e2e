extension PageWalk {
  /// Several values under one key, on a small page inside the node.
  ///
  /// The small page has a header and nodes like any leaf; the nodes' keys are the values. With
  /// values of one size it has no nodes: the values follow the header.
  func walkSubPage(
    _ node: PageNode, _ buffer: PageBuffer, _ place: PagePosition, in tree: inout PageTree
  ) throws {
    let end = node.valueOffset + node.valueByteCount
    let bytes = buffer.bytes.extracting(node.valueOffset..<end)
    guard bytes.count >= PageFormat.headerByteCount else {
      return try note(
        .node, page: place.page, in: &tree, "a page of duplicates has \(bytes.count) bytes")
    }
    let page = PageBytes(bytes)
    var flags = PageFormat.Flags.leaf | PageFormat.Flags.subPage
    if tree.hasFixedSizeDuplicates { flags |= PageFormat.Flags.fixedSize }
    guard page.flags & ~PageFormat.Flags.dirty == flags else {
      return try note(
        .pageFlags, page: place.page, in: &tree,
        "a page of duplicates has flags \(PageFormat.hex(page.flags)), not \(PageFormat.hex(flags))"
      )
    }
    var values = PageTree(
      duplicatesOf: tree, record: TreeRecord(itemByteCount: page.itemByteCount))
    defer { tree.add(duplicates: values) }
    if tree.hasFixedSizeDuplicates {
      guard try checkItems(page, place.page, in: &values) else { return }
    } else {
      guard try checkNodes(page, place.page, isBranch: false, in: &values),
        try checkKeys(page, place.page, from: 0, in: &values)
      else { return }
    }
    let key = buffer.bytes.extracting(node.keyRange)
    for index in 0..<page.nodeCount {
      let range = tree.hasFixedSizeDuplicates ? page.itemRange(index) : page.node(index).keyRange
      let value = page.bytes.extracting(range)
      values.entries += 1
      values.contentByteCount += UInt64(value.count)
      try visit(key, value, in: tree)
    }
  }

  /// Several values under one key, in a tree of their own.
  func walkDuplicates(
    _ node: PageNode, _ buffer: PageBuffer, _ place: PagePosition, in tree: inout PageTree
  ) throws {
    guard node.valueByteCount == PageFormat.treeRecordByteCount else {
      return try note(
        .tableRecord, page: place.page, in: &tree,
        "the record of a tree of duplicates has \(node.valueByteCount) bytes, not 48")
    }
    let record = TreeRecord(PageBytes(buffer.bytes), at: node.valueOffset)
    var values = PageTree(duplicatesOf: tree, record: record)
    guard values.hasFixedSizeDuplicates == tree.hasFixedSizeDuplicates else {
      return try note(
        .tableRecord, page: place.page, in: &tree,
        "the record of a tree of duplicates has flags \(PageFormat.hex(record.flags)), "
          + "which the table's flags \(PageFormat.hex(tree.record.flags)) exclude")
    }
    values.isVisited = tree.isVisited
    defer { tree.add(duplicates: values) }
    let body = visitor
    if tree.isVisited, let body {
      // Below, an entry's key is a value; the visitor wants the table's key before it.
      visitor = { value, _ in try body(buffer.bytes.extracting(node.keyRange), value) }
    }
    defer { visitor = body }
    try walk(&values, bufferLevel: place.bufferLevel + 1)
  }

  /// A leaf of duplicates of one size, without nodes.
  func walkFixedSizeLeaf(
    _ place: PagePosition, _ page: borrowing PageBytes, in tree: inout PageTree
  ) throws {
    guard try checkItems(page, place.page, in: &tree),
      try checkBounds(
        first: page.bytes.extracting(page.itemRange(0)),
        last: page.bytes.extracting(page.itemRange(page.nodeCount - 1)), place, in: &tree)
    else { return }
    for index in 0..<page.nodeCount {
      let value = page.bytes.extracting(page.itemRange(index))
      tree.entries += 1
      tree.contentByteCount += UInt64(value.count)
      try visit(value, value, in: tree)
    }
  }

  private func checkItems(
    _ page: borrowing PageBytes, _ number: UInt64, in tree: inout PageTree
  ) throws -> Bool {
    let size = page.bytes.count
    let itemSize = page.itemByteCount
    guard page.lower > PageFormat.headerByteCount, page.lower & 1 == 0,
      page.nodeCount * itemSize <= size - PageFormat.headerByteCount
    else {
      try note(
        .pageBounds, page: number, in: &tree,
        "says it has \(page.nodeCount) duplicates of \(itemSize) bytes")
      return false
    }
    guard itemSize == Int(tree.record.pad), itemSize > 0 else {
      try note(
        .keySize, page: number, in: &tree,
        "says its duplicates have \(itemSize) bytes, the tree's record says \(tree.record.pad)")
      return false
    }
    for index in 0..<page.nodeCount {
      guard try checkKeySize(itemSize, key: index, number, in: &tree) else { return false }
      guard index > 0 else { continue }
      let order = tree.order.compare(
        page.bytes.extracting(page.itemRange(index - 1)),
        page.bytes.extracting(page.itemRange(index)))
      guard order < 0 else {
        try noteOrder(key: index, isEqual: order == 0, number, in: &tree)
        return false
      }
    }
    return true
  }
}

extension PageBytes {
  /// The byte range of an item of one size.
  func itemRange(_ index: Int) -> Range<Int> {
    let start = PageFormat.headerByteCount + index * itemByteCount
    return start..<start + itemByteCount
  }
}

extension TreeRecord {
  /// What liblmdb assumes of a small page inside a leaf node: a tree of one leaf.
  init(itemByteCount: Int) {
    pad = UInt32(itemByteCount)
    flags = 0
    (depth, branchPages, leafPages, overflowPages) = (1, 0, 1, 0)
    (entries, root) = (0, PageFormat.noPage)
  }
}
