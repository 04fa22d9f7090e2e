/// The byte layout of an LMDB data file, as liblmdb 0.9.24 writes it on a 64-bit machine.
///
/// The file is an array of pages of one size (4 096 to 32 768 bytes, a power of two). Numbers have
/// the byte order of the machine; Pando runs on little-endian ones. The layout is not in `lmdb.h`:
/// it comes from `mdb.c` of lmdb 0.9.24, and tests compare it with files of liblmdb.
///
/// Every page starts with a header of 16 bytes. Only the first page of an overflow run has one.
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 0 | 8 | number of this page: its offset in the file divided by the page size |
/// | 8 | 2 | not used |
/// | 10 | 2 | ``Flags`` |
/// | 12 | 2 | lower end of the free space: 16 plus 2 for each node |
/// | 14 | 2 | upper end of the free space: the lowest node's offset |
/// | 12 | 4 | on an overflow page, in place of the two above: how many pages the run has |
///
/// After the header, branch and leaf pages have one 2-byte offset per node, in key order. The nodes
/// lie at the end of the page, without gaps, each padded to an even size, in any order.
///
/// | offset | size | leaf node | branch node |
/// | --- | --- | --- | --- |
/// | 0 | 4 | byte count of the value | bits 0…31 of the child's page number |
/// | 4 | 2 | ``NodeFlags`` | bits 32…47 of it |
/// | 6 | 2 | byte count of the key | byte count of the key (the first key is not used) |
/// | 8 | | key, then value | key: no key of the child sorts before it |
///
/// Instead of the value, a leaf node can contain the first page number of an overflow run (8 bytes)
/// or a ``TreeRecord`` (48 bytes). Tables with several values under one key (`MDB_DUPSORT`) have
/// other pages, which Pando neither writes nor reads.
enum PageFormat {
  /// The bits for the type of a page.
  enum Flags {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    static let meta: UInt16 = 0x08
  }

  /// The bits for the contents of a leaf node besides its key.
  enum NodeFlags {
    /// The value is on overflow pages; the node contains the number of the first.
    static let overflow: UInt16 = 0x01
    /// The node contains the record of another tree.
    static let tree: UInt16 = 0x02
  }

  /// The bits of a table's flags, the same as those of `mdb_dbi_open`.
  enum TableFlags {
    static let reverseKey: UInt16 = 0x02
    /// Several values under one key.
    static let duplicates: UInt16 = 0x04
    static let integerKey: UInt16 = 0x08
    static let known: UInt16 = 0x7e
    /// The free list's flags also hold two flags of the environment: fixed map, no directory.
    static let knownOfFreeList: UInt16 = integerKey | 0x01 | 0x4000
  }

  static let magic: UInt32 = 0xBEEF_C0DE
  static let version: UInt32 = 1
  static let headerByteCount = 16
  static let nodeHeaderByteCount = 8
  static let treeRecordByteCount = 48
  /// Header and meta record: the used bytes of a meta page.
  static let metaByteCount = 152
  static let metaPageCount: UInt64 = 2
  /// The root of a tree without entries.
  static let noPage = UInt64.max
  /// The longest key of liblmdb in its default build, and the longest duplicate value.
  static let keyByteCountMax = 511
  /// The depth of a liblmdb cursor's stack; it can't read a deeper tree.
  static let depthMax = 32
  static let pageSizes = 4096...32768
  /// A map can't be larger than the address space of a process.
  static let mapSizeInBytesMax: UInt64 = 1 << 47

  /// Formats a number as C does, for messages about flags.
  static func hex(_ number: some FixedWidthInteger) -> String {
    "0x" + String(number, radix: 16)
  }
}
