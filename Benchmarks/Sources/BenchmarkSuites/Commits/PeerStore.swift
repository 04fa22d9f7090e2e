import CPeerLMDB
import Pando

/// Plain C on LMDB with the tables of a Pando store.
final class PeerStore: @unchecked Sendable {
  // The C code lets writers take turns.
  private let store: OpaquePointer

  init(_ directory: WorkingDirectory, _ durability: Durability) throws {
    var store: OpaquePointer?
    try Self.check(peer_store_open(directory.path, 8 << 30, durability.peer(of: .lmdb), &store))
    guard let store else { preconditionFailure("an environment that was opened is not nil") }
    self.store = store
  }

  deinit {
    peer_store_close(store)
  }

  /// Stores nodes, so many in each commit.
  func put(_ nodes: ArraySlice<peer_node>, perCommit: Int, _ latencies: Latencies?) throws {
    try nodes.withUnsafeBufferPointer { nodes in
      try Self.check(
        peer_store_put(store, nodes.baseAddress, nodes.count, perCommit, latencies?.counters))
    }
  }

  /// Finds nodes and their children; the checksum is of their numbers.
  func get(_ nodes: [peer_node], each: Bool, _ latencies: Latencies?) throws -> UInt64 {
    var seen = kv_seen()
    try Self.check(
      peer_store_get(store, nodes, nodes.count, each ? 1 : 0, latencies?.counters, &seen))
    return seen.checksum
  }

  /// A hash of all identifiers in byte order (FNV-1a).
  func hashOfIdentifiers() throws -> UInt64 {
    var hash: UInt64 = 0
    try Self.check(peer_store_hash(store, &hash))
    return hash
  }

  private static func check(_ status: CInt) throws {
    guard status == 0 else {
      throw BenchmarkError(.system, "C on LMDB: \(String(cString: peer_store_message(status)))")
    }
  }
}
