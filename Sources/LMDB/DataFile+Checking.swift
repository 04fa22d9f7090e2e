import Glibc

extension DataFile {
  /// Checks sizes and meta pages before liblmdb maps the file.
  ///
  /// An empty file is a new one. While another process makes the file it may be seen half made, so
  /// a file that looks wrong is looked at again.
  ///
  /// - Returns: The size of the map that the file asks for, in bytes; 0 for a new file.
  /// - Throws: ``LMDBError`` with code `invalidFile`, `versionMismatch` or `truncatedFile`.
  func checkHeader(path: String, isReadOnly: Bool) throws(LMDBError) -> Int {
    for _ in 0..<9 {
      if let size = try? checkHeaderOnce(path: path, isReadOnly: isReadOnly) { return size }
      usleep(1000)
    }
    return try checkHeaderOnce(path: path, isReadOnly: isReadOnly)
  }

  private func checkHeaderOnce(path: String, isReadOnly: Bool) throws(LMDBError) -> Int {
    let size = try sizeInBytes()
    if size == 0, !isReadOnly { return 0 }
    let first = try MetaPage(try read(MetaPage.byteCount, at: 0), path: path)
    let second = try MetaPage(
      try read(MetaPage.byteCount, at: first.pageSizeInBytes), path: path)
    let newest = second.transactionID > first.transactionID ? second : first
    for root in [newest.freeRoot, newest.mainRoot] where root != MetaPage.noPage {
      let end = (root &+ 1).multipliedReportingOverflow(by: UInt64(first.pageSizeInBytes))
      guard !end.overflow, end.partialValue <= UInt64(size) else {
        throw LMDBError(
          .truncatedFile, function: "open",
          detail: "\(path) has \(size) bytes, page \(root) lies beyond them")
      }
    }
    return Int(newest.mapSizeInBytes)
  }
}

/// What is checked of a meta page.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 10 | 2 | flags of the page; bit 3 says meta |
/// | 16 | 4 | magic number BEEFC0DE (all numbers in the byte order of the machine) |
/// | 20 | 4 | version, 1 |
/// | 32 | 8 | size of the map |
/// | 40 | 4 | page size |
/// | 80 | 8 | root page of the table of free pages |
/// | 128 | 8 | root page of the table of tables |
/// | 136 | 8 | last page in use |
/// | 144 | 8 | transaction number |
struct MetaPage {
  /// The root of an empty table.
  static let noPage = UInt64.max
  /// How many bytes of the page are looked at.
  static let byteCount = 152

  let pageSizeInBytes: Int
  let mapSizeInBytes: UInt64
  let freeRoot: UInt64
  let mainRoot: UInt64
  let lastPage: UInt64
  let transactionID: UInt64

  init(_ bytes: [UInt8], path: String) throws(LMDBError) {
    func invalid(_ reason: String) -> LMDBError {
      LMDBError(.invalidFile, function: "open", detail: "\(path): \(reason)")
    }
    guard bytes.count == Self.byteCount else {
      throw LMDBError(
        .truncatedFile, function: "open", detail: "\(path) ends inside its first two pages")
    }
    let isMeta = UInt16(native: bytes, at: 10) & 0x08 != 0
    guard isMeta, UInt32(native: bytes, at: 16) == 0xBEEF_C0DE else {
      throw invalid("this is not an LMDB file")
    }
    let version = UInt32(native: bytes, at: 20)
    guard version == 1 else {
      throw LMDBError(
        .versionMismatch, function: "open",
        detail: "\(path) has format version \(version); this module reads version 1")
    }
    pageSizeInBytes = Int(UInt32(native: bytes, at: 40))
    mapSizeInBytes = UInt64(native: bytes, at: 32)
    freeRoot = UInt64(native: bytes, at: 80)
    mainRoot = UInt64(native: bytes, at: 128)
    lastPage = UInt64(native: bytes, at: 136)
    transactionID = UInt64(native: bytes, at: 144)
    guard (512...65_536).contains(pageSizeInBytes), pageSizeInBytes.nonzeroBitCount == 1 else {
      throw invalid("a page size of \(pageSizeInBytes) bytes is impossible")
    }
    guard mapSizeInBytes <= UInt64(1) << 47, lastPage <= mapSizeInBytes else {
      throw invalid("a map of \(mapSizeInBytes) bytes with last page \(lastPage) is impossible")
    }
    for root in [freeRoot, mainRoot] where root != Self.noPage && (root < 2 || root > lastPage) {
      throw invalid("a root at page \(root) is impossible, the last page is \(lastPage)")
    }
  }
}

extension FixedWidthInteger {
  /// The number at an offset, in the byte order of the machine.
  fileprivate init(native bytes: [UInt8], at offset: Int) {
    var value: Self = 0
    for index in (0..<Self.bitWidth / 8).reversed() {
      value = value << 8 | Self(truncatingIfNeeded: bytes[offset + index])
    }
    self = Self(littleEndian: value.littleEndian)
  }
}
