import PandoSystem

/// A tree during a walk: the stated figures in its record, and the figures found so far.
struct PageTree {
  /// The purpose of a tree, which determines its contents.
  enum Kind {
    case freeList, main, named
  }

  let kind: Kind
  /// The bytes of a named table's name.
  let name: [UInt8]?
  /// The name of the tree in problems and reports.
  let label: String
  let record: TreeRecord
  let order: KeyOrder
  /// The possible sizes of a key.
  let keyByteCounts: ClosedRange<Int>
  /// Whether the visitor receives the entries.
  var isVisited = false

  var branchPages: UInt64 = 0
  var leafPages: UInt64 = 0
  var overflowPages: UInt64 = 0
  var entries: UInt64 = 0
  var contentByteCount: UInt64 = 0
  /// The size of integer keys, once one was found.
  var integerByteCount: Int?
  /// Whether the walk covered all of it, so that the figures above are complete.
  var isWhole = true

  init(freeListOf meta: MetaRecord) {
    self.init(
      kind: .freeList, name: nil, label: "free list", record: meta.freeList, order: .integer)
  }

  init(mainOf meta: MetaRecord) {
    let order = KeyOrder(keysOf: meta.main)
    self.init(kind: .main, name: nil, label: "main table", record: meta.main, order: order)
  }

  init(name: [UInt8], record: TreeRecord) {
    let label = "table \"\(String(decoding: name, as: UTF8.self))\""
    let order = KeyOrder(keysOf: record)
    self.init(kind: .named, name: name, label: label, record: record, order: order)
  }

  private init(kind: Kind, name: [UInt8]?, label: String, record: TreeRecord, order: KeyOrder) {
    self.kind = kind
    self.name = name
    self.label = label
    self.record = record
    self.order = order
    switch kind {
    case .freeList: keyByteCounts = 8...8
    case .main, .named: keyByteCounts = 1...PageFormat.keyByteCountMax
    }
  }
}

/// The order of keys in a tree: liblmdb 0.9.24 chooses it by the table's flags.
///
/// The file does not record a program's own comparison (`mdb_set_compare`).
enum KeyOrder {
  /// Byte by byte, a prefix first.
  case bytes
  /// Byte by byte from the end, a suffix first.
  case reversedBytes
  /// As unsigned integers in the machine's byte order, all of one size.
  case integer

  /// The order of a table's keys.
  init(keysOf record: TreeRecord) {
    if record.has(PageFormat.TableFlags.reverseKey) {
      self = .reversedBytes
    } else {
      self = record.has(PageFormat.TableFlags.integerKey) ? .integer : .bytes
    }
  }

  /// Less than, equal to or above zero if `left` sorts before, with or after `right`.
  func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    switch self {
    case .bytes:
      let common = min(left.count, right.count)
      let order = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
          // An empty span may have no address, which memcmp does not accept.
          guard let left = left.baseAddress, let right = right.baseAddress else { return Int32(0) }
          return unsafe memcmp(left, right, common)
        }
      }
      return order != 0 ? Int(order) : left.count - right.count
    case .reversedBytes, .integer:
      for distance in 0..<min(left.count, right.count) {
        let leftByte = Int(left[left.count - 1 - distance])
        let rightByte = Int(right[right.count - 1 - distance])
        if leftByte != rightByte { return leftByte - rightByte }
      }
      return left.count - right.count
    }
  }
}
