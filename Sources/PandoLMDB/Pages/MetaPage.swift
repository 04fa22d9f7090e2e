/// One of the two pages at the start of a file: the roots of one committed version.
///
/// Transaction *n* writes page *n* mod 2 and leaves the other, so the newest version and the
/// previous one always exist. After the page header of ``PageFormat``:
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 16 | 4 | `0xBEEFC0DE` |
/// | 20 | 4 | version of the format: 1 |
/// | 24 | 8 | address of a fixed map; not used otherwise |
/// | 32 | 8 | size of the map in bytes |
/// | 40 | 48 | record of the free list's tree; its first field holds the page size |
/// | 88 | 48 | record of the main table's tree |
/// | 136 | 8 | last page number in use; the file may be shorter if the last pages are free |
/// | 144 | 8 | transaction id: 0 in a new file |
struct MetaRecord: Equatable {
  /// The position of the page: 0 or 1.
  let index: Int
  let headerPageNumber: UInt64
  let headerFlags: UInt16
  let magic: UInt32
  let version: UInt32
  let mapSizeInBytes: UInt64
  let freeList: TreeRecord
  let main: TreeRecord
  let lastPage: UInt64
  let transactionID: UInt64

  var pageSizeInBytes: Int { Int(freeList.pad) }

  /// Decodes 152 bytes.
  init(index: Int, _ page: borrowing Page) {
    self.index = index
    headerPageNumber = page.number
    headerFlags = page.flags
    magic = page.number(at: 16)
    version = page.number(at: 20)
    mapSizeInBytes = page.number(at: 32)
    freeList = TreeRecord(page.bytes, at: 40)
    main = TreeRecord(page.bytes, at: 88)
    lastPage = page.number(at: 136)
    transactionID = page.number(at: 144)
  }

  /// The defect of this page by itself, if any; LMDB would refuse such a file, or misread it.
  var problem: PageProblem? {
    guard headerFlags == PageFormat.Flags.meta else {
      return problem("has flags \(PageFormat.hex(headerFlags)), a meta page has 0x8")
    }
    guard magic == PageFormat.magic else {
      return problem("has magic number \(PageFormat.hex(magic)), an LMDB file has 0xbeefc0de")
    }
    guard version == PageFormat.version else {
      return problem("is of format version \(version), this is written for 1")
    }
    guard headerPageNumber == UInt64(index) else {
      return problem("says it is page \(headerPageNumber)")
    }
    guard PageFormat.pageSizes.contains(pageSizeInBytes), freeList.pad.nonzeroBitCount == 1 else {
      return problem("gives a page size of \(freeList.pad) bytes")
    }
    guard transactionID == 0 || transactionID & 1 == UInt64(index) else {
      return problem(
        "has transaction id \(transactionID), which LMDB writes to the other meta page")
    }
    return nil
  }

  /// A problem of this page.
  func problem(_ message: String) -> PageProblem {
    PageProblem(kind: .metaPage, pageNumber: UInt64(index), tree: nil, message: message)
  }
}

extension MetaRecord {
  /// The impossible statement of this page about its version, if any.
  ///
  /// The limit on the last page bounds the memory of a walk. Every page up to it is in the file or
  /// in the free list, which has 8 bytes for each.
  func versionProblem(fileSizeInBytes: UInt64) -> PageProblem? {
    let pageSize = UInt64(pageSizeInBytes)
    guard lastPage >= PageFormat.metaPageCount - 1 else {
      return problem("gives \(lastPage) as the last page in use")
    }
    guard lastPage < fileSizeInBytes / pageSize + fileSizeInBytes / 8 else {
      return problem(
        "gives \(lastPage) as the last page in use, "
          + "far beyond a file of \(fileSizeInBytes / pageSize) pages")
    }
    guard mapSizeInBytes <= PageFormat.mapSizeInBytesMax else {
      return problem("gives a map size of \(mapSizeInBytes) bytes, more than can be mapped")
    }
    guard lastPage < mapSizeInBytes / pageSize else {
      return problem(
        "gives a map size of \(mapSizeInBytes) bytes, less than up to the last page \(lastPage)")
    }
    guard fileSizeInBytes / pageSize >= PageFormat.metaPageCount else {
      return PageProblem(
        kind: .fileSize, pageNumber: nil, tree: nil,
        message: "\(fileSizeInBytes) bytes are less than the two meta pages")
    }
    return nil
  }
}

/// The record of a tree: its root and its sizes (`MDB_db` in lmdb 0.9.24).
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 0 | 4 | of the free list: the page size; else 0 |
/// | 4 | 2 | ``PageFormat/TableFlags`` |
/// | 6 | 2 | depth: 0 without entries, 1 when the root is a leaf |
/// | 8 | 8 | branch pages |
/// | 16 | 8 | leaf pages |
/// | 24 | 8 | overflow pages |
/// | 32 | 8 | entries |
/// | 40 | 8 | root page, or all bits set |
struct TreeRecord: Equatable {
  let pad: UInt32
  let flags: UInt16
  let depth: UInt16
  let branchPages: UInt64
  let leafPages: UInt64
  let overflowPages: UInt64
  let entries: UInt64
  let root: UInt64

  /// Decodes the record at a byte offset with 48 bytes behind it.
  init(_ bytes: Span<UInt8>, at offset: Int) {
    pad = bytes.number(at: offset)
    flags = bytes.number(at: offset + 4)
    depth = bytes.number(at: offset + 6)
    branchPages = bytes.number(at: offset + 8)
    leafPages = bytes.number(at: offset + 16)
    overflowPages = bytes.number(at: offset + 24)
    entries = bytes.number(at: offset + 32)
    root = bytes.number(at: offset + 40)
  }

  func has(_ flag: UInt16) -> Bool { flags & flag != 0 }
}

/// Both meta pages of a file at one moment.
struct MetaPair: Equatable {
  /// The readable pages, in order; both if there is no problem.
  private(set) var pages: [MetaRecord] = []

  /// The reason why LMDB would refuse these pages or misread them.
  private(set) var problem: PageProblem?

  /// How often the pages are read while a writer changes them.
  private static let attemptLimit = 64

  /// Reads both pages until two reads agree: then no write was under way.
  ///
  /// - Returns: The pages; `nil` if they changed each time.
  static func read(from file: PageFile) -> MetaPair? {
    var last = MetaPair(readOnceFrom: file)
    for _ in 0..<attemptLimit {
      let next = MetaPair(readOnceFrom: file)
      if next == last { return next }
      last = next
    }
    return nil
  }

  /// The page from which a new transaction of LMDB starts.
  ///
  /// This is the page with the higher transaction number, or the first if they are equal. With a
  /// lock file, LMDB takes the page by the lowest bit of the number. ``MetaRecord/problem`` ensures
  /// that both rules give the same page.
  var live: MetaRecord {
    pages[0].transactionID < pages[1].transactionID ? pages[1] : pages[0]
  }

  /// The page of a transaction, unless it was overwritten.
  func page(ofTransaction transactionID: UInt64) -> MetaRecord? {
    if live.transactionID == transactionID { return live }
    return pages.first { $0.transactionID == transactionID }
  }

  private init(readOnceFrom file: PageFile) {
    let buffer = PageBuffer(byteCount: PageFormat.metaByteCount)
    var offset: UInt64 = 0
    for index in 0..<Int(PageFormat.metaPageCount) {
      switch file.read(PageFormat.metaByteCount, at: offset, into: buffer) {
      case .whole: break
      case .short:
        problem = PageProblem(
          kind: .fileSize, pageNumber: UInt64(index), tree: nil,
          message: "the file of \(file.sizeInBytes) bytes ends before the end of this meta page")
        return
      case .failed(let error):
        problem = PageProblem(
          kind: .unreadable, pageNumber: UInt64(index), tree: nil,
          message: "cannot be read: \(LMDBError.Code(rawValue: error).explanation)")
        return
      }
      let page = MetaRecord(index: index, Page(buffer.bytes))
      pages.append(page)
      problem = page.problem
      if problem != nil { return }
      offset = UInt64(page.pageSizeInBytes)
    }
    problem = disagreement
  }

  /// The contradiction between the pages, if any.
  private var disagreement: PageProblem? {
    let (first, second) = (pages[0], pages[1])
    guard first.pageSizeInBytes == second.pageSizeInBytes else {
      return second.problem(
        "gives a page size of \(second.pageSizeInBytes) bytes, "
          + "the first meta page gives \(first.pageSizeInBytes)")
    }
    let (low, high) = (
      min(first.transactionID, second.transactionID), max(first.transactionID, second.transactionID)
    )
    guard high - low <= 1 else {
      return live.problem(
        "has transaction id \(live.transactionID), the other meta page has "
          + "\(live.transactionID == high ? low : high); they are neighbours in a whole file")
    }
    return nil
  }
}
