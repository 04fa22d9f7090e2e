extension PageWalk {
  /// Marks a page as used by a tree; says whether that is possible.
  func claim(_ page: UInt64, parent: UInt64?, in tree: inout PageTree) throws -> Bool {
    try claim(run: 1, from: page, parent: parent, in: &tree)
  }

  /// Marks `count` pages in a row as used by a tree; says whether that is possible.
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

  /// Reads the first bytes of a page; says whether that was possible.
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
        "cannot be read: \(PageWalkError.message(ofSystemError: error))")
    }
    return false
  }

  /// Asks the system for the children of a branch page, neighbours together.
  func announceChildren(of page: borrowing PageBytes) {
    var run: Range<UInt64> = 0..<0
    for index in 0..<page.nodeCount {
      let child = page.node(index).child
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

  /// Checks that a page knows its own number.
  func checkPageNumber(
    _ page: borrowing PageBytes, _ number: UInt64, in tree: inout PageTree
  ) throws -> Bool {
    guard page.pageNumber != number else { return true }
    try note(.pageNumber, page: number, in: &tree, "says it is page \(page.pageNumber)")
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
