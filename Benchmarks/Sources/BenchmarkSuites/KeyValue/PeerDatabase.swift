import CPeerSupport
import Pando

/// A key-value system whose loops are written in C.
final class PeerDatabase: KeyValueDatabase {
  private let title: String
  private let system: kv_system
  /// Used by any thread; the C code locks where it must.
  private nonisolated(unsafe) let database: OpaquePointer

  init(
    _ title: String, _ system: kv_system, path: String, mapSizeInBytes: Int,
    _ durability: kv_durability
  ) throws {
    self.title = title
    self.system = system
    var database: OpaquePointer?
    try Self.check(title, system, system.open(path, mapSizeInBytes, durability, &database))
    guard let database else { preconditionFailure("a database that was opened is not nil") }
    self.database = database
  }

  func makeSession() throws -> any KeyValueSession {
    var session: OpaquePointer?
    try Self.check(title, system, system.begin(database, &session))
    guard let session else { preconditionFailure("a session that was begun is not nil") }
    return PeerSession(title, system, session)
  }

  func settle() throws { try Self.check(title, system, system.settle(database)) }

  func close() { system.close(database) }

  /// Throws unless a status is 0.
  fileprivate static func check(_ title: String, _ system: kv_system, _ status: CInt) throws {
    guard status == 0 else {
      let message = system.message(status).map { String(cString: $0) } ?? "\(status)"
      throw BenchmarkError(.system, "\(title): \(message)")
    }
  }
}

private final class PeerSession: KeyValueSession {
  private let title: String
  private let system: kv_system
  private let session: OpaquePointer

  init(_ title: String, _ system: kv_system, _ session: OpaquePointer) {
    self.title = title
    self.system = system
    self.session = session
  }

  deinit { system.end(session) }

  func write(
    _ rows: KeyValueRows, _ order: [UInt32], rowsPerCommit: Int, _ latencies: Latencies?
  ) throws {
    try rows.withPeerRows { rows in
      var rows = rows
      try check(
        system.write(session, &rows, order, order.count, rowsPerCommit, latencies?.counters))
    }
  }

  func read(_ keys: KeyValueKeys, each: Bool, _ latencies: Latencies?) throws -> KeyValueSeen {
    try seeing { seen in
      system.read(
        session, keys.bytes, keys.keyByteCount, keys.count, each ? 1 : 0, latencies?.counters,
        &seen)
    }
  }

  func walk(reversed: Bool, _ latencies: Latencies?) throws -> KeyValueSeen {
    try seeing { system.walk(session, reversed ? 1 : 0, latencies?.counters, &$0) }
  }

  func seek(_ keys: KeyValueKeys, rowCount: Int, _ latencies: Latencies?) throws -> KeyValueSeen {
    try seeing { seen in
      system.seek(
        session, keys.bytes, keys.keyByteCount, keys.count, rowCount, latencies?.counters,
        &seen)
    }
  }

  func hash() throws -> UInt64 {
    var hash: UInt64 = 0
    try check(system.hash(session, &hash))
    return hash
  }

  private func seeing(_ body: (inout kv_seen) -> CInt) throws -> KeyValueSeen {
    var seen = kv_seen()
    try check(body(&seen))
    return KeyValueSeen(checksum: seen.checksum, count: seen.count)
  }

  private func check(_ status: CInt) throws { try PeerDatabase.check(title, system, status) }
}

extension Durability {
  /// The name in C, of the level at which a system promises the same.
  ///
  /// With a log, commits in order take no flush; C on LMDB promises nothing without one.
  func peer(of system: System) -> kv_durability {
    switch self {
    case .full: KV_FULL
    case .consistent: KV_CONSISTENT
    case .relaxed: system == .lmdb ? KV_UNSYNCHRONIZED : KV_CONSISTENT
    case .unsynchronized: KV_UNSYNCHRONIZED
    }
  }
}
