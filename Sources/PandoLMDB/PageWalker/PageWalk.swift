/// One walk over one version of a data file.
///
/// The walk is depth first. It needs memory for one page per level, two bits per page of the file,
/// and the bytes of a visited value. The file size bounds all of it, whatever the bytes are. Every
/// page is claimed before it is read, so a cycle ends at once.
///
/// `file` to `isProtected` are constant; `problems` to `pagesSeen` are the result so far; the rest
/// is scratch memory. At the end, a page in both `used` and `free` is a problem. One thread uses it.
final class PageWalk {
  /// The reason why a walk ends early.
  enum Stop: Error {
    /// The limit of problems is reached.
    case problemLimit
    /// Other commits may have reused pages of this version.
    case changed
  }

  let file: PageFile
  let meta: MetaRecord
  let fileSizeInBytes: UInt64
  let filePageCount: UInt64
  let pageSize: Int
  let problemLimit: Int
  /// Whether a read transaction of the caller keeps the pages of this version from being reused.
  let isProtected: Bool
  var progress: ((_ pagesSeen: Int, _ pageCount: Int) throws -> Void)?
  var visitor: ((Span<UInt8>, Span<UInt8>) throws -> Void)?

  var problems: [PageProblem] = []
  var stoppedEarly = false
  var used: PageBitmap
  var free: PageBitmap
  var freeListTree: PageTree
  /// The main table, then the named tables by name.
  var tables: [PageTree] = []
  /// Named tables found in the main table and not walked yet.
  var tablesToWalk: [PageTree] = []
  var pagesSeen: UInt64 = PageFormat.metaPageCount
  /// Scratch of ``checkNodes``: the node size at each even offset, all zero between calls.
  var nodeSizes: [UInt16]
  private var buffers: [PageBuffer] = []
  private var valueBuffer = PageBuffer(byteCount: 0)
  private var pagesUntilTick = PageWalk.pagesPerTick

  /// How many pages are walked between two checks of the meta pages and calls of `progress`.
  private static let pagesPerTick: UInt64 = 1024

  init(
    _ file: PageFile, meta: MetaRecord, fileSizeInBytes: UInt64, problemLimit: Int,
    isProtected: Bool
  ) {
    self.file = file
    self.meta = meta
    self.fileSizeInBytes = fileSizeInBytes
    self.problemLimit = problemLimit
    self.isProtected = isProtected
    pageSize = meta.pageSizeInBytes
    filePageCount = fileSizeInBytes / UInt64(pageSize)
    used = PageBitmap(limit: meta.lastPage + 1)
    free = PageBitmap(limit: meta.lastPage + 1)
    freeListTree = PageTree(freeListOf: meta)
    nodeSizes = [UInt16](repeating: 0, count: pageSize / 2)
  }

  /// Whether other commits may have reused pages of this version.
  ///
  /// The pages that version *n* uses are free from version *n* + 1 on. So transaction *n* + 3 is
  /// the first that may overwrite them, and it starts when *n* + 2 is on disk.
  var hasChanged: Bool {
    guard !isProtected else { return false }
    guard let metas = MetaPair.read(from: file) else { return true }
    guard metas.problem == nil else { return false }
    return metas.live.transactionID >= meta.transactionID + 2
  }

  /// Records a problem of a tree.
  func note(
    _ kind: PageProblem.Kind, page: UInt64?, in tree: inout PageTree, _ message: String
  ) throws {
    tree.isWhole = false
    try note(PageProblem(kind: kind, pageNumber: page, tree: tree.label, message: message))
  }

  /// Records a problem, and stops the walk at the limit.
  func note(_ problem: PageProblem) throws {
    problems.append(problem)
    if problems.count >= problemLimit {
      stoppedEarly = true
      throw Stop.problemLimit
    }
  }

  /// Counts walked pages; now and then reports progress and checks for other commits.
  func tick(_ pages: UInt64) throws {
    pagesSeen += pages
    guard pagesUntilTick <= pages else {
      pagesUntilTick -= pages
      return
    }
    pagesUntilTick = PageWalk.pagesPerTick
    // A damaged free list can contain a page twice; the number still stays below the end.
    try progress?(Int(min(pagesSeen, meta.lastPage)), Int(meta.lastPage) + 1)
    if hasChanged { throw Stop.changed }
  }

  /// The buffer of a level of the walk.
  func buffer(atLevel level: Int) -> PageBuffer {
    while buffers.count <= level { buffers.append(PageBuffer(byteCount: pageSize)) }
    return buffers[level]
  }

  /// A buffer of at least `byteCount` bytes, shared by all values.
  func valueBuffer(ofAtLeast byteCount: Int) -> PageBuffer {
    if valueBuffer.byteCount < byteCount {
      // Twice the last size, so that growing values do not each cost an allocation.
      let doubled = min(2 * valueBuffer.byteCount, Int(clamping: fileSizeInBytes))
      valueBuffer = PageBuffer(byteCount: max(byteCount, doubled))
    }
    return valueBuffer
  }
}

/// A set of page numbers, one bit each.
struct PageBitmap {
  private var words: [UInt64]
  /// The number of pages in the set.
  private(set) var count: UInt64 = 0

  /// Makes an empty set of numbers below a limit.
  init(limit: UInt64) {
    words = [UInt64](repeating: 0, count: Int(limit / 64) + 1)
  }

  func contains(_ page: UInt64) -> Bool {
    words[Int(page / 64)] & (1 << (page % 64)) != 0
  }

  /// Adds a page; returns whether it is new.
  mutating func insert(_ page: UInt64) -> Bool {
    let bit: UInt64 = 1 << (page % 64)
    guard words[Int(page / 64)] & bit == 0 else { return false }
    words[Int(page / 64)] |= bit
    count += 1
    return true
  }

  /// Calls `body` with each page that is in both sets, in order.
  func forEachPage(alsoIn other: PageBitmap, _ body: (UInt64) throws -> Void) rethrows {
    for index in words.indices {
      var both = words[index] & other.words[index]
      while both != 0 {
        try body(UInt64(index) * 64 + UInt64(both.trailingZeroBitCount))
        both &= both - 1
      }
    }
  }
}
