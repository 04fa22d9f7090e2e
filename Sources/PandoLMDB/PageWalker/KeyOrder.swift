import PandoSystem

/// How a tree sorts its keys: the comparisons liblmdb 0.9.24 chooses by a table's flags.
///
/// A comparison which a program has set itself (`mdb_set_compare`) is not recorded in the file.
enum KeyOrder {
  /// Byte by byte, a prefix first.
  case bytes
  /// Byte by byte from the end, a suffix first.
  case reversedBytes
  /// As unsigned integers of the machine's byte order, all of one size.
  case integer

  /// The order of a table's keys.
  init(keysOf record: TreeRecord) {
    if record.has(PageFormat.TableFlags.reverseKey) {
      self = .reversedBytes
    } else {
      self = record.has(PageFormat.TableFlags.integerKey) ? .integer : .bytes
    }
  }

  /// The order of the values under one key, in a table with duplicates.
  init(duplicatesOf record: TreeRecord) {
    if record.has(PageFormat.TableFlags.integerDuplicates) {
      self = .integer
    } else {
      self = record.has(PageFormat.TableFlags.reverseDuplicates) ? .reversedBytes : .bytes
    }
  }

  /// Less than, equal to or greater than zero, as `left` sorts before, with or after `right`.
  func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    switch self {
    case .bytes:
      let common = min(left.count, right.count)
      let order = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
          // An empty span may have no address; memcmp wants one even for no bytes.
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
