import PandoLMDB
import PandoModels

extension WriteContext {
  /// Remembers that nodes were removed by the write that ends, if their kind is to be remembered.
  ///
  /// - Parameters:
  ///   - identifiers: The nodes that are gone.
  ///   - number: The number of the commit.
  /// - Throws: `LMDBError` when the disk refuses.
  func rememberRemovals(of identifiers: [String], commitNumber number: UInt64) throws {
    guard !identifiers.isEmpty else { return }
    let namespaces = try orderNamespaces()
    guard !namespaces.isEmpty else { return }
    for identifier in identifiers where namespaces.contains(identifier) {
      try deleteRow(OrderKey.rank(identifier).span, in: tables.meta)
      guard !state.placedRemovals.contains(ByteString(identifier)) else { continue }
      try rememberRemoval(of: identifier, place: WritePlace.of(commit: number))
    }
  }

  /// Remembers that a node was removed, whether it was there or not.
  func rememberRemoval(of identifier: String, place: UInt64) throws {
    try putMark(OrderMark(.removed, place: place), of: identifier)
    var removals = try reading { try $0.removals() }
    removals.count += 1
    if removals.count > OrderSweep.countMaximum { try sweep(&removals) }
    let bytes = removals.bytes
    let key = OrderKey.removals
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  func putMark(_ mark: OrderMark, of identifier: String) throws {
    let bytes = mark.bytes
    let key = OrderKey.mark(identifier)
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  /// Forgets the oldest removals, so that half as many are left as there may be.
  private func sweep(_ removals: inout OrderSweep) throws {
    var found: [(place: UInt64, key: [UInt8])] = []
    try reading { reader in
      try reader.snapshot.scan(tables.meta, prefix: OrderKey.markPrefix) { key, value in
        let mark = try OrderMark(value, identifier: "order of writes")
        if mark.kind == .removed { found.append((mark.place, Array(copying: key))) }
        return true
      }
    }
    found.sort { $0.place < $1.place }
    // Fewer than were counted, where one node was removed again and again.
    let forgotten = found.prefix(max(0, found.count - Int(OrderSweep.countMaximum) / 2))
    for entry in forgotten { try deleteRow(entry.key.span, in: tables.meta) }
    removals.count = UInt64(found.count - forgotten.count)
    removals.forgottenPlace = max(removals.forgottenPlace, forgotten.last?.place ?? 0)
  }

  /// Which identifiers leave a mark when they are removed; read once a flush.
  private func orderNamespaces() throws -> OrderNamespaces {
    if let known = state.orderNamespaces { return known }
    let namespaces = try reading { reader in
      let key = OrderKey.namespaces
      return try OrderNamespaces(reader.snapshot.bytes(forKey: key.span, in: tables.meta))
    }
    state.orderNamespaces = namespaces
    return namespaces
  }

  /// Has removals of nodes remembered from now on, by this process and all others.
  func keepOrder(ofNamespace namespace: String) throws {
    var namespaces = try orderNamespaces()
    guard namespaces.insert(namespace) else { return }
    let bytes = namespaces.bytes
    let key = OrderKey.namespaces
    try put(bytes.span, forKey: key.span, in: tables.meta)
    state.orderNamespaces = namespaces
  }
}
