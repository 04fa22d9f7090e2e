import PandoLMDB
import PandoModels
import PandoRecords

/// Gives a record decoder the bytes of nodes during one read.
///
/// A model may keep a `Decoder`, which can't be non-escaping. So after ``end(_:)`` this source
/// throws `snapshotEnded`. One thread at a time, like its snapshot; the thread's next read of the
/// same store reuses it.
///
/// `handle`, `pending` and `childCount` belong to the current read; `numbers` stay valid for the
/// store.
@safe final class SnapshotSource: RecordSource, FieldChildren {
  private let tables: StoreTables
  private let directory: TypeDirectory
  /// Valid until ``end(_:)``, which the closure that made this source calls last; then `nil`.
  @exclusivity(unchecked) private var handle: UnsafeSnapshotHandle?
  @exclusivity(unchecked) private var pending: (any PendingRows)?
  /// Finds the rows of nodes in committed versions: a tree's nodes are mostly on one page.
  private let cursor: ReaderCursor
  /// Finds the numbers of nodes in committed versions.
  private let identifiers: ReaderCursor
  /// Type numbers of this store, which never change; a list, because trees have few types.
  @exclusivity(unchecked) private var numbers: [(type: ObjectIdentifier, number: UInt32)] = []
  private let decoder = KeptRecordDecoder()
  /// The number of children that were read since ``begin(_:)``.
  @exclusivity(unchecked) private(set) var childCount = 0

  private init(tables: StoreTables, directory: TypeDirectory) {
    self.tables = tables
    self.directory = directory
    cursor = ReaderCursor(tables.nodes, named: "nodes", hasNumberKeys: true)
    identifiers = ReaderCursor(tables.identifiers, named: "identifiers", hasNumberKeys: false)
  }

  private static let slot = ThreadSlot<SnapshotSource>()

  /// Makes or reuses a source; call ``end(_:)`` before the reader's snapshot ends.
  static func begin(_ reader: borrowing StoreReader) -> SnapshotSource {
    if let source = slot.take(), source.directory === reader.directory {
      source.start(reader)
      return source
    }
    let source = SnapshotSource(tables: reader.tables, directory: reader.directory)
    source.start(reader)
    return source
  }

  /// Uses a snapshot; nothing is retained in it for a committed version.
  private func start(_ reader: borrowing StoreReader) {
    let handle = reader.snapshot.unsafeHandle
    unsafe self.handle = handle
    unsafe childCount = 0
    if reader.isCommitted {
      cursor.begin(handle)
      identifiers.begin(handle)
    } else {
      unsafe pending = reader.pending
    }
  }

  /// Ends the reads from the snapshot.
  ///
  /// - Parameter source: The only reference to it, except those that models keep.
  static func end(_ source: inout SnapshotSource) {
    source.stop()
    if isKnownUniquelyReferenced(&source) { slot.put(source) }
  }

  /// Uses no snapshot any longer.
  private func stop() {
    unsafe handle = nil
    if unsafe pending != nil { unsafe pending = nil }
    cursor.end()
    identifiers.end()
  }

  var hasEnded: Bool { unsafe handle == nil }

  /// Decodes a value and the children in it.
  func decode<Value: Decodable>(
    _ type: Value.Type, from body: UnsafeRawBufferPointer
  ) throws -> Value {
    try unsafe decoder.decode(type, from: body, source: self)
  }

  /// Runs a closure with a reader of this source's snapshot.
  private func reading<Result>(
    _ body: (borrowing StoreReader) throws -> Result
  ) throws -> Result {
    guard let handle = unsafe handle else { throw ModelError.snapshotEnded }
    return try body(
      unsafe StoreReader(
        Snapshot(unsafeHandle: handle), tables: tables, directory: directory, pending: pending))
  }

  /// The record of a node as an untyped tree, with references to its children.
  func tree(_ key: RecordKey) throws -> TreeNode { try reading { try $0.treeNode(key, depth: 0) } }

  /// The record of a node of this type, or another one of the node; `nil` if it does not exist.
  func tree(_ identifier: String, _ typeName: String) throws -> TreeNode? {
    try reading { reader in
      guard let node = try reader.node(identifier) else { return nil }
      let type = try reader.directory.number(ofTypeNamed: typeName, in: reader)
      return try reader.recordKey(node: node, preferring: type).map {
        try reader.treeNode($0, depth: 0)
      }
    }
  }

  /// The identifiers of all children in a body.
  func children(in body: Span<UInt8>) throws -> QueryValue {
    try reading { try $0.children(in: body) }
  }

  /// The number of the node with an identifier; `nil` if there is none.
  func node(_ identifier: String) throws -> UInt64? {
    let count = identifier.utf8.count
    guard count > 0, count <= IdentifierKey.shortByteCountMaximum, unsafe pending == nil,
      unsafe handle != nil
    else { return try reading { try $0.node(identifier) } }
    guard let bytes = unsafe try identifiers.bytes(forKey: identifier.utf8Span.span) else {
      return nil
    }
    guard bytes.count >= 8 else { return try reading { try $0.node(identifier) } }
    // In bounds by the line above.
    return unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
  }

  /// The body of a record with a checked checksum; `nil` if there is no such record.
  func body(of record: RecordKey) throws -> UnsafeRawBufferPointer? {
    guard unsafe pending == nil, unsafe handle != nil else {
      return try unsafe slowBody(of: record)
    }
    let key = IntegerKey(record.node)
    guard let bytes = unsafe try cursor.bytes(forKey: key.bytes.span) else { return nil }
    // The bytes lie in the map until `end(_:)`.
    let row = try unsafe NodeRow(Span(_unsafeBytes: bytes), node: record.node)
    guard let index = row.index(ofType: record.type) else { return nil }
    let body = row.body(index)
    // A damaged record is read again by the function that reports it.
    guard row.header(index).matches(body) else { return try unsafe slowBody(of: record) }
    return unsafe body.withUnsafeBytes { unsafe $0 }
  }

  @inline(never)
  private func slowBody(of record: RecordKey) throws -> UnsafeRawBufferPointer? {
    try unsafe reading { reader in
      guard let body = try reader.body(of: record) else { return nil }
      return unsafe body.withUnsafeBytes { unsafe $0 }
    }
  }

  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer {
    unsafe childCount += 1
    let number = try number(of: type)
    guard unsafe pending == nil, unsafe handle != nil else {
      return try unsafe slowBody(reference, number)
    }
    let key = IntegerKey(reference.node)
    guard let bytes = unsafe try cursor.bytes(forKey: key.bytes.span) else {
      throw Self.missing(reference)
    }
    // The bytes lie in the map until `end(_:)`.
    let row = try unsafe NodeRow(Span(_unsafeBytes: bytes), node: reference.node)
    guard let index = row.index(preferring: number) else { throw Self.missing(reference) }
    let body = row.body(index)
    // A damaged record is read again by the function that reports it.
    guard row.header(index).matches(body) else { return try unsafe slowBody(reference, number) }
    return unsafe body.withUnsafeBytes { unsafe $0 }
  }

  @inline(never)
  private func slowBody(
    _ reference: RecordReference, _ number: UInt32?
  ) throws -> UnsafeRawBufferPointer {
    try unsafe reading { reader in
      guard let body = try reader.body(ofNode: reference.node, preferring: number) else {
        throw Self.missing(reference)
      }
      return unsafe body.withUnsafeBytes { unsafe $0 }
    }
  }

  private static func missing(_ reference: RecordReference) -> StoreError {
    .damaged("node \(reference.node)", "a record refers to it but it has no record")
  }

  func identifier(of reference: RecordReference) -> String? {
    try? reading { try $0.identifier(of: reference.node) }
  }

  /// The record of a reference for an untyped tree: of its own type, or else the node's newest.
  func treeRecord(_ reference: RecordReference) throws -> TreeRecord {
    unsafe childCount += 1
    return try reading { reader in
      let identifier = try reader.identifier(of: reference.node)
      guard let key = try reader.recordKey(node: reference.node, preferring: reference.type),
        let body = try reader.body(of: key)
      else { throw StoreError.damaged(identifier, "it is referred to but has no record") }
      let typeName = try directory.name(ofTypeNumber: key.type, in: reader)
      return unsafe TreeRecord(
        identifier: identifier, typeName: typeName, body: body.withUnsafeBytes { unsafe $0 })
    }
  }

  func record(_ reference: RecordReference) throws -> FieldChild? {
    try reading { try $0.child(reference) }
  }

  func identifier(ofNode node: UInt64) throws -> String? {
    try reading { try $0.nodeRow(node)?.identifier(node: node) }
  }

  func records(ofNode node: UInt64) throws -> [FieldChild] {
    try reading { try $0.children(ofNode: node) }
  }

  func swiftType(_ number: UInt32) throws -> (any SimpleModel.Type)? {
    try reading { directory.swiftType(named: try directory.name(ofTypeNumber: number, in: $0)) }
  }

  /// The number of a type; `nil` if the store has never had a record of it.
  func number(of type: any SimpleModel.Type) throws -> UInt32? {
    let identity = ObjectIdentifier(type)
    for entry in unsafe numbers where entry.type == identity { return entry.number }
    return try reading { reader in
      let number = try directory.number(of: type, in: reader)
      // The number from an aborted transaction may be assigned to another type later.
      if let number, reader.isCommitted, unsafe numbers.count < Self.numberCountMaximum {
        unsafe numbers.append((identity, number))
      }
      return number
    }
  }

  private static let numberCountMaximum = 32
}
