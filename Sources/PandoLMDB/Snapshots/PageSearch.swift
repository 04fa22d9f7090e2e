import CPandoLMDB
import PandoSystem

/// The tree of one table in one committed version, searched where its pages lie in the map.
///
/// liblmdb compares keys through two calls for each step of a search, which makes it several times as
/// expensive. The layout is that of ``PageFormat``. Page numbers, page headers and the offsets of nodes
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
    guard pageSize >= PageFormat.pageSizes.lowerBound, pageSize <= LeafPage.sizeInBytesMax,
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
    let tree = unsafe TreeRecord(
      Page(at: record, byteCount: PageFormat.treeRecordByteCount).bytes, at: 0)
    guard tree.flags == 0 else { return nil }
    root = tree.root
  }

  /// The table that holds the records of all others: liblmdb's `MAIN_DBI`, open in each transaction.
  static let mainTable: MDB_dbi = 1

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

  /// Where page 0 lies, found by the number of the page on which a record lies.
  ///
  /// `known` is an address that has been checked, and need not be again.
  private static func map(
    holding record: UnsafeRawPointer, pageSizeInBytes: Int, pageCount: UInt64,
    known: UnsafeRawPointer?
  ) -> UnsafeRawPointer? {
    let page = unsafe record - (Int(bitPattern: record) & (pageSizeInBytes - 1))
    let number = unsafe Page(at: page, byteCount: pageSizeInBytes).number
    guard number < pageCount else { return nil }
    let (distance, isTooFar) = Int(number).multipliedReportingOverflow(by: pageSizeInBytes)
    guard !isTooFar, let map = unsafe UnsafeRawPointer(bitPattern: Int(bitPattern: page) - distance)
    else { return nil }
    if unsafe map == known { return unsafe map }
    // A damaged number may lead anywhere: the kernel is asked whether something is mapped there.
    let address = unsafe UnsafeMutableRawPointer(mutating: map)
    guard unsafe msync(address, pageSizeInBytes, MS_ASYNC) == 0 else { return nil }
    let first = unsafe Page(at: map, byteCount: pageSizeInBytes)
    guard first.number == 0, first.flags == PageFormat.Flags.meta,
      first.number(at: PageFormat.headerByteCount) == PageFormat.magic
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
      guard let start = unsafe start(ofPage: number) else {
        return number == PageFormat.noPage ? .absent : .unknown
      }
      let page = unsafe page(at: start)
      let (flags, count) = (page.flags, page.nodeCount)
      guard page.number == number, count > 0 else { return .unknown }
      if flags == PageFormat.Flags.leaf {
        unsafe lastLeaf = unsafe start
        return value(forKey: key, on: page, count: count)
      }
      guard flags == PageFormat.Flags.branch,
        let node = lastNode(of: page, count: count, notAbove: key)
      else { return .unknown }
      number = node.child
    }
    return .unknown
  }

  /// Looks on the leaf of the last search; `nil` if the key may lie on another one.
  @inline(__always)
  private func value(forKey key: some PageKey, nearLeaf start: UnsafeRawPointer) -> Answer? {
    let leaf = unsafe page(at: start)
    let count = leaf.nodeCount
    guard count > 0, let first = leaf.node(0), let last = leaf.node(count - 1),
      unsafe key.isBelow(leaf.keyBytes(of: first)) == false,
      unsafe key.isBelow(leaf.keyBytes(of: last)) == true
    else { return nil }
    return value(forKey: key, on: leaf, count: count)
  }

  /// Looks on a leaf, first where the key is if all keys of the leaf follow one another without a gap.
  @inline(__always)
  private func value(forKey key: some PageKey, on leaf: borrowing Page, count: Int) -> Answer {
    if let first = leaf.node(0), let index = unsafe key.distance(from: leaf.keyBytes(of: first)),
      index < count, let node = leaf.node(index),
      unsafe key.isEqual(to: leaf.keyBytes(of: node)) == true
    {
      return value(of: node, on: leaf)
    }
    guard let node = lastNode(of: leaf, count: count, notAbove: key),
      let isFound = unsafe key.isEqual(to: leaf.keyBytes(of: node))
    else { return .unknown }
    return isFound ? value(of: node, on: leaf) : .absent
  }

  /// The last node whose key is not above another, or the first node.
  ///
  /// The first key of a branch is never looked at: it stands for everything before the second.
  ///
  /// - Returns: `nil` if the page is damaged.
  @inline(__always)
  private func lastNode(
    of page: borrowing Page, count: Int, notAbove key: some PageKey
  ) -> PageNode? {
    var low = 0
    var rest = count
    while rest > 1 {
      let half = rest >> 1
      guard let node = page.node(low &+ half),
        let isBelow = unsafe key.isBelow(page.keyBytes(of: node))
      else { return nil }
      // Said to be likely, so that it stays a branch: where the next node is looked for while the key
      // of this one is still on its way from memory, which a conditional move would wait for.
      if _fastPath(isBelow) {
        rest = half
      } else {
        low &+= half
        rest &-= half
      }
    }
    return page.node(low)
  }

  /// The value of a leaf's node.
  @inline(__always)
  private func value(of node: PageNode, on leaf: borrowing Page) -> Answer {
    if node.flags == 0, let value = unsafe leaf.valueBytes(of: node) { return unsafe .found(value) }
    guard node.flags == PageFormat.NodeFlags.overflow, node.valueOffset + 8 <= pageSizeInBytes
    else {
      return .unknown
    }
    return overflowValue(from: leaf.number(at: node.valueOffset), byteCount: node.valueByteCount)
  }

  /// A value on pages of its own.
  @inline(never)
  private func overflowValue(from number: UInt64, byteCount: Int) -> Answer {
    guard let start = unsafe start(ofPage: number) else { return .unknown }
    let page = unsafe page(at: start)
    let count = UInt64(page.overflowPageCount)
    guard page.number == number, page.flags == PageFormat.Flags.overflow,
      count <= pageCount - number,
      byteCount + PageFormat.headerByteCount <= Int(count) * pageSizeInBytes
    else { return .unknown }
    return unsafe .found(
      UnsafeRawBufferPointer(start: start + PageFormat.headerByteCount, count: byteCount))
  }

  /// Where a page begins; `nil` if it lies behind the end of the file.
  @inline(__always)
  private func start(ofPage number: UInt64) -> UnsafeRawPointer? {
    guard number < pageCount else { return nil }
    return unsafe map + Int(number) &* pageSizeInBytes
  }

  /// A page that begins before the end of the file, which is mapped.
  @unsafe
  @_lifetime(immortal)
  @inline(__always)
  private func page(at start: UnsafeRawPointer) -> Page {
    unsafe Page(at: start, byteCount: pageSizeInBytes)
  }
}

/// A key to compare with those of nodes.
private protocol PageKey {
  /// Whether it comes before another key; `nil` if they can't be compared.
  @unsafe func isBelow(_ other: UnsafeRawBufferPointer) -> Bool?
  /// Whether it is the same key; `nil` if they can't be compared.
  @unsafe func isEqual(to other: UnsafeRawBufferPointer) -> Bool?
  /// How many keys there can be from another to this one; `nil` if nobody can count them.
  @unsafe func distance(from other: UnsafeRawBufferPointer) -> Int?
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
  private func number(_ key: UnsafeRawBufferPointer) -> UInt64? {
    guard key.count == Self.byteCount, let address = key.baseAddress else { return nil }
    return unsafe UInt64(bigEndian: address.loadUnaligned(as: UInt64.self))
  }

  @unsafe
  @inline(__always)
  func isBelow(_ other: UnsafeRawBufferPointer) -> Bool? {
    unsafe number(other).map { value < $0 }
  }

  @unsafe
  @inline(__always)
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool? {
    unsafe number(other).map { value == $0 }
  }

  @unsafe
  @inline(__always)
  func distance(from other: UnsafeRawBufferPointer) -> Int? {
    guard let other = unsafe number(other), value >= other else { return nil }
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
  func isBelow(_ key: UnsafeRawBufferPointer) -> Bool? {
    guard let other = key.baseAddress else { return nil }
    let common = min(count, key.count)
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
      let position = min(offset, common &- 8)
      let word = unsafe address.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let otherWord = unsafe other.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      if word != otherWord { return UInt64(bigEndian: word) < UInt64(bigEndian: otherWord) }
      offset &+= 8
    }
    return count < key.count
  }

  @unsafe
  @inline(__always)
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool? {
    guard other.count == count, let start = other.baseAddress else { return false }
    return unsafe memcmp(address, start, count) == 0
  }

  @unsafe
  @inline(__always)
  func distance(from other: UnsafeRawBufferPointer) -> Int? { nil }
}
