import PandoRecords
import PandoReplication
import PandoStore

/// Messages as somebody makes them who is not a replica.
extension [UInt8] {
  /// The bytes with a checksum that fits.
  func sealed() -> [UInt8] {
    let body = Array(dropLast(8))
    let checksum = body.withUnsafeBytes { XXHash64.hash($0) }
    return body + (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
  }

  /// The bytes as a later version would write them.
  func newer(by count: UInt8 = 1) -> [UInt8] {
    var bytes = self
    bytes[4] = EntryLimits.version + count
    return bytes.sealed()
  }
}

extension EntryIdentity {
  /// The identity of somebody who is not a replica.
  static func stranger(_ counter: UInt64 = 1) -> EntryIdentity {
    EntryIdentity(origin: [UInt8](repeating: 7, count: 16), counter: counter)
  }
}

extension ModelStore {
  /// How far it has come in its log.
  func position() throws -> UInt64? { try read { try $0.replicationRow?.position } }

  /// An entry as somebody makes it who has come as far.
  func entry(_ writes: [WriteEffects] = [], counter: UInt64 = 1) throws -> Entry {
    try read { snapshot in
      let row =
        try snapshot.replicationRow
        ?? ReplicationRow(
          log: [UInt8](repeating: 0, count: 16), position: 0, chain: EntryChain())
      return Entry(
        .stranger(counter), base: row.position, baseCommit: try snapshot.replicationStart.commit,
        chain: row.chain, writes: writes)
    }
  }
}
