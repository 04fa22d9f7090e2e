import CPandoLMDB
import PandoSystem

/// The tree of one table in one committed version, searched where its pages lie in the map.
///
/// liblmdb compares keys through two calls for each step of a search, which makes it several times as
/// expensive. The layout is that of ``PageFormat``. Page numbers, page headers and the places of entries
/// are checked before they are believed; at what is damaged or not plain the answer is `unknown`, and
/// liblmdb is to be asked.
@safe
struct PageSearch {
  /// What a search has found.
  @safe enum Answer {
    /// The value's bytes, which lie in the map as long as the transaction lives.
    case found(UnsafeRawBufferPointer)
    /// The table has no such key.
    case absent
    /// Only liblmdb can tell.
    case unknown
  }

  /// Where page 0 lies.
  private let map: UnsafeRawPointer
  private let pageSizeInBytes: Int
  private let pageCount: UInt64
  private let root: UInt64
  /// Whether all keys have eight bytes.
  private let hasNumberKeys: Bool
  /// The leaf of the last search, if there was one.
  private var lastLeaf: UnsafeRawPointer?

  /// Finds the tree of a table; `nil` if its pages can't be found, or it is not plain.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - hasNumberKeys: Whether all its keys have eight bytes.
  ///   - transaction: A reader transaction, which lives as long as the result is used.
  ///   - knownMap: Where the last transaction had page 0; becomes what this one has.
  @unsafe
  init?(
    ofTableNamed name: [UInt8], hasNumberKeys: Bool, in transaction: OpaquePointer,
    knownMap: inout UnsafeRawPointer?
  ) {
    self.hasNumberKeys = hasNumberKeys
    guard LeafPage.hasKnownLayout, let environment = unsafe mdb_txn_env(transaction) else {
      return nil
    }
    var info = unsafe MDB_envinfo()
    var statistics = MDB_stat()
    guard unsafe mdb_env_info(environment, &info) == 0,
      unsafe mdb_stat(transaction, Self.mainTable, &statistics) == 0
    else { return nil }
    let pageSize = Int(statistics.ms_psize)
    // The map begins at a page of the system, so a page that is not larger lies at a multiple of its size.
    guard pageSize >= PageFormat.pageSizes.lowerBound, pageSize <= Self.systemPageSizeInBytes,
      let record = unsafe Self.record(ofTableNamed: name, in: transaction)
    else { return nil }
    pageSizeInBytes = pageSize
    // A later commit of another process may have pages that this one has not mapped.
    pageCount = unsafe min(
      UInt64(info.me_last_pgno) + 1, UInt64(info.me_mapsize) / UInt64(pageSize))
    guard
      let map = unsafe Self.map(
        holding: record, pageSizeInBytes: pageSize, pageCount: pageCount, known: knownMap)
    else { return nil }
    unsafe knownMap = map
    unsafe self.map = map
    // The record has been checked to have these fields, see ``TreeRecord``.
    let flags = unsafe record.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
    guard flags == 0 else { return nil }
    root = unsafe record.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }

  /// The table that holds the records of all others: liblmdb's `MAIN_DBI`, open in each transaction.
  private static let mainTable: MDB_dbi = 1
  private static let systemPageSizeInBytes = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// The record of a table's tree, where it lies in the map.
  private static func record(
    ofTableNamed name: [UInt8], in transaction: OpaquePointer
  ) -> UnsafeRawPointer? {
    unsafe name.withUnsafeBufferPointer { name in
      var key = unsafe MDB_val(name)
      var value = unsafe MDB_val()
      guard unsafe mdb_get(transaction, mainTable, &key, &value) == 0,
        unsafe value.mv_size == PageFormat.treeRecordByteCount
      else { return nil }
      return unsafe UnsafeRawPointer(value.mv_data)
    }
  }

  /// Where page 0 lies, told by the number of the page on which a record lies.
  ///
  /// `known` is a place that has been looked at, and need not be again.
  private static func map(
    holding record: UnsafeRawPointer, pageSizeInBytes: Int, pageCount: UInt64,
    known: UnsafeRawPointer?
  ) -> UnsafeRawPointer? {
    let page = unsafe record - (Int(bitPattern: record) & (pageSizeInBytes - 1))
    let number = unsafe page.load(as: UInt64.self)
    guard number < pageCount else { return nil }
    let (distance, isTooFar) = Int(number).multipliedReportingOverflow(by: pageSizeInBytes)
    guard !isTooFar, let map = unsafe UnsafeRawPointer(bitPattern: Int(bitPattern: page) - distance)
    else { return nil }
    if unsafe map == known { return unsafe map }
    // A damaged number may lead anywhere: the kernel is asked whether something is mapped there.
    let address = unsafe UnsafeMutableRawPointer(mutating: map)
    guard unsafe msync(address, pageSizeInBytes, MS_ASYNC) == 0,
      unsafe map.load(as: UInt64.self) == 0,
      unsafe map.load(fromByteOffset: 10, as: UInt16.self) == PageFormat.Flags.meta,
      unsafe map.load(fromByteOffset: PageFormat.headerByteCount, as: UInt32.self)
        == PageFormat.magic
    else { return nil }
    return unsafe map
  }
}

extension PageSearch {
  /// Begins the next search at the root: keys that others ask for lie anywhere, and to look at the leaf
  /// of the last one would only bring memory into the processor's cache that nobody needs.
  mutating func forgetLeaf() { unsafe lastLeaf = nil }

  /// Looks a key up.
  ///
  /// The key has at least one byte, and is read during the call only.
  @unsafe
  mutating func value(forKey key: UnsafeRawBufferPointer) -> Answer {
    guard let address = key.baseAddress else { return .unknown }
    if hasNumberKeys {
      guard key.count == NumberKey.byteCount else { return .unknown }
      return value(forKey: unsafe NumberKey(address))
    }
    return value(forKey: unsafe BytesKey(address: address, count: key.count))
  }

  @inline(__always)
  private mutating func value(forKey key: some PageKey) -> Answer {
    // Keys that are asked for one after another mostly lie near each other.
    if let leaf = unsafe lastLeaf, let answer = unsafe value(forKey: key, nearLeaf: leaf) {
      return answer
    }
    var number = root
    for _ in 0..<PageFormat.depthMax {
      guard let page = unsafe page(number) else {
        return number == PageFormat.noPage ? .absent : .unknown
      }
      let isLeaf: Bool
      switch unsafe page.load(fromByteOffset: 10, as: UInt16.self) {
      case PageFormat.Flags.branch: isLeaf = false
      case PageFormat.Flags.leaf: isLeaf = true
      default: return .unknown
      }
      guard let count = unsafe entryCount(of: page) else { return .unknown }
      if isLeaf {
        unsafe lastLeaf = unsafe page
        return unsafe value(forKey: key, onLeaf: page, count: count)
      }
      guard let entry = unsafe lastEntry(of: page, count: count, notAbove: key) else {
        return .unknown
      }
      // Of a branch the lower 48 bits are a page number.
      number = unsafe Self.header(of: entry) & 0xFFFF_FFFF_FFFF
    }
    return .unknown
  }

  /// Looks on a leaf, first where the key is if all keys of the leaf follow one another without a gap.
  @inline(__always)
  private func value(
    forKey key: some PageKey, onLeaf leaf: UnsafeRawPointer, count: Int
  ) -> Answer {
    if let first = unsafe entry(0, on: leaf), let index = unsafe key.distance(from: first),
      index < count, let entry = unsafe entry(index, on: leaf), unsafe key.isKey(of: entry) == true
    {
      return unsafe value(of: entry, on: leaf, ifKeyIs: key)
    }
    guard let entry = unsafe lastEntry(of: leaf, count: count, notAbove: key) else {
      return .unknown
    }
    return unsafe value(of: entry, on: leaf, ifKeyIs: key)
  }

  /// Looks on the leaf of the last search; `nil` if the key may lie on another one.
  @inline(__always)
  private func value(forKey key: some PageKey, nearLeaf leaf: UnsafeRawPointer) -> Answer? {
    guard let count = unsafe entryCount(of: leaf), let first = unsafe entry(0, on: leaf),
      let last = unsafe entry(count - 1, on: leaf),
      unsafe key.isBelow(first) == false, unsafe key.isBelow(last) == true
    else { return nil }
    return unsafe value(forKey: key, onLeaf: leaf, count: count)
  }

  /// The last entry whose key is not above another, or the first entry.
  ///
  /// The first key of a branch is never looked at: it stands for everything before the second.
  ///
  /// - Returns: `nil` if the page is damaged.
  @inline(__always)
  private func lastEntry(
    of page: UnsafeRawPointer, count: Int, notAbove key: some PageKey
  ) -> UnsafeRawPointer? {
    var low = 0
    var rest = count
    while rest > 1 {
      let half = rest >> 1
      guard let entry = unsafe entry(low &+ half, on: page),
        let isBelow = unsafe key.isBelow(entry)
      else { return nil }
      // Told that it is likely, so that it stays a branch: where the next entry is looked for while the key
      // of this one is still on its way from memory, which a conditional move would wait for.
      if _fastPath(isBelow) {
        rest = half
      } else {
        low &+= half
        rest &-= half
      }
    }
    return unsafe entry(low, on: page)
  }

  /// The value of a leaf's entry, if it is the one that is looked for.
  @inline(__always)
  private func value(
    of entry: UnsafeRawPointer, on page: UnsafeRawPointer, ifKeyIs key: some PageKey
  ) -> Answer {
    guard let isFound = unsafe key.isKey(of: entry) else { return .unknown }
    guard isFound else { return .absent }
    // From the low bits: 32 of the value's size, 16 of flags, 16 of the key's size.
    let header = unsafe Self.header(of: entry)
    let valueByteCount = Int(header & 0xFFFF_FFFF)
    let value = unsafe entry + PageFormat.nodeHeaderByteCount + Int(header >> 48)
    let flags = UInt16(truncatingIfNeeded: header >> 32)
    let offset = unsafe value - page
    if flags == 0, offset + valueByteCount <= pageSizeInBytes {
      return unsafe .found(UnsafeRawBufferPointer(start: value, count: valueByteCount))
    }
    guard flags == PageFormat.NodeFlags.overflow, offset + 8 <= pageSizeInBytes else {
      return .unknown
    }
    return unsafe overflowValue(
      from: value.loadUnaligned(as: UInt64.self), byteCount: valueByteCount)
  }

  /// A value on pages of its own.
  @inline(never)
  private func overflowValue(from number: UInt64, byteCount: Int) -> Answer {
    guard let page = unsafe page(number),
      unsafe page.load(fromByteOffset: 10, as: UInt16.self) == PageFormat.Flags.overflow
    else { return .unknown }
    let count = unsafe UInt64(page.load(fromByteOffset: 12, as: UInt32.self))
    guard count <= pageCount - number,
      byteCount + PageFormat.headerByteCount <= Int(count) * pageSizeInBytes
    else { return .unknown }
    return unsafe .found(
      UnsafeRawBufferPointer(start: page + PageFormat.headerByteCount, count: byteCount))
  }

  /// A page by its number; `nil` if it has another one.
  @inline(__always)
  private func page(_ number: UInt64) -> UnsafeRawPointer? {
    guard number < pageCount else { return nil }
    // Before the end of the file, which is mapped.
    let page = unsafe map + Int(number) &* pageSizeInBytes
    return unsafe page.load(as: UInt64.self) == number ? page : nil
  }

  /// How many entries a page has; `nil` if it has none, or is damaged.
  @inline(__always)
  private func entryCount(of page: UnsafeRawPointer) -> Int? {
    let lower = unsafe Int(page.load(fromByteOffset: 12, as: UInt16.self))
    guard lower > PageFormat.headerByteCount, lower <= pageSizeInBytes else { return nil }
    return (lower - PageFormat.headerByteCount) >> 1
  }

  /// An entry of a page; `nil` if its head and key are not on the page.
  @inline(__always)
  private func entry(_ index: Int, on page: UnsafeRawPointer) -> UnsafeRawPointer? {
    let place = PageFormat.headerByteCount &+ index &* MemoryLayout<UInt16>.size
    let offset = unsafe Int(page.load(fromByteOffset: place, as: UInt16.self))
    guard offset <= pageSizeInBytes &- PageFormat.nodeHeaderByteCount else { return nil }
    let entry = unsafe page + offset
    let end = unsafe offset &+ PageFormat.nodeHeaderByteCount &+ Int(Self.header(of: entry) >> 48)
    return unsafe end <= pageSizeInBytes ? entry : nil
  }

  /// The first eight bytes of an entry that has been checked to be there.
  @inline(__always)
  fileprivate static func header(of entry: UnsafeRawPointer) -> UInt64 {
    unsafe entry.loadUnaligned(as: UInt64.self)
  }
}

/// A key to compare with those of entries, whose bytes have been checked to be there.
private protocol PageKey {
  /// Whether it comes before the key of an entry; `nil` if they can't be compared.
  @unsafe func isBelow(_ entry: UnsafeRawPointer) -> Bool?
  /// Whether it is the key of an entry; `nil` if they can't be compared.
  @unsafe func isKey(of entry: UnsafeRawPointer) -> Bool?
  /// How many keys there can be from that of an entry to this one; `nil` if nobody can count them.
  @unsafe func distance(from entry: UnsafeRawPointer) -> Int?
}

/// A key of eight bytes in a table whose keys all have as many: a number.
private struct NumberKey: PageKey {
  static let byteCount = 8
  private let value: UInt64

  @unsafe
  @inline(__always)
  init(_ address: UnsafeRawPointer) {
    value = unsafe UInt64(bigEndian: address.loadUnaligned(as: UInt64.self))
  }

  @inline(__always)
  private func other(_ entry: UnsafeRawPointer) -> UInt64? {
    guard unsafe PageSearch.header(of: entry) >> 48 == Self.byteCount else { return nil }
    let place = PageFormat.nodeHeaderByteCount
    return unsafe UInt64(
      bigEndian: entry.loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  @unsafe
  @inline(__always)
  func isBelow(_ entry: UnsafeRawPointer) -> Bool? {
    unsafe other(entry).map { value < $0 }
  }

  @unsafe
  @inline(__always)
  func isKey(of entry: UnsafeRawPointer) -> Bool? {
    unsafe other(entry).map { value == $0 }
  }

  @unsafe
  @inline(__always)
  func distance(from entry: UnsafeRawPointer) -> Int? {
    guard let other = unsafe other(entry), value >= other else { return nil }
    return Int(exactly: value - other)
  }
}

/// A key of any length.
@safe private struct BytesKey: PageKey {
  private let address: UnsafeRawPointer
  private let count: Int

  @unsafe
  @inline(__always)
  init(address: UnsafeRawPointer, count: Int) {
    unsafe self.address = address
    self.count = count
  }

  @unsafe
  @inline(__always)
  func isBelow(_ entry: UnsafeRawPointer) -> Bool? {
    let otherCount = unsafe Int(PageSearch.header(of: entry) >> 48)
    let other = unsafe entry + PageFormat.nodeHeaderByteCount
    let common = min(count, otherCount)
    var offset = 0
    while offset < common {
      // In bounds: of the last bytes, where eight are there, some are compared twice.
      if common < 8 {
        let byte = unsafe address.load(fromByteOffset: offset, as: UInt8.self)
        let otherByte = unsafe other.load(fromByteOffset: offset, as: UInt8.self)
        if byte != otherByte { return byte < otherByte }
        offset &+= 1
        continue
      }
      let place = min(offset, common &- 8)
      let word = unsafe address.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      let otherWord = unsafe other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if word != otherWord { return UInt64(bigEndian: word) < UInt64(bigEndian: otherWord) }
      offset &+= 8
    }
    return count < otherCount
  }

  @unsafe
  @inline(__always)
  func isKey(of entry: UnsafeRawPointer) -> Bool? {
    guard unsafe Int(PageSearch.header(of: entry) >> 48) == count else { return false }
    return unsafe memcmp(address, entry + PageFormat.nodeHeaderByteCount, count) == 0
  }

  @unsafe
  @inline(__always)
  func distance(from entry: UnsafeRawPointer) -> Int? { nil }
}
