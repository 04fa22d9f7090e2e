import PandoLMDB
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// Reads the answers to queued requests of a kind.
struct QueueAnswerHandler: Sendable {
  /// Stores an answer, in the transaction that removes the request from the queue.
  var store: @Sendable (APIResponse, QueuedRequest, inout ModelTransaction) throws -> Void
  /// Keeps the nodes of an answer that later requests have changed; called after ``store``.
  var keepLate: @Sendable (APIResponse, LateAnswer, inout ModelTransaction) throws -> Void = {
    _, _, _ in
  }
  /// Makes the content of a request again, without the writes that were undone before it.
  var renew: @Sendable (inout QueuedRequest, QueueRows) throws -> Void = { _, _ in }
  /// Returns the identifiers that an answer assigns; for queues with a store of their own.
  var aliases: @Sendable (APIResponse, QueuedRequest) throws -> [IdentifierAlias] = { _, _ in [] }
}

/// An answer to store.
final class QueueAnswer: Sendable {
  let entry: QueuedRequest
  let response: APIResponse
  let handler: QueueAnswerHandler?
  /// Requests for the same nodes that wait behind it.
  let later: LaterRequests

  init(
    _ entry: QueuedRequest, _ response: APIResponse, _ handler: QueueAnswerHandler? = nil,
    later: LaterRequests = LaterRequests(numbers: [], firstUnknown: .max)
  ) {
    (self.entry, self.response, self.handler, self.later) = (entry, response, handler, later)
  }
}

/// The result of one step of a queue.
struct QueueProgress: Sendable {
  /// Why answers could not be stored, by their index; their requests are kept as failed.
  var failures: [Int: any Error] = [:]
  /// The identifiers that answers have assigned.
  var aliases: [IdentifierAlias] = []
  /// The requests that were to be marked, as they are now; those that can't be sent are not marked.
  var marked: [QueuedRequest] = []
}

/// The requests behind one in its lanes.
struct LaterRequests: Sendable {
  /// Those that are in the lanes.
  let numbers: [UInt64]
  /// The number of the first request that is not in the lanes yet.
  let firstUnknown: UInt64

  /// All of them, with all requests that are not in the lanes yet.
  func all(in rows: QueueRows) throws -> [UInt64] {
    numbers + Array(firstUnknown..<max(firstUnknown, try QueueTable.nextNumber(in: rows)))
  }
}

/// The rows of a queue, in the store of the entities or in a store of its own.
///
/// A store of its own is in memory: the queue ends with the process. It has no entities, so an answer only replaces
/// identifiers.
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

  /// Reads the waiting requests of a client, from a number on.
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

  /// Whether a request that changes an entity waits, is in flight, or was refused and not undone.
  func isMarked(_ modelIdentifier: String) throws -> Bool {
    try store.read { try $0.hasQueuedRequests(for: modelIdentifier) }
  }

  func requests() throws -> [QueuedRequest] { try store.read { try $0.queuedRequests() } }

  /// Whether a request that is no longer in the queue was dropped recently.
  func wasDropped(_ number: UInt64) throws -> Bool {
    // No other process removes requests from a store of its own.
    guard let shared else { return true }
    return try shared.read { snapshot in
      let dropped = try snapshot.property(QueueNames.dropped).map(QueueTable.numbers) ?? []
      let next = try snapshot.property(QueueNames.next).map(QueueTable.numbers) ?? []
      return dropped.contains(number) || next.count > 1 && number < next[1]
    }
  }

  /// The number of the request of a client that waits or is in flight with a uniquing key.
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

  /// Keeps a request as failed, and undoes its local write if the replaced state is known.
  ///
  /// A write to the server alone has no local part, so it counts as undone.
  ///
  /// - Parameters:
  ///   - entry: The request.
  ///   - failure: The reason.
  ///   - later: The later requests behind it; `nil` to undo nothing.
  /// - Returns: The request as it is kept; `nil` if it is no longer in the queue.
  /// - Throws: Errors of the disk; the call then has no effect.
  func fail(
    _ entry: QueuedRequest, failure: String, undoing later: LaterRequests?
  ) async throws -> QueuedRequest? {
    try await store.write { transaction in
      let rows = QueueRows(transaction)
      return try QueueTable.fail(entry.id, token: entry.token, failure: failure, in: rows) {
        stored in
        guard let later else { return false }
        if stored.isServerOnly { return true }
        guard let undo = stored.undo else { return false }
        do {
          try rows.transaction.nested { inner in
            let rows = QueueRows(inner)
            try WriteUndo(QueuedUndo(undo, in: rows), in: rows)
              .carryOut(stored, before: later.all(in: rows))
          }
          return true
        } catch  where !Self.isOfDisk(error) {
          // The store can't restore the earlier state, so the write stays, marked.
          return false
        }
      }
    }
  }

  func retry(_ number: UInt64) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.retry(number, in: QueueRows($0)) }
  }

  /// Removes a request from the queue, and records it as dropped.
  ///
  /// - Parameters:
  ///   - number: Its number.
  ///   - isKept: Whether it must stay.
  /// - Returns: The request; `nil` if it is not in the queue, or stays.
  /// - Throws: Errors of the disk.
  func remove(
    _ number: UInt64, unless isKept: @escaping @Sendable (QueuedRequest) -> Bool
  ) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.drop(number, in: QueueRows($0), unless: isKept) }
  }

  /// Removes all rows from a store of its own, except the next number.
  func removeAllOwn() throws {
    try own.withLock { $0 }?.write { try $0.forgetRequests() }
  }

  /// Removes answered requests from the queue, and marks others as on their way, in one transaction.
  ///
  /// - Parameters:
  ///   - answers: The answers; their handlers run in the same transaction.
  ///   - numbers: The requests that are about to be sent.
  ///   - handlers: The handlers, which make the content of outdated requests again.
  /// - Returns: The result.
  /// - Throws: Errors of the disk; the call then has no effect.
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
          // The entity no longer exists, so the request is sent as it was.
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

  /// Whether an error is one of the disk, and not of the answer.
  private static func isOfDisk(_ error: any Error) -> Bool {
    error is LMDBError || (error as? StoreError)?.underlying is LMDBError
  }
}
