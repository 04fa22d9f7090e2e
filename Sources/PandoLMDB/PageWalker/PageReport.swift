/// The result of a walk over all pages of a data file.
///
/// ```swift
/// let report = try PageWalker(path: "people.db").check()
/// print(report.isClean ? "sound" : "\(report.problems.count) problems")
/// for table in report.tables { print(table.name ?? "main", table.entries) }
/// ```
package struct PageReport: Hashable, Sendable {
  /// The number of pages of each type.
  ///
  /// ```swift
  /// let pages = try PageWalker(path: "people.db").check().pages
  /// print(pages.leaf + pages.branch + pages.overflow, "pages are used,", pages.free, "are free")
  /// ```
  package struct PageCounts: Hashable, Sendable {
    /// The two pages at the start of a file; 0 if they could not be read.
    package internal(set) var meta: UInt64 = 0
    /// Inner pages of all trees, including the free list's.
    package internal(set) var branch: UInt64 = 0
    /// Leaves of all trees.
    package internal(set) var leaf: UInt64 = 0
    /// Pages of values too large for a leaf.
    package internal(set) var overflow: UInt64 = 0
    /// Pages in the free list.
    package internal(set) var free: UInt64 = 0
    /// Pages up to the last that are neither in use nor free; `nil` if a problem makes that
    /// unknown.
    ///
    /// Lost pages only take room, but prevent a copy with compaction. liblmdb should leave none; a
    /// table lost by a damaged record shows here.
    package internal(set) var lost: UInt64?
  }

  /// The contents of one table.
  ///
  /// ```swift
  /// for table in try PageWalker(path: "people.db").check().tables {
  ///   print(table.name ?? "main", table.entries, "entries in", table.sizeInBytes, "bytes")
  /// }
  /// ```
  package struct Table: Hashable, Sendable {
    /// The name; `nil` for the main table, which also holds the records of the others.
    package internal(set) var name: String?
    /// The number of entries.
    package internal(set) var entries: UInt64
    /// Levels from the root to the leaves; 0 for an empty table.
    package internal(set) var depth: Int
    /// Inner pages.
    package internal(set) var branchPages: UInt64
    /// Leaves.
    package internal(set) var leafPages: UInt64
    /// Pages of values too large for a leaf.
    package internal(set) var overflowPages: UInt64
    /// Bytes of all pages of the table.
    package internal(set) var sizeInBytes: UInt64
    /// Bytes of all keys and values.
    package internal(set) var contentSizeInBytes: UInt64
    /// Whether the walk covered the whole table without a problem; else the numbers count the part
    /// that was reached.
    package internal(set) var isWhole: Bool
  }

  /// The size of a page; 0 if the meta pages could not be read.
  package internal(set) var pageSizeInBytes = 0
  /// The size of the file when the walk began.
  package internal(set) var fileSizeInBytes: UInt64 = 0
  /// The map size in the file.
  package internal(set) var mapSizeInBytes: UInt64 = 0
  /// The version that was walked.
  package internal(set) var transactionID: UInt64 = 0
  /// The last page that the version uses or has free.
  package internal(set) var lastPage: UInt64 = 0
  /// The pages by type.
  package internal(set) var pages = PageCounts()
  /// Records in the free list, one or more for each transaction that freed pages.
  package internal(set) var freeListEntries: UInt64 = 0
  /// The main table, then the named tables by name.
  package internal(set) var tables: [PageReport.Table] = []
  /// The problems, in the order in which they were found.
  package internal(set) var problems: [PageProblem] = []
  /// Whether the walk ended at the limit of problems, so that more may exist.
  package internal(set) var stoppedEarly = false

  /// Whether the walk found no problem.
  package var isClean: Bool { problems.isEmpty }
}

extension PageReport {
  /// A report of a file whose meta pages prevent a walk.
  init(_ problem: PageProblem, fileSizeInBytes: UInt64) {
    self.fileSizeInBytes = fileSizeInBytes
    problems = [problem]
    stoppedEarly = true
  }

  init(_ walk: PageWalk) {
    pageSizeInBytes = walk.pageSize
    fileSizeInBytes = walk.fileSizeInBytes
    mapSizeInBytes = walk.meta.mapSizeInBytes
    transactionID = walk.meta.transactionID
    lastPage = walk.meta.lastPage
    freeListEntries = walk.freeListTree.entries
    tables = walk.tables.map { PageReport.Table($0, pageSize: walk.pageSize) }
    problems = walk.problems
    stoppedEarly = walk.stoppedEarly
    pages.meta = PageFormat.metaPageCount
    for tree in [walk.freeListTree] + walk.tables {
      pages.branch += tree.branchPages
      pages.leaf += tree.leafPages
      pages.overflow += tree.overflowPages
    }
    pages.free = walk.free.count
    if problems.isEmpty {
      // Without a problem, used and free pages are disjoint and none is above the last.
      pages.lost = lastPage + 1 - PageFormat.metaPageCount - walk.used.count - walk.free.count
    }
  }
}

extension PageReport.Table {
  init(_ tree: PageTree, pageSize: Int) {
    name = tree.name.map { String(decoding: $0, as: UTF8.self) }
    entries = tree.entries
    depth = Int(tree.record.depth)
    branchPages = tree.branchPages
    leafPages = tree.leafPages
    overflowPages = tree.overflowPages
    sizeInBytes = (tree.branchPages + tree.leafPages + tree.overflowPages) * UInt64(pageSize)
    contentSizeInBytes = tree.contentByteCount
    isWhole = tree.isWhole
  }
}
