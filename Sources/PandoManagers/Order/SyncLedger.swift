import PandoModels
import PandoStore
import PandoSystem

/// How far the entities of a type are in step with a server that tells what has changed.
struct SyncState: Equatable, Sendable {
  /// What the next page, or what has changed since, is asked for by; `nil` for all.
  var cursor: String?
  /// Whether it is the address of a page.
  var isLink = false
  /// While all is read: the place at which that began; 0 if an element could not be read, so that nobody
  /// knows what the server does not have.
  var fullPlace: UInt64?
  /// While all is read: the place at which its first page had come.
  ///
  /// What is as old as a read since then was named by a page, or the server tells when it goes.
  var namedPlace: UInt64?
  /// Entities of which the server has told something that could not be taken over yet.
  var pending: [String] = []
  /// Entities that were written here while all was read, and were not named: perhaps the server has removed
  /// them since.
  var unnamed: [String] = []
  /// Those that were named while all is read, of what is in memory.
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

  /// - Throws: `JSONError` if somebody else has written the bytes.
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

/// Somebody else has brought the entities of a type further meanwhile, or removed them all.
struct SyncMoved: Error {}

/// Where the states of a type are: in the store that its entities are in, or in memory with them.
///
/// A state is replaced in the write that makes it true, and only if it is the one that was read.
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

  /// The identifiers by which entities are known by now.
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

  /// Begins to read all.
  ///
  /// - Parameters:
  ///   - old: The state that was read.
  ///   - place: The place at which it begins, where entities are in memory.
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
      // A commit of its own: what was asked for before it is older, and later also after a restart.
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
