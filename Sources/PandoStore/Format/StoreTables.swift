import PandoLMDB

/// The tables of a store; docs/format.md draws their keys and values.
struct StoreTables: Sendable {
  /// Single rows: `state`, and small named values of the user with the prefix `property:`.
  let meta: RawTable
  /// Identifier → node number.
  let identifiers: RawTable
  /// Type name → ``TypeRow``.
  let types: RawTable
  /// Node number → ``NodeRow`` with the node's records.
  let nodes: RawTable
  /// Type number and block → ``TypeBlock``.
  let nodesByType: RawTable
  /// ``ParentKey`` → kinds of the edge.
  let parents: RawTable
  /// Cache key → collection number.
  let collections: RawTable
  /// Collection number → cache key.
  let collectionNames: RawTable
  /// Collection number and block → rows of the ordered list.
  let elements: RawTable
  /// Commit number → encoded change set.
  let changes: RawTable
  /// Type number and field names → index number; ``StoredIndex`` draws them.
  let indexes: RawTable
  /// Index number, value and node number → nothing.
  let indexRows: RawTable

  /// The names of all tables, for code that must not touch them.
  static let names = [
    "meta", "identifiers", "types", "nodes", "nodesByType", "parents", "collections",
    "collectionNames", "elements", "changes", "indexes", "indexRows",
  ]

  /// Opens the tables; creates them if `create` is true.
  init(_ environment: Environment, create: Bool) throws {
    func table(_ name: String) throws -> RawTable {
      try environment.rawTable(name, create: create)
    }
    meta = try table("meta")
    identifiers = try table("identifiers")
    types = try table("types")
    nodes = try table("nodes")
    nodesByType = try table("nodesByType")
    parents = try table("parents")
    collections = try table("collections")
    collectionNames = try table("collectionNames")
    elements = try table("elements")
    changes = try table("changes")
    indexes = try table("indexes")
    indexRows = try table("indexRows")
  }
}

/// The counters of a store: the row `state` of the `meta` table, rewritten by each flush with
/// changes.
///
/// ```
/// offset 0         4      8          24       32         40      48        56           64
///        ┌─────────┬──────┬──────────┬────────┬──────────┬───────┬─────────┬────────────┐
///        │ "PNDO"  │format│ store id │ commit │ next     │ next  │ next    │ oldest     │
///        │         │  4   │ 16       │ number │ node     │ type  │collect. │ change     │
///        └─────────┴──────┴──────────┴────────┴──────────┴───────┴─────────┴────────────┘
/// ```
///
/// Integers are little-endian; the counters have eight bytes each.
struct StoreState: Equatable {
  /// The version of the byte layouts in docs/format.md that this code reads and writes.
  ///
  /// Versions 2 and 3 have all change sets in `changes`. Version 2 has no indexes of several
  /// fields, no unique indexes, no hashed cache keys in `collections`, and no leaf numbers in
  /// `parents`. A store of either version gets version 6 with its first commit. Version 4 is
  /// version 6 of a store whose writes go through a log, version 5 that of one written with
  /// checkpoints.
  static let formatVersion: UInt32 = 6
  static let oldestFormatVersion: UInt32 = 2
  static let replicatedFormatVersion: UInt32 = 4
  static let checkpointedFormatVersion: UInt32 = 5
  static let magic: [UInt8] = Array("PNDO".utf8)
  static let key: [UInt8] = Array("state".utf8)

  /// The version of the rows, whether the store is replicated or not.
  var formatVersion = formatVersion
  /// Whether writes go through a log.
  var isReplicated = false
  var storeIdentifier: [UInt8]
  var commitNumber: UInt64 = 0
  var nextNode: UInt64 = 1
  var nextType: UInt64 = 1
  var nextCollection: UInt64 = 1
  /// The first commit number whose change set is in the log, or the next one if none is.
  var oldestChange: UInt64 = 1

  /// Sets the version of the rows that this code writes, unless the store has one that allows them.
  mutating func takeFormat() {
    if formatVersion != Self.checkpointedFormatVersion { formatVersion = Self.formatVersion }
  }

  init(storeIdentifier: [UInt8]) {
    precondition(storeIdentifier.count == 16, "a store identifier has 16 bytes")
    self.storeIdentifier = storeIdentifier
  }

  init(_ bytes: Span<UInt8>, path: String) throws {
    guard bytes.count >= 8, (0..<4).allSatisfy({ bytes[$0] == Self.magic[$0] }) else {
      throw StoreError(.notAStore, path, "holds an LMDB file that is no Pando store")
    }
    let version = bytes.littleEndian(at: 4, width: 4) ?? 0
    let known = UInt64(Self.oldestFormatVersion)...UInt64(Self.formatVersion)
    guard known.contains(version) else {
      throw StoreError(
        .unknownFormat, path,
        "has format version \(version), this library reads version "
          + "\(Self.oldestFormatVersion) to \(Self.formatVersion); "
          + "open it with the version of Pando that wrote it and move it with dump and load")
    }
    guard bytes.count == 64 else {
      throw StoreError.damaged(path, "the state row has \(bytes.count) bytes instead of 64")
    }
    isReplicated = version == UInt64(Self.replicatedFormatVersion)
    formatVersion = isReplicated ? Self.formatVersion : UInt32(version)
    storeIdentifier = (8..<24).map { bytes[$0] }
    func counter(_ index: Int) -> UInt64 {
      bytes.littleEndian(at: 24 + 8 * index) ?? 0
    }
    commitNumber = counter(0)
    nextNode = counter(1)
    nextType = counter(2)
    nextCollection = counter(3)
    oldestChange = counter(4)
  }

  /// The version as stored in the row.
  var storedFormatVersion: UInt32 { isReplicated ? Self.replicatedFormatVersion : formatVersion }

  var bytes: [UInt8] {
    unsafe Array(unsafeUninitializedCapacity: 64) { room, count in
      let room = UnsafeMutableRawBufferPointer(room)
      // In bounds: 4 bytes of magic, 4, 16 of the identifier, and 5 counters of 8.
      for index in 0..<4 { unsafe room[index] = Self.magic[index] }
      unsafe room.storeBytes(of: storedFormatVersion.littleEndian, toByteOffset: 4, as: UInt32.self)
      for index in 0..<16 { unsafe room[8 + index] = storeIdentifier[index] }
      func store(_ counter: UInt64, _ index: Int) {
        unsafe room.storeBytes(
          of: counter.littleEndian, toByteOffset: 24 + 8 * index, as: UInt64.self)
      }
      store(commitNumber, 0)
      store(nextNode, 1)
      store(nextType, 2)
      store(nextCollection, 3)
      store(oldestChange, 4)
      count = 64
    }
  }
}
