/// Both meta pages of a file, as they were at one moment.
struct MetaPair: Hashable {
  /// The pages that could be read, in order; both if there is no problem.
  private(set) var pages: [MetaRecord] = []

  /// Why LMDB would refuse these pages or should not trust them.
  private(set) var problem: PageProblem?

  /// How often the pages are read while a writer changes them under the reader.
  private static let attemptLimit = 64

  /// Reads both pages until two reads agree: then no writer was in the middle of one.
  ///
  /// - Returns: The pages, or `nil` if they changed each time.
  static func read(from file: PageFile) -> MetaPair? {
    var last = MetaPair(readOnceFrom: file)
    for _ in 0..<attemptLimit {
      let next = MetaPair(readOnceFrom: file)
      if next == last { return next }
      last = next
    }
    return nil
  }

  /// The page a new transaction of LMDB starts from.
  ///
  /// That is the one with the higher transaction id, the first if they are equal. With a lock
  /// file LMDB takes the page by the lowest bit of the id instead; ``MetaRecord/problem`` has made
  /// sure that both ways lead to the same page.
  var live: MetaRecord {
    pages[0].transactionID < pages[1].transactionID ? pages[1] : pages[0]
  }

  /// The page of one transaction, if it has not been overwritten.
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
          message: "cannot be read: \(PageWalkError.message(ofSystemError: error))")
        return
      }
      let page = MetaRecord(index: index, PageBytes(buffer.bytes))
      pages.append(page)
      problem = page.problem
      if problem != nil { return }
      offset = UInt64(page.pageSizeInBytes)
    }
    problem = disagreement
  }

  /// What the pages say about each other that cannot be, if anything.
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
