import CPandoLMDB
import PandoSystem

/// The tree of one table in one committed version, searched directly in the map.
///
/// liblmdb makes two calls for each comparison of a search, which makes it several times slower.
/// ``PageFormat`` defines the layout. Page numbers, page headers and node offsets are checked
/// before use. For pages that are damaged or not plain the answer is `unknown`, and the caller uses
/// liblmdb.
@safe
struct PageSearch {
  /// The result of a search.
  @safe enum Answer {
    /// The bytes of the value in the map; they live as long as the transaction.
    case found(UnsafeRawBufferPointer)
    /// The table has no such key.
    case absent
    /// Only liblmdb can answer.
    case unknown
  }

  /// The address of page 0.
  private let map: UnsafeRawPointer
  private let pageSizeInBytes: Int
  private let pageCount: UInt64
  private let root: UInt64
  /// Whether all keys have eight bytes.
  private let hasNumberKeys: Bool
  /// The leaf of the last search, if any.
  private var lastLeaf: UnsafeRawPointer?

  /// Finds the tree of a table; `nil` if its pages can't be found, or if it is not plain.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - hasNumberKeys: Whether all its keys have eight bytes.
  ///   - transaction: A read transaction that lives as long as the result is used.
  ///   - knownMap: The last transaction's address of page 0; updated to this one's.
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
    // The map is aligned to the system's pages, so a page of at most that size is aligned.
    guard pageSize >= PageFormat.pageSizes.lowerBound, pageSize <= LeafPage.sizeInBytesMax,
      let record = unsafe Self.record(ofTableNamed: name, in: transaction)
    else { return nil }
    pageSizeInBytes = pageSize
    // A later commit of another process may have pages outside this map.
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

  /// The table with the records of all others: liblmdb's `MAIN_DBI`, open in each transaction.
  static let mainTable: MDB_dbi = 1

  /// The record of a table's tree, in the map.
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

  /// The address of page 0, computed from the number of the page that contains a record.
  ///
  /// `known` is an address that was already checked.
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
    // A damaged number may lead anywhere, so `msync` tests whether the address is mapped.
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
  /// Makes the next search begin at the root: keys of other callers are scattered, and reading the
  /// last leaf would only fill the processor's cache.
  mutating func forgetLeaf() { unsafe lastLeaf = nil }

  /// Looks up a key.
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
    // Successive keys are mostly close to each other.
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

  /// Searches the leaf of the last search; `nil` if the key may be on another one.
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

  /// Searches a leaf, first at the position that the key has if the keys have no gaps.
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

  /// The last node whose key is not above a given one, or the first node.
  ///
  /// The first key of a branch is not read: it stands for everything before the second.
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
      // Marked as likely, so that it stays a branch. A conditional move would wait for the key to
      // arrive from memory, while a predicted branch already loads the next node.
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

  /// The value on overflow pages.
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

  /// The address of a page; `nil` if it lies behind the end of the file.
  @inline(__always)
  private func start(ofPage number: UInt64) -> UnsafeRawPointer? {
    guard number < pageCount else { return nil }
    return unsafe map + Int(number) &* pageSizeInBytes
  }

  /// A page before the end of the file, which is mapped.
  @unsafe
  @_lifetime(immortal)
  @inline(__always)
  private func page(at start: UnsafeRawPointer) -> Page {
    unsafe Page(at: start, byteCount: pageSizeInBytes)
  }
}

/// A key that a search compares with those of nodes.
private protocol PageKey {
  /// Whether it sorts before another key; `nil` if they can't be compared.
  @unsafe func isBelow(_ other: UnsafeRawBufferPointer) -> Bool?
  /// Whether it equals another key; `nil` if they can't be compared.
  @unsafe func isEqual(to other: UnsafeRawBufferPointer) -> Bool?
  /// How many keys are possible from another one to this one; `nil` if unknown.
  @unsafe func distance(from other: UnsafeRawBufferPointer) -> Int?
}

/// A number: a key of eight bytes in a table whose keys all have eight.
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
      // In bounds: the last eight bytes may overlap the previous ones.
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
