import PandoLMDB
import PandoModels
import PandoSystem

extension WriteSession {
  /// Writes tombstones for the nodes that the write removed, if their namespace keeps them.
  ///
  /// - Parameters:
  ///   - identifiers: The removed nodes.
  ///   - number: The number of the commit.
  /// - Throws: `LMDBError` if the disk fails.
  func putTombstones(of identifiers: [String], commitNumber number: UInt64) throws {
    guard !identifiers.isEmpty, !state.forgetsOrder else { return }
    let namespaces = try tombstoneNamespaces()
    guard !namespaces.isEmpty else { return }
    for identifier in identifiers where namespaces.contains(identifier) {
      try deleteRow(SequenceKey.rank(identifier).span, in: tables.meta)
      guard !state.numberedRemovals.contains(ByteString(identifier)) else { continue }
      try putTombstone(of: identifier, sequenceNumber: SequenceNumber.of(commit: number))
    }
  }

  /// Writes a tombstone for a node, whether it existed or not.
  func putTombstone(of identifier: String, sequenceNumber: UInt64) throws {
    try putSequenceRow(SequenceRow(.tombstone, sequenceNumber: sequenceNumber), of: identifier)
    var tombstones = try reading { try $0.tombstones() }
    tombstones.count += 1
    if tombstones.count > Tombstones.countMaximum { try forgetOldest(&tombstones) }
    let bytes = tombstones.bytes
    let key = SequenceKey.tombstones
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  func putSequenceRow(_ row: SequenceRow, of identifier: String) throws {
    let bytes = row.bytes
    let key = SequenceKey.row(identifier)
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  /// Deletes the oldest tombstones down to half of the maximum.
  private func forgetOldest(_ tombstones: inout Tombstones) throws {
    var found: [(sequenceNumber: UInt64, key: [UInt8])] = []
    try reading { reader in
      try reader.snapshot.scan(tables.meta, prefix: SequenceKey.rowPrefix) { key, value in
        let row = try SequenceRow(value, identifier: "order of writes")
        if row.kind == .tombstone { found.append((row.sequenceNumber, Array(copying: key))) }
        return true
      }
    }
    found = found.ordered { $0.sequenceNumber < $1.sequenceNumber }
    // Fewer than counted, if a node was removed repeatedly.
    let forgotten = found.prefix(max(0, found.count - Int(Tombstones.countMaximum) / 2))
    for entry in forgotten { try deleteRow(entry.key.span, in: tables.meta) }
    tombstones.count = UInt64(found.count - forgotten.count)
    tombstones.forgottenSequenceNumber = max(
      tombstones.forgottenSequenceNumber, forgotten.last?.sequenceNumber ?? 0)
  }

  /// Deletes all rows about the order of writes.
  ///
  /// All earlier writes are now outdated, as if every node had been removed.
  func forgetOrder() throws {
    var keys: [[UInt8]] = []
    try reading { reader in
      for prefix in [SequenceKey.rowPrefix, SequenceKey.rankPrefix] {
        try reader.snapshot.scan(tables.meta, prefix: prefix) { key, _ in
          keys.append(Array(copying: key))
          return true
        }
      }
    }
    for key in keys { try deleteRow(key.span, in: tables.meta) }
    var tombstones = Tombstones()
    tombstones.forgottenSequenceNumber = SequenceNumber.of(commit: nextCommitNumber)
    let key = SequenceKey.tombstones
    try put(tombstones.bytes.span, forKey: key.span, in: tables.meta)
    state.forgetsOrder = true
  }

  /// The namespaces whose removals leave a tombstone; read once per flush.
  private func tombstoneNamespaces() throws -> TombstoneNamespaces {
    if let known = state.tombstoneNamespaces { return known }
    let namespaces = try reading { reader in
      let key = SequenceKey.namespaces
      return try TombstoneNamespaces(reader.snapshot.bytes(forKey: key.span, in: tables.meta))
    }
    state.tombstoneNamespaces = namespaces
    return namespaces
  }

  /// Keeps tombstones of removed nodes from now on, in all processes.
  func keepTombstones(ofNamespace namespace: String) throws {
    var namespaces = try tombstoneNamespaces()
    guard namespaces.insert(namespace) else { return }
    let bytes = namespaces.bytes
    let key = SequenceKey.namespaces
    try put(bytes.span, forKey: key.span, in: tables.meta)
    state.tombstoneNamespaces = namespaces
  }
}
