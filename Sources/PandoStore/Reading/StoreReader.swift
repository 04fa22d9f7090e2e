import PandoLMDB
import PandoModels

/// Reads rows of the store in one version: the vocabulary that snapshots, transactions, checks and
/// dumps share.
///
/// A view like the LMDB snapshot it holds: it can't outlive it. One thread at a time.
struct StoreReader: ~Escapable {
  let snapshot: Snapshot
  let tables: StoreTables
  let directory: TypeDirectory
  /// The transaction under way whose rows this reads; `nil` for a committed version.
  let pending: WriteContext?

  @_lifetime(copy snapshot)
  init(_ snapshot: Snapshot, tables: StoreTables, directory: TypeDirectory, pending: WriteContext?)
  {
    self.snapshot = snapshot
    self.tables = tables
    self.directory = directory
    self.pending = pending
  }
}

extension StoreReader {
  /// False inside a write transaction, whose rows may yet be undone.
  var isCommitted: Bool { pending == nil }

  /// The counters; in a transaction as it has made them so far.
  func state(path: String) throws -> StoreState? {
    // The row is written once per flush, after all its writes.
    if let pending { return pending.state.counters }
    let key = StoreState.key
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return nil
    }
    return try StoreState(bytes, path: path)
  }

  /// The number of the node with an identifier.
  func node(_ identifier: String) throws -> UInt64? {
    guard identifier.utf8.count <= IdentifierKey.shortByteCountMaximum else {
      return try longNode(identifier)
    }
    guard !identifier.isEmpty,
      let bytes = try snapshot.bytes(
        forKey: identifier.utf8Span.span, in: tables.identifiers)
    else { return nil }
    guard let node = ByteFields.littleEndian(bytes, at: 0, width: 8) else {
      throw StoreError.damaged(identifier, "its identifier row is malformed")
    }
    return node
  }

  private func longNode(_ identifier: String) throws -> UInt64? {
    let key = IdentifierKey(identifier)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.identifiers) else {
      return nil
    }
    guard let node = ByteFields.littleEndian(bytes, at: 0, width: 8) else {
      throw StoreError.damaged(identifier, "its identifier row is malformed")
    }
    guard bytes.extracting(8..<bytes.count).hasSameBytes(as: identifier.utf8Span.span) else {
      throw StoreError(
        .invalidModel, String(identifier.prefix(40)) + "…",
        "has the same first 495 bytes and the same 128-bit hash as another identifier")
    }
    return node
  }

  /// The row of a node, with its records.
  @_lifetime(copy self)
  func nodeRow(_ node: UInt64) throws -> NodeRow? {
    let key = IntegerKey(node)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.nodes) else {
      return nil
    }
    return try NodeRow(bytes, node: node)
  }

  func contains(node: UInt64) throws -> Bool {
    let key = IntegerKey(node)
    return try snapshot.contains(key: key.bytes.span, in: tables.nodes)
  }

  /// What the row of a node says beside its records.
  func summary(of node: UInt64) throws -> NodeSummary? {
    guard let row = try nodeRow(node) else { return nil }
    return try NodeSummary(row, node: node)
  }

  /// The same of a node that other rows speak of.
  ///
  /// - Throws: ``StoreError`` `damaged` when there is none.
  func requiredSummary(of node: UInt64) throws -> NodeSummary {
    guard let row = try summary(of: node) else { throw Self.missingRow(node) }
    return row
  }

  func identifier(of node: UInt64) throws -> String {
    guard let row = try nodeRow(node) else { throw Self.missingRow(node) }
    return try row.identifier(node: node)
  }

  private static func missingRow(_ node: UInt64) -> StoreError {
    .damaged("node \(node)", "rows refer to it but it has no row of its own")
  }

  func typeRow(named name: String) throws -> TypeRow? {
    let key = Array(name.utf8)
    guard !key.isEmpty, key.count <= ModelTypeName.byteCountMaximum,
      let bytes = try snapshot.bytes(forKey: key.span, in: tables.types)
    else { return nil }
    return try TypeRow(bytes, name: name)
  }

  func forEachType(_ body: (String, TypeRow) throws -> Void) throws {
    try snapshot.scan(tables.types) { key, value in
      let name = try Self.text(key, "type name")
      try body(name, TypeRow(value, name: name))
      return true
    }
  }

  static func text(_ bytes: Span<UInt8>, _ what: String) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw StoreError.damaged(what, "it is not UTF-8")
    }
    return text
  }

  /// The parents of a node in key order: the record or collection that holds it, and how.
  func forEachParent(
    of node: UInt64, _ body: (RecordKey, EdgeKinds) throws -> Bool
  ) throws {
    let key = IntegerKey(node)
    let prefix = (0..<8).map { key.bytes[$0] }
    try snapshot.scan(tables.parents, prefix: prefix) { key, value in
      guard let number = ByteFields.bigEndian(key, at: 8), key.count == 16 else {
        throw Self.malformedEdge(of: node)
      }
      let parent = RecordKey(rawValue: number)
      guard value.count == (parent.isCollection ? ParentKey.occurrenceByteCount : 1) else {
        throw Self.malformedEdge(of: node)
      }
      return try body(parent, parent.isCollection ? .element : EdgeKinds(rawValue: value[0]))
    }
  }

  private static func malformedEdge(of node: UInt64) -> StoreError {
    .damaged("node \(node)", "a row of the dependency index is malformed")
  }

  /// In how many elements of a collection a node is.
  func occurrenceCount(of node: UInt64, inCollection number: UInt64) throws -> Int {
    let key = ParentKey(child: node, parent: RecordKey(collection: number))
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.parents) else {
      return 0
    }
    let width = ParentKey.occurrenceByteCount
    guard bytes.count == width, let count = ByteFields.littleEndian(bytes, at: 0, width: width)
    else { throw Self.malformedEdge(of: node) }
    return Int(count)
  }

  func hasParents(_ node: UInt64) throws -> Bool {
    var found = false
    try forEachParent(of: node) { _, _ in
      found = true
      return false
    }
    return found
  }

  /// The number of the collection with a cache key.
  func collection(_ cacheKey: String) throws -> UInt64? {
    guard !cacheKey.isEmpty else { return nil }
    let key = try CollectionKey(cacheKey)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.collections) else {
      return nil
    }
    guard let number = ByteFields.littleEndian(bytes, at: 0, width: 8) else {
      throw StoreError.damaged(cacheKey, "its collection row is malformed")
    }
    return number
  }
}

extension StoreReader {
  /// The cache key of a collection number.
  func cacheKey(ofCollection number: UInt64) throws -> String {
    let key = IntegerKey(number)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.collectionNames) else {
      throw StoreError.damaged("collection \(number)", "it has no cache key")
    }
    return try Self.text(bytes, "the cache key of collection \(number)")
  }
}
