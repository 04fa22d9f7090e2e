/// One of the two pages a file starts with: the roots of one committed version.
///
/// Transaction *n* writes page *n* mod 2 and leaves the other as it is, so the newest version and
/// the one before it are always there. After the page header of ``PageFormat``:
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
struct MetaRecord: Hashable {
  /// Which of the two pages this is: 0 or 1.
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
  init(index: Int, _ page: borrowing PageBytes) {
    self.index = index
    headerPageNumber = page.pageNumber
    headerFlags = page.flags
    magic = page.number(at: 16)
    version = page.number(at: 20)
    mapSizeInBytes = page.number(at: 32)
    freeList = TreeRecord(page, at: 40)
    main = TreeRecord(page, at: 88)
    lastPage = page.number(at: 136)
    transactionID = page.number(at: 144)
  }

  /// What is wrong with this page by itself, if anything; LMDB would refuse such a file, or trust
  /// it wrongly.
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
