import PandoModels
import PandoStore
import PandoSystem

/// How far the entities of a type are in step with a server that sends changes.
struct SyncState: Equatable, Sendable {
  /// The cursor of the next page or synchronization; `nil` for everything.
  var cursor: String?
  /// Whether the cursor is the address of a page.
  var isLink = false
  /// During a full synchronization: the sequence number of its begin; 0 if an element could not be read, so
  /// that no entity counts as missing.
  var fullPlace: UInt64?
  /// During a full synchronization: the sequence number at which its first page arrived.
  ///
  /// An entity read since then was in a page, or a later page removes it.
  var namedPlace: UInt64?
  /// Entities of a page that could not be stored or removed yet.
  var pending: [String] = []
  /// Entities written here during a full synchronization, and in no page; the server may have removed them.
  var unnamed: [String] = []
  /// The entities of the pages so far of a full synchronization, for entities in memory.
  var named: Set<String> = []

  var bytes: [UInt8] {
    var tree: TreeValue = ["pending": .array(pending.map { .string($0) }), "link": .bool(isLink)]
    tree["named"] = namedPlace.map { .integer(Int64(clamping: $0)) }
    if !unnamed.isEmpty { tree["unnamed"] = .array(unnamed.map { .string($0) }) }
    tree["cursor"] = cursor.map { .string($0) }
    tree["full"] = fullPlace.map { .integer(Int64(clamping: $0)) }
    return Array(tree.json().utf8)
  }

  init() {}

  /// - Throws: `JSONError` if the bytes are not those of a state.
  init(_ bytes: [UInt8]) throws {
    let tree = try TreeValue(json: String(decoding: bytes, as: UTF8.self))
    cursor = tree["cursor"]?.stringValue
    isLink = tree["link"]?.boolValue ?? false
    fullPlace = tree["full"]?.integerValue.map { UInt64(clamping: $0) }
    namedPlace = tree["named"]?.integerValue.map { UInt64(clamping: $0) }
    pending = tree["pending"]?.arrayValue?.compactMap(\.stringValue) ?? []
    unnamed = tree["unnamed"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  mutating func addPending(_ identifiers: [String]) {
    pending = (pending + identifiers).map { ByteString($0) }.unique.map(\.text)
  }
}

/// Another writer has moved the state of a type, or removed it.
struct SyncMoved: Error {}

/// The synchronization state of a type: in the store of its entities, or in memory with them.
///
/// A write replaces the state together with the entities, if the state has not changed since it was read.
final class SyncLedger: Sendable {
  private let name: String
  private let store: ModelStore?
  private let memory = Locked<SyncState?>(nil)

  init(_ typeName: String, client: String, _ store: ModelStore?) {
    name = QueueNames.sync(typeName, client: client)
    self.store = store
  }

  func state() throws -> SyncState? {
    guard let store else { return memory.withLock { $0 } }
    return try store.read { try state(in: $0) }
  }

  /// The present identifiers of entities.
  func current<E: Entity>(
    _ identifiers: [EntityIdentifier<E>]
  ) throws -> [EntityIdentifier<E>] {
    guard let store, !identifiers.isEmpty else { return identifiers }
    return try store.read { snapshot in
      try identifiers.map { try snapshot.currentIdentifier(of: $0) }
    }
  }

  private func state(in snapshot: ModelSnapshot) throws -> SyncState? {
    try snapshot.property(name).map { try SyncState($0) }
  }

  /// Begins a full synchronization.
  ///
  /// - Parameters:
  ///   - old: The state that was read.
  ///   - place: The sequence number of the begin, for entities in memory.
  /// - Returns: The new state.
  /// - Throws: ``SyncMoved``.
  func begin(
    from old: SyncState?, at place: UInt64
  ) async throws -> SyncState {
    var all = SyncState()
    guard let store else {
      all.fullPlace = place
      try confirm(old)
      set(all)
      return all
    }
    return try await store.write { [self] transaction in
      try confirm(old, in: transaction.snapshot)
      var all = SyncState()
      // A new sequence number: earlier requests are older, also after a restart.
      all.fullPlace = transaction.takeSequenceNumber()
      try set(all, in: &transaction)
      return all
    }
  }

  func confirm(_ old: SyncState?, in snapshot: ModelSnapshot) throws {
    guard try state(in: snapshot) == old else { throw SyncMoved() }
  }

  func set(_ new: SyncState, in transaction: inout ModelTransaction) throws {
    try transaction.setProperty(name, to: new.bytes)
  }

  func confirm(_ old: SyncState?) throws {
    guard memory.withLock({ $0 == old }) else { throw SyncMoved() }
  }

  func set(_ new: SyncState?) { memory.withLock { $0 = new } }
}
