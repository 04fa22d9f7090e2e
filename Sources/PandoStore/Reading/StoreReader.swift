import PandoLMDB
import PandoModels
import PandoRecords
import PandoSystem

/// The rows that a transaction writes once at its end, in their present state.
protocol PendingRows: AnyObject {
  var counters: StoreState { get }
  /// The change sets that are in no table yet; `nil` if the transaction has added none.
  var newestChanges: NewestChanges? { get }
  /// The present number of records of a type; `nil` if the transaction has not used the type.
  func recordCount(ofTypeNamed name: String) -> UInt64?
  /// A changed row of nodes by type; `nil` if the transaction has not changed it.
  func typeBlock(_ number: UInt64) -> TypeBlock?
  /// The numbers of the changed rows of a type, in any order.
  func typeBlockNumbers(ofType type: UInt32) -> [UInt64]
}

/// Reads rows of the store in one version; shared by snapshots, transactions, checks and dumps.
///
/// A view like its LMDB snapshot, which it can't outlive. One thread at a time.
struct StoreReader: ~Escapable {
  let snapshot: Snapshot
  let tables: StoreTables
  let directory: TypeDirectory
  /// The unwritten rows of the transaction under way; `nil` for a committed version.
  let pending: (any PendingRows)?

  @_lifetime(copy snapshot)
  init(
    _ snapshot: Snapshot, tables: StoreTables, directory: TypeDirectory, pending: (any PendingRows)?
  ) {
    self.snapshot = snapshot
    self.tables = tables
    self.directory = directory
    self.pending = pending
  }
}

extension StoreReader {
  /// `false` inside a write transaction, which may still be rolled back.
  var isCommitted: Bool { pending == nil }

  /// The counters, including those of the transaction under way.
  func state(path: String) throws -> StoreState? {
    // The row is written once per flush, after all its writes.
    if let pending { return pending.counters }
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
    guard let node = bytes.littleEndian(at: 0) else {
      throw StoreError.damaged(identifier, "its identifier row is malformed")
    }
    return node
  }

  /// Calls a closure with the nodes and the bytes of their identifiers, in key order.
  func forEachIdentifier(
    prefix: [UInt8] = [], _ body: (UInt64, Span<UInt8>) throws -> Bool
  ) throws {
    try snapshot.scan(tables.identifiers, prefix: prefix) { key, value in
      guard let node = value.littleEndian(at: 0) else {
        throw StoreError.damaged("identifiers", "a row is malformed")
      }
      return try body(node, value.count > 8 ? value.extracting(8..<value.count) : key)
    }
  }

  private func longNode(_ identifier: String) throws -> UInt64? {
    let key = IdentifierKey(identifier)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.identifiers) else {
      return nil
    }
    guard let node = bytes.littleEndian(at: 0) else {
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

  /// The fields of a node's row beside its records.
  func summary(of node: UInt64) throws -> NodeSummary? {
    guard let row = try nodeRow(node) else { return nil }
    return try NodeSummary(row, node: node)
  }

  /// The same for a node that other rows refer to.
  ///
  /// - Throws: ``StoreError`` `damaged` if there is none.
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
    guard !name.isEmpty, name.utf8.count <= ModelTypeName.byteCountMaximum,
      let bytes = try snapshot.bytes(forKey: name.utf8Span.span, in: tables.types)
    else { return nil }
    return try TypeRow(bytes, name: name)
  }

  func forEachType(_ body: (String, TypeRow) throws -> Void) throws {
    try snapshot.scan(tables.types) { key, value in
      let name = try key.text("type name")
      try body(name, TypeRow(value, name: name))
      return true
    }
  }

  /// Calls a closure with the parents of a node and the kinds of edges, in key order.
  func forEachParent(
    of node: UInt64, _ body: (RecordKey, EdgeKinds) throws -> Bool
  ) throws {
    let key = IntegerKey(node)
    let prefix = (0..<8).map { key.bytes[$0] }
    try snapshot.scan(tables.parents, prefix: prefix) { key, value in
      guard let number = key.bigEndian(at: 8), key.count == 16 else {
        throw Self.malformedEdge(of: node)
      }
      let parent = RecordKey(rawValue: number)
      guard value.count == (parent.isCollection ? Occurrence.byteCount : 1) else {
        throw Self.malformedEdge(of: node)
      }
      return try body(parent, parent.isCollection ? .element : EdgeKinds(rawValue: value[0]))
    }
  }

  private static func malformedEdge(of node: UInt64) -> StoreError {
    .damaged("node \(node)", "a row of the dependency index is malformed")
  }

  /// The number of elements of a collection that are the node, or its leaf.
  func occurrence(of node: UInt64, inCollection number: UInt64) throws -> Occurrence {
    let key = ParentKey(child: node, parent: RecordKey(collection: number))
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.parents) else {
      return Occurrence(count: 0)
    }
    guard let occurrence = Occurrence(bytes) else { throw Self.malformedEdge(of: node) }
    return occurrence
  }

  func hasParents(_ node: UInt64) throws -> Bool {
    var found = false
    try forEachParent(of: node) { _, _ in
      found = true
      return false
    }
    return found
  }
}

extension StoreReader {
  /// The nodes with a record of a type, in numerical order.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - first: The lowest node to return.
  /// - Returns: The nodes; each row is read when it is reached.
  /// - Throws: ``StoreError`` for damaged rows.
  func nodes(ofType type: UInt32, from first: UInt64 = 0) throws -> TypeNodes {
    let firstRow = TypeBlock.number(of: RecordKey(type: type, node: first))
    return TypeNodes(
      rows: try typeBlockNumbers(ofType: type).filter { $0 >= firstRow }[...], first: first)
  }

  /// Calls a closure with the nodes of a type below a number, descending, until it returns `false`.
  ///
  /// - Throws: The error of `body`; ``StoreError`` for damaged rows.
  func forEachNode(
    ofType type: UInt32, below end: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    let lastRow = TypeBlock.number(of: RecordKey(type: type, node: end))
    for row in try typeBlockNumbers(ofType: type).reversed() where row <= lastRow {
      for node in try typeBlock(row)?.nodes(ofRow: row).reversed() ?? [] where node < end {
        guard try body(node) else { return }
      }
    }
  }

  /// The numbers of the rows with nodes of a type, including those that a transaction has not
  /// written yet.
  private func typeBlockNumbers(ofType type: UInt32) throws -> [UInt64] {
    let prefix = [UInt8(truncatingIfNeeded: type >> 8), UInt8(truncatingIfNeeded: type)]
    var numbers: [UInt64] = []
    try snapshot.scan(tables.nodesByType, prefix: prefix) { key, _ in
      guard let number = key.bigEndian(at: 0), key.count == 8 else {
        throw StoreError.damaged(
          "type number \(type)", "a key of its nodes has \(key.count) bytes instead of 8")
      }
      numbers.append(number)
      return true
    }
    guard let pending else { return numbers }
    return Set(numbers).union(pending.typeBlockNumbers(ofType: type)).ordered()
  }

  /// The nodes with a record of any of some types and none of another, ascending.
  ///
  /// - Complexity: O(*b*) for *b* rows of nodes by type; once per version and list of types.
  func nodes(ofTypesNamed others: [String], lacking typeName: String) throws -> [UInt64] {
    try directory.catalog.nodes(of: [typeName] + others, in: self) {
      let own = try typeRow(named: typeName)?.number
      var nodes: [UInt64] = []
      for other in others {
        guard let type = try typeRow(named: other)?.number else { continue }
        for number in try typeBlockNumbers(ofType: type) {
          guard var block = try typeBlock(number) else { continue }
          if let own, let same = try typeBlock(TypeBlock.row(number, ofType: own)) {
            block.subtract(same)
          }
          nodes += block.nodes(ofRow: number)
        }
      }
      nodes.sortDistinct()
      return nodes
    }
  }

  /// The present nodes of a row; `nil` if there is no such row.
  func typeBlock(_ number: UInt64) throws -> TypeBlock? {
    if let changed = pending?.typeBlock(number) { return changed }
    return try storedTypeBlock(number)
  }

  /// The nodes of a row at the begin of the flush.
  func storedTypeBlock(_ number: UInt64) throws -> TypeBlock? {
    let key = IntegerKey(number)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.nodesByType) else {
      return nil
    }
    return try TypeBlock(bytes, type: TypeBlock.type(ofRow: number))
  }

  /// The body of a record that is listed among the nodes of its type, with a checked checksum.
  @_lifetime(copy self)
  func countedBody(of key: RecordKey) throws -> Span<UInt8> {
    guard let found = try body(of: key) else {
      throw damagedRecord(key, "it is counted among the nodes of its type but is missing")
    }
    return found
  }
}

/// The nodes with a record of a type, one after the other.
///
/// Between two of them, anything may be read.
struct TypeNodes {
  /// The remaining rows.
  var rows: ArraySlice<UInt64>
  /// The lowest node to return.
  let first: UInt64
  private var nodes: ArraySlice<UInt64> = []

  init(rows: ArraySlice<UInt64>, first: UInt64) {
    self.rows = rows
    self.first = first
  }

  /// The next node; `nil` after the last one.
  mutating func next(_ reader: borrowing StoreReader) throws -> UInt64? {
    while true {
      if let node = nodes.popFirst() {
        if node >= first { return node }
      } else {
        guard let row = rows.popFirst() else { return nil }
        nodes = try reader.typeBlock(row)?.nodes(ofRow: row)[...] ?? []
      }
    }
  }
}
