import PandoLMDB
import PandoModels
import PandoSystem

/// The type names, their numbers, and the Swift types of this process.
///
/// A number is assigned once and never changes, so numbers from a committed version stay valid.
/// Those of a transaction are recorded only after its commit. Any thread.
///
/// One lock guards ``State``. `numbers` and `names` mirror each other and come from the store; all
/// other members come from Swift types or calls of this process.
final class TypeDirectory: Sendable {
  private struct State {
    var numbers: [ByteString: UInt32] = [:]
    var names: [UInt32: String] = [:]
    var swiftTypes: [ByteString: any SimpleModel.Type] = [:]
    var checkedNames: [ObjectIdentifier: String] = [:]
    var typeNumbers: [ObjectIdentifier: UInt32] = [:]
    var rules: [ObjectIdentifier: DeletionRules] = [:]
    /// One per field; few fields are not proven.
    var seenNodes: [SeenNodes] = []
    /// The indexes that types declare, as far as recorded in this process.
    var declaredIndexes: [ByteString: Set<ModelIndex>] = [:]
    /// Unique indexes that keep their fallbacks, because records would share values otherwise.
    var keptIndexes: Set<UInt32> = []
    /// The newest version of the migrations of each type.
    var migratedVersions: [ByteString: Int] = [:]
    /// The types that declare former names or defaults.
    var historyTypes: Set<ObjectIdentifier> = []
  }

  private let state = Locked(State())
  /// Facts about types for queries.
  let catalog = QueryCatalog()

  /// The name of a Swift type, checked once: it must be valid and unique.
  func name(of type: any SimpleModel.Type) throws -> String {
    let identity = ObjectIdentifier(type)
    if let name = state.withLock({ $0.checkedNames[identity] }) { return name }
    let name = try ModelTypeName.validated(type)
    let hasHistory = !type.fieldDefaults.isEmpty || !type.formerFieldNames.isEmpty
    return try state.withLock { state in
      if let other = state.swiftTypes[ByteString(name)], ObjectIdentifier(other) != identity {
        throw StoreError(
          .typeCollision, name,
          "both \(String(reflecting: other)) and \(String(reflecting: type)) have this type name; "
            + "give one of them another modelTypeName")
      }
      state.swiftTypes[ByteString(name)] = type
      if hasHistory { state.historyTypes.insert(identity) }
      state.checkedNames[identity] = name
      if let ruled = type as? any DeletionRuled.Type {
        state.rules[identity] = DeletionRules(of: ruled)
      }
      return name
    }
  }

  /// Records a migration of this process.
  func noteMigration(ofTypeNamed name: String, version: Int) {
    let name = ByteString(name)
    state.withLock { $0.migratedVersions[name] = max($0.migratedVersions[name] ?? 0, version) }
  }

  /// The schema version of a Swift type in this process: its own, or that of its newest migration.
  func schemaVersion(of type: any SimpleModel.Type, named name: String) -> Int {
    let own = (type as? any SchemaVersioned.Type)?.schemaVersion ?? 1
    return max(own, state.withLock { $0.migratedVersions[ByteString(name)] ?? 1 })
  }

  /// Whether a Swift type declares former names or defaults of fields.
  func hasHistory(_ type: any SimpleModel.Type) -> Bool {
    state.withLock {
      !$0.historyTypes.isEmpty && $0.historyTypes.contains(ObjectIdentifier(type))
    }
  }

  /// The path of a field as its type reads it; the stored name if this process has not used the
  /// type.
  func path(_ name: String, ofTypeNamed typeName: String) -> FieldPath {
    guard let type = swiftType(named: typeName) else { return FieldPath(name) }
    if let declared = (type as? any FieldDeclaring.Type)?.declaredFields.stored(name) {
      return declared
    }
    return FieldPath(name, in: type)
  }

  /// Whether an index must keep its fallbacks, although its type declares others.
  func keepsFallbacks(of index: UInt32) -> Bool {
    state.withLock { !$0.keptIndexes.isEmpty && $0.keptIndexes.contains(index) }
  }

  /// Records that an index must keep its fallbacks.
  func noteKeptFallbacks(of index: UInt32) {
    state.withLock { _ = $0.keptIndexes.insert(index) }
  }

  /// Records which indexes a type declares.
  func noteDeclaredIndexes(_ indexes: [ModelIndex], ofType typeName: String) {
    state.withLock { $0.declaredIndexes[ByteString(typeName)] = Set(indexes) }
  }

  /// Whether an index is missing in the recorded declarations of its type.
  func isUndeclared(_ index: ModelIndex) -> Bool {
    state.withLock { state in
      state.declaredIndexes[ByteString(index.typeName)].map { !$0.contains(index) } ?? false
    }
  }

  /// The deletion rules that a Swift type declares; `nil` if there are none.
  func deletionRules(of type: any SimpleModel.Type) -> DeletionRules? {
    state.withLock { $0.rules.isEmpty ? nil : $0.rules[ObjectIdentifier(type)] }
  }

  /// The Swift type of a name, if this process has used it or passed it at the opening.
  func swiftType(named name: String) -> (any SimpleModel.Type)? {
    state.withLock { $0.swiftTypes[ByteString(name)] }
  }

  /// The number of a Swift type in a snapshot; `nil` if the store has never had a record of it.
  func number(
    of type: any SimpleModel.Type, in reader: borrowing StoreReader
  ) throws -> UInt32? {
    let identity = ObjectIdentifier(type)
    if let number = state.withLock({ $0.typeNumbers[identity] }) { return number }
    let number = try number(ofTypeNamed: name(of: type), in: reader)
    if reader.isCommitted, let number { state.withLock { $0.typeNumbers[identity] = number } }
    return number
  }

  /// The number of a type in a snapshot; `nil` if the store has never had a record of it.
  func number(ofTypeNamed name: String, in reader: borrowing StoreReader) throws -> UInt32? {
    if let number = state.withLock({ $0.numbers[ByteString(name)] }) { return number }
    guard let row = try reader.typeRow(named: name) else { return nil }
    if reader.isCommitted { learn(name: name, number: row.number) }
    return row.number
  }

  /// The name of a type number in a snapshot.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - reader: The reader to search.
  ///   - isCommitted: Whether a committed version has the number, even if a write reads.
  /// - Returns: The name.
  /// - Throws: ``StoreError`` `damaged` if no type has the number.
  func name(
    ofTypeNumber number: UInt32, in reader: borrowing StoreReader, isCommitted: Bool = false
  ) throws -> String {
    if let name = state.withLock({ $0.names[number] }) { return name }
    var found: String?
    try reader.forEachType { name, row in
      if row.number == number { found = name }
    }
    guard let found else {
      throw StoreError.damaged("type number \(number)", "no type has this number")
    }
    if isCommitted || reader.isCommitted { learn(name: found, number: number) }
    return found
  }

  /// The records compared with a declared field, which lives as long as the process.
  func seenNodes(by field: DeclaredField) -> SeenNodes {
    let new = SeenNodes(field: ObjectIdentifier(field))
    return state.withLock { state in
      for seen in state.seenNodes where seen.field == new.field { return seen }
      return new
    }
  }

  /// Records which records were compared with a declared field.
  func note(_ seen: SeenNodes) {
    state.withLock { state in
      for index in state.seenNodes.indices where state.seenNodes[index].field == seen.field {
        state.seenNodes[index] = seen
        return
      }
      state.seenNodes.append(seen)
    }
  }

  private func learn(name: String, number: UInt32) {
    state.withLock {
      $0.numbers[ByteString(name)] = number
      $0.names[number] = name
    }
  }
}

/// The records of a type that were compared with a declared field.
struct SeenNodes: Sendable {
  let field: ObjectIdentifier
  /// The first node not compared yet.
  var next: UInt64 = 0
  /// The version in which all nodes were compared.
  var version: UInt64?
}

/// The facts about a type that queries use.
struct QueriedType: Sendable {
  /// The type's number; 0 if the store has never had a record of it.
  let number: UInt32
  let recordCount: Int
  /// Its indexes, sorted by the names of their fields.
  let indexes: [StoredIndex]
  /// Whether its natural order differs from the order in which its nodes were first stored.
  var isArranged = false
  /// The nodes found for a list of types.
  var nodes: [UInt64] = []
}

/// The facts about types in the newest queried version.
///
/// So successive queries need not read what only a commit changes. Any thread.
final class QueryCatalog: Sendable {
  private struct Version {
    var transactionID: UInt64 = 0
    var types: [ByteString: QueriedType] = [:]
  }

  private let newest = Locked(Version())
  private let scanHandler = Locked<(@Sendable (QueryScan) -> Void)?>(nil)

  func setScanHandler(_ handler: (@Sendable (QueryScan) -> Void)?) {
    scanHandler.withLock { $0 = handler }
  }

  /// Reports a scan, if a handler is set.
  func tell(_ scan: () -> QueryScan?) {
    if let handler = scanHandler.withLock({ $0 }), let scan = scan() { handler(scan) }
  }

  /// The facts about a type in a reader's version.
  func type(named name: String, in reader: borrowing StoreReader) throws -> QueriedType {
    // Uncommitted rows are visible to their transaction only.
    guard reader.isCommitted else { return try reader.queriedType(named: name) }
    let key = ByteString(name)
    let transactionID = reader.snapshot.transactionID
    if let known = known(key, transactionID) { return known }
    let type = try reader.queriedType(named: name)
    if type.number > 0 { note(type, key, transactionID) }
    return type
  }

  /// The nodes for a list of type names, found at the first call for a version.
  func nodes(
    of typeNames: [String], in reader: borrowing StoreReader, _ find: () throws -> [UInt64]
  ) rethrows -> [UInt64] {
    guard reader.isCommitted else { return try find() }
    let transactionID = reader.snapshot.transactionID
    // No type name has a control character.
    let key = ByteString(typeNames.joined(separator: "\n"))
    if let known = known(key, transactionID) { return known.nodes }
    let nodes = try find()
    note(QueriedType(number: 0, recordCount: 0, indexes: [], nodes: nodes), key, transactionID)
    return nodes
  }

  private func known(_ key: ByteString, _ transactionID: UInt64) -> QueriedType? {
    newest.withLock { newest in
      newest.transactionID == transactionID ? newest.types[key] : nil
    }
  }

  private func note(_ type: QueriedType, _ key: ByteString, _ transactionID: UInt64) {
    newest.withLock { newest in
      if newest.transactionID < transactionID { newest = Version(transactionID: transactionID) }
      if newest.transactionID == transactionID { newest.types[key] = type }
    }
  }
}

extension StoreReader {
  fileprivate func queriedType(named name: String) throws -> QueriedType {
    let row = try typeRow(named: name)
    let count = pending?.recordCount(ofTypeNamed: name) ?? row?.recordCount ?? 0
    let number = row?.number ?? 0
    return QueriedType(
      number: number, recordCount: Int(clamping: count),
      indexes: number == 0 ? [] : try indexes(ofType: number),
      isArranged: try property(QueueNames.arrangement(name)) != nil)
  }
}
