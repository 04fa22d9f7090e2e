/// What a walk over all pages of a data file has found.
///
/// ```swift
/// let report = try PageWalker(path: "people.db").check()
/// print(report.isClean ? "sound" : "\(report.problems.count) problems")
/// for table in report.tables { print(table.name ?? "main", table.entries) }
/// ```
public struct PageReport: Hashable, Sendable {
  /// How many pages there are of each sort.
  ///
  /// ```swift
  /// let pages = try PageWalker(path: "people.db").check().pages
  /// print(pages.leaf + pages.branch + pages.overflow, "pages are used,", pages.free, "are free")
  /// ```
  public struct PageCounts: Hashable, Sendable {
    /// The two pages a file starts with; 0 if they could not be read.
    public internal(set) var meta: UInt64 = 0
    /// Inner pages of all trees, the free list's among them.
    public internal(set) var branch: UInt64 = 0
    /// Leaves of all trees.
    public internal(set) var leaf: UInt64 = 0
    /// Pages of values too large for a leaf.
    public internal(set) var overflow: UInt64 = 0
    /// Pages in the free list.
    public internal(set) var free: UInt64 = 0
    /// Pages up to the last that are neither in use nor free, or `nil` if a problem makes that
    /// unknown.
    ///
    /// They take room as long as the file is used, and it can't be copied with compaction; they do
    /// no other harm. liblmdb means to have none; a table lost by damage to its record shows here.
    public internal(set) var lost: UInt64?
  }

  /// What one table holds.
  ///
  /// ```swift
  /// for table in try PageWalker(path: "people.db").check().tables {
  ///   print(table.name ?? "main", table.entries, "entries in", table.sizeInBytes, "bytes")
  /// }
  /// ```
  public struct Table: Hashable, Sendable {
    /// The name, or `nil` for the main table, which also holds the records of the others.
    public internal(set) var name: String?
    /// How many entries.
    public internal(set) var entries: UInt64
    /// Levels from the root to the leaves; 0 for an empty table.
    public internal(set) var depth: Int
    /// Inner pages.
    public internal(set) var branchPages: UInt64
    /// Leaves.
    public internal(set) var leafPages: UInt64
    /// Pages of values too large for a leaf.
    public internal(set) var overflowPages: UInt64
    /// Bytes of all pages of the table.
    public internal(set) var sizeInBytes: UInt64
    /// Bytes of all keys and values.
    public internal(set) var contentSizeInBytes: UInt64
    /// Whether the whole table was walked without a problem; if not, the numbers are what was
    /// reached.
    public internal(set) var isWhole: Bool
  }

  /// The size of a page, or 0 if the meta pages could not be read.
  public internal(set) var pageSizeInBytes = 0
  /// The size of the file when the walk began.
  public internal(set) var fileSizeInBytes: UInt64 = 0
  /// The size of the map which the file asks for.
  public internal(set) var mapSizeInBytes: UInt64 = 0
  /// The version that was walked.
  public internal(set) var transactionID: UInt64 = 0
  /// The last page number that version uses or has free.
  public internal(set) var lastPage: UInt64 = 0
  /// Pages by sort.
  public internal(set) var pages = PageCounts()
  /// Records in the free list, one or more for each transaction that freed pages.
  public internal(set) var freeListEntries: UInt64 = 0
  /// The main table, then the named tables by name.
  public internal(set) var tables: [PageReport.Table] = []
  /// What is wrong, in the order it was found.
  public internal(set) var problems: [PageProblem] = []
  /// Whether the walk ended at the limit of problems, so that there may be more.
  public internal(set) var stoppedEarly = false

  /// Whether nothing is wrong.
  public var isClean: Bool { problems.isEmpty }
}

extension PageReport {
  /// A report of a file whose meta pages do not let it be walked.
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
      // Without a problem the used and the free pages are apart and none is above the last.
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
