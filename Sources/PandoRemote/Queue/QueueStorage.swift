import PandoLMDB
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// Reads the answers to queued requests of a kind.
struct QueueAnswerHandler: Sendable {
  /// Stores what an answer says, in the transaction that takes the request off the queue.
  var store: @Sendable (APIResponse, QueuedRequest, inout ModelTransaction) throws -> Void
  /// Keeps what an answer says of what later requests have changed, behind ``store``.
  var keepLate: @Sendable (APIResponse, LateAnswer, inout ModelTransaction) throws -> Void = {
    _, _, _ in
  }
  /// Lets a request send what it would without what was taken back before it.
  var renew: @Sendable (inout QueuedRequest, QueueRows) throws -> Void = { _, _ in }
  /// Which local identifiers an answer gives a name to; for queues with a store of their own.
  var aliases: @Sendable (APIResponse, QueuedRequest) throws -> [IdentifierAlias] = { _, _ in [] }
}

/// An answer that is to be stored.
final class QueueAnswer: Sendable {
  let entry: QueuedRequest
  let response: APIResponse
  let handler: QueueAnswerHandler?
  /// Requests about the same nodes that wait behind it.
  let later: LaterRequests

  init(
    _ entry: QueuedRequest, _ response: APIResponse, _ handler: QueueAnswerHandler? = nil,
    later: LaterRequests = LaterRequests(numbers: [], firstUnknown: .max)
  ) {
    (self.entry, self.response, self.handler, self.later) = (entry, response, handler, later)
  }
}

/// What one step of a queue did.
struct QueueProgress: Sendable {
  /// Why answers could not be used, by their place; then their requests are set aside.
  var failures: [Int: any Error] = [:]
  /// The identifiers that answers gave to entities, and those they had before.
  var aliases: [IdentifierAlias] = []
  /// The requests that were to be marked, as they are now; those that may not be sent are not marked.
  var marked: [QueuedRequest] = []
}

/// The requests that stand in line behind one.
struct LaterRequests: Sendable {
  /// Those that the lanes know.
  let numbers: [UInt64]
  /// The first one that they do not know.
  let firstUnknown: UInt64

  /// All of them.
  func all(in rows: QueueRows) throws -> [UInt64] {
    numbers + Array(firstUnknown..<max(firstUnknown, try QueueTable.nextNumber(in: rows)))
  }
}

/// The rows of a queue, in the store of the entities or in a store of its own.
///
/// A store of its own is in memory: the queue ends with the process. Entities are not stored there, so an answer only
/// gives names to them.
final class QueueStorage: Sendable {
  private let shared: ModelStore?
  private let own = Locked<ModelStore?>(nil)

  /// - Parameter shared: The store of the entities; `nil` for a store of its own, opened by the first use.
  init(_ shared: ModelStore?) { self.shared = shared }

  /// The store with the rows.
  ///
  /// - Throws: `LMDBError` if the system has no memory or descriptors for a store of its own.
  var store: ModelStore {
    get throws {
      if let shared { return shared }
      return try own.withLock { own in
        if let own { return own }
        let store = try ModelStore.inMemory()
        own = store
        return store
      }
    }
  }

  /// The number of the last commit; zero with a store of its own.
  var commitNumber: CommitNumber {
    get throws { try shared?.read { try $0.commitNumber } ?? .zero }
  }

  /// The number that the next request gets.
  var nextNumber: UInt64 {
    get throws {
      try store.read { try $0.property(QueueNames.next).flatMap(QueueTable.number) ?? 1 }
    }
  }

  /// Reads the requests that wait, with this number and later ones.
  func forEachWaiting(
    from number: UInt64, of client: String, _ body: (QueuedRequest) -> Void
  ) throws {
    try store.read { snapshot in
      try snapshot.forEachProperty(
        withPrefix: QueueNames.waiting, from: QueueNames.waiting(number)
      ) { _, bytes in
        let entry = try QueueTable.decode(bytes)
        if entry.client.hasSameBytes(as: client) { body(entry) }
        return true
      }
    }
  }

  /// Whether a request that changes an entity waits, is on its way or was refused and left here.
  func isMarked(_ modelIdentifier: String) throws -> Bool {
    try store.read { try $0.hasQueuedRequests(for: modelIdentifier) }
  }

  func requests() throws -> [QueuedRequest] { try store.read { try $0.queuedRequests() } }

  /// Whether a request that is not there any more was dropped, lately.
  func wasDropped(_ number: UInt64) throws -> Bool {
    // Nobody else removes requests from a store of its own.
    guard let shared else { return true }
    return try shared.read { snapshot in
      let dropped = try snapshot.property(QueueNames.dropped).map(QueueTable.numbers) ?? []
      let next = try snapshot.property(QueueNames.next).map(QueueTable.numbers) ?? []
      return dropped.contains(number) || next.count > 1 && number < next[1]
    }
  }

  /// The request of a client that waits or is on its way with a uniquing key.
  func number(withKey key: String, of client: String) throws -> UInt64? {
    let name = QueueNames.key(key, client: client)
    return try store.read { try $0.property(name).flatMap(QueueTable.number) }
  }

  func contains(_ number: UInt64) throws -> Bool {
    try store.read { try $0.property(QueueNames.waiting(number)) != nil }
  }

  func append(_ draft: QueueDraft, isIdle: Bool) async throws -> QueueAppend {
    let number = shared == nil ? CommitNumber.zero : nil
    return try await store.write {
      try QueueTable.append(draft, isIdle: isIdle, commitNumber: number, to: QueueRows($0))
    }
  }

  func putBack(_ number: UInt64, failure: String, secondsWaited: Double) async throws {
    try await store.write {
      try QueueTable.putBack(
        number, failure: failure, secondsWaited: secondsWaited, in: QueueRows($0))
    }
  }

  /// Sets a request aside, and takes back what was written here with it where that is known.
  ///
  /// - Parameters:
  ///   - entry: The request.
  ///   - failure: Why.
  ///   - later: The later requests that stand in line behind it; `nil` if nothing is to be taken back.
  /// - Returns: The request as it is kept; `nil` if it is not there any more.
  /// - Throws: What the disk throws; then nothing was done.
  func fail(
    _ entry: QueuedRequest, failure: String, undoing later: LaterRequests?
  ) async throws -> QueuedRequest? {
    try await store.write { transaction in
      let rows = QueueRows(transaction)
      return try QueueTable.fail(entry.id, token: entry.token, failure: failure, in: rows) {
        stored in
        guard let later, let undo = stored.undo else { return false }
        do {
          try rows.transaction.nested { inner in
            let rows = QueueRows(inner)
            try WriteUndo(QueuedUndo(undo, in: rows), in: rows)
              .carryOut(stored, before: later.all(in: rows))
          }
          return true
        } catch  where !Self.isOfDisk(error) {
          // What was there before is refused here now: then what was written stays, marked.
          return false
        }
      }
    }
  }

  func retry(_ number: UInt64) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.retry(number, in: QueueRows($0)) }
  }

  /// Takes a request off the queue.
  ///
  /// - Parameters:
  ///   - number: Its number.
  ///   - isKept: Whether it has to stay.
  /// - Returns: The request; `nil` if it is not there, or stays.
  /// - Throws: What the disk throws.
  func remove(
    _ number: UInt64, unless isKept: @escaping @Sendable (QueuedRequest) -> Bool
  ) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.drop(number, in: QueueRows($0), unless: isKept) }
  }

  /// Removes all rows from a store of its own, but for the number that comes next.
  func removeAllOwn() throws {
    try own.withLock { $0 }?.write { try $0.forgetRequests() }
  }

  /// Takes requests off the queue that were answered, and marks others as on their way, all together.
  ///
  /// - Parameters:
  ///   - answers: The answers; each is read by its handler in the same transaction.
  ///   - numbers: The requests that are about to be sent.
  ///   - handlers: Those that know what these send.
  /// - Returns: What became of them.
  /// - Throws: What the disk throws; then nothing was done.
  func advance(
    _ answers: [QueueAnswer], marking numbers: [UInt64], by handlers: [String: QueueAnswerHandler]
  ) async throws -> QueueProgress {
    let storesEntities = shared != nil
    return try await store.write { transaction in
      let rows = QueueRows(transaction)
      return try QueueTable.advance(answers, marking: numbers, in: rows) { entry in
        guard let handler = entry.handler.flatMap({ handlers[$0] }) else { return }
        do {
          try handler.renew(&entry, rows)
        } catch  where !Self.isOfDisk(error) {
          // No entity of the type any more: then it goes as it was.
        }
      } store: { answer, stored in
        guard let handler = answer.handler else { return nil }
        do {
          try rows.transaction.nested { inner in
            let rows = QueueRows(inner)
            guard storesEntities else {
              for alias in try handler.aliases(answer.response, stored) {
                try QueueTable.rename(alias, in: rows)
              }
              return
            }
            var stored = stored
            stored.isOvertaken = try LateAnswer(entry: stored, later: answer.later)
              .isOvertaken(in: rows)
            try handler.store(answer.response, stored, &inner)
            let late = LateAnswer(entry: stored, later: answer.later)
            try handler.keepLate(answer.response, late, &inner)
          }
          return nil
        } catch  where !Self.isOfDisk(error) {
          return error
        }
      }
    }
  }

  /// Whether an error is one of the disk, and the answer is good.
  private static func isOfDisk(_ error: any Error) -> Bool {
    error is LMDBError || (error as? StoreError)?.underlying is LMDBError
  }
}
