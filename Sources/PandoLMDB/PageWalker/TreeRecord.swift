/// What LMDB records of a tree: where it starts and what it holds (`MDB_db` in lmdb 0.9.24).
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 0 | 4 | size of each item, in a tree of fixed-size duplicates; the free list's: page size |
/// | 4 | 2 | ``PageFormat/TableFlags`` |
/// | 6 | 2 | depth: 0 without entries, 1 when the root is a leaf |
/// | 8 | 8 | branch pages |
/// | 16 | 8 | leaf pages |
/// | 24 | 8 | overflow pages |
/// | 32 | 8 | entries; in a table with duplicates each value counts |
/// | 40 | 8 | root page, or all bits set |
struct TreeRecord: Hashable {
  let pad: UInt32
  let flags: UInt16
  let depth: UInt16
  let branchPages: UInt64
  let leafPages: UInt64
  let overflowPages: UInt64
  let entries: UInt64
  let root: UInt64

  /// Decodes the record at a byte offset with 48 bytes behind it.
  init(_ page: borrowing PageBytes, at offset: Int) {
    pad = page.number(at: offset)
    flags = page.number(at: offset + 4)
    depth = page.number(at: offset + 6)
    branchPages = page.number(at: offset + 8)
    leafPages = page.number(at: offset + 16)
    overflowPages = page.number(at: offset + 24)
    entries = page.number(at: offset + 32)
    root = page.number(at: offset + 40)
  }

  func has(_ flag: UInt16) -> Bool { flags & flag != 0 }
}
