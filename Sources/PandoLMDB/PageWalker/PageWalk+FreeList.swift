extension PageWalk {
  /// Reads one record of the free list.
  ///
  /// The key is the id (8 bytes) of the transaction that freed the pages. The value is a list of
  /// numbers of 8 bytes: how many pages, then their numbers in descending order. Room behind the
  /// list is possible: liblmdb reserves records before it knows what is left for them.
  func readFreeRecord(
    key: Span<UInt8>, pages: Span<UInt8>, on page: UInt64, in tree: inout PageTree
  ) throws {
    let transactionID: UInt64 = PageBytes(key).number(at: 0)
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
    let list = PageBytes(pages)
    let count: UInt64 = list.number(at: 0)
    guard count < UInt64(words) else {
      return try note(
        .freeList, page: page, in: &tree,
        "the record of transaction \(transactionID) lists \(count) pages in \(pages.count) bytes")
    }
    var last = UInt64.max
    for index in 0..<Int(count) {
      let number: UInt64 = list.number(at: 8 * (index + 1))
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
