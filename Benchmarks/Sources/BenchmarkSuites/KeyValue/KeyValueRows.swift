import CPeerSupport

/// Rows of one size, in one block each for keys and values.
struct KeyValueRows: Sendable {
  let keys: [UInt8]
  let values: [UInt8]
  let keyByteCount: Int
  let valueByteCount: Int

  /// The rows in C.
  func withPeerRows<Result>(_ body: (kv_rows) throws -> Result) rethrows -> Result {
    try keys.withUnsafeBufferPointer { keys in
      try values.withUnsafeBufferPointer { values in
        try body(
          kv_rows(
            keys: keys.baseAddress, values: values.baseAddress, key_size: keyByteCount,
            value_size: valueByteCount))
      }
    }
  }
}

/// Keys of one size to look up, in one block.
struct KeyValueKeys: Sendable {
  let bytes: [UInt8]
  let keyByteCount: Int

  var count: Int { bytes.count / keyByteCount }

  /// The first keys.
  func prefix(_ count: Int) -> KeyValueKeys {
    KeyValueKeys(bytes: Array(bytes.prefix(count * keyByteCount)), keyByteCount: keyByteCount)
  }
}
