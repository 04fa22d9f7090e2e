import CPeerLMDB

/// The key-value workloads in plain C on LMDB; every loop is in C.
final class PlainTable {
  private let peer: OpaquePointer

  init(path: String, mapSizeInBytes: Int) throws {
    var peer: OpaquePointer?
    try check(peer_lmdb_open(path, mapSizeInBytes, &peer))
    guard let peer else { preconditionFailure("an environment that was opened is not nil") }
    self.peer = peer
  }

  deinit {
    peer_lmdb_close(peer)
  }

  /// Stores all rows in one write transaction, in the order given, and commits durably.
  func put(_ data: KeyValueData) throws {
    try check(
      peer_lmdb_put(
        peer, data.keys, KeyValueData.keyByteCount, data.values, KeyValueData.valueByteCount,
        data.count))
  }

  /// Looks all keys up inside one read transaction.
  func get(_ data: KeyValueData) throws -> UInt64 {
    var checksum: UInt64 = 0
    try check(
      peer_lmdb_get(peer, data.lookups, KeyValueData.keyByteCount, data.count, &checksum))
    return checksum
  }

  /// Looks each key up in a read transaction of its own.
  func getEach(_ data: KeyValueData) throws -> UInt64 {
    var checksum: UInt64 = 0
    try check(
      peer_lmdb_get_each(peer, data.lookups, KeyValueData.keyByteCount, data.count, &checksum))
    return checksum
  }

  /// Walks the table in key order.
  func scan() throws -> (count: Int, checksum: UInt64) {
    var count = 0
    var checksum: UInt64 = 0
    try check(peer_lmdb_scan(peer, &count, &checksum))
    return (count, checksum)
  }

  /// A hash of every byte of every row, in key order (FNV-1a).
  func fingerprint() throws -> UInt64 {
    var fingerprint: UInt64 = 0
    try check(peer_lmdb_fingerprint(peer, &fingerprint))
    return fingerprint
  }
}

/// Throws unless a status of the C peer is 0.
private func check(_ status: CInt) throws {
  guard status == 0 else {
    throw BenchmarkError(.system, "C on LMDB: \(String(cString: peer_lmdb_message(status)))")
  }
}
