extension MetaRecord {
  /// What this page says about its version that cannot be, if anything.
  ///
  /// The limit on the last page is what bounds the memory of a walk: every page up to the last is
  /// in the file or listed in the free list, which takes 8 bytes of the file for each.
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
