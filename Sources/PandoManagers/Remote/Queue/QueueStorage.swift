import PandoLMDB
import PandoSystem
import PandoModels
import PandoStore

/// Reads the answers to queued requests of a kind.
struct QueueAnswerHandler: Sendable {
  /// Stores what an answer says, in the transaction that takes the request off the queue.
  var store: @Sendable (APIResponse, QueuedRequest, inout ModelTransaction) throws -> Void
  /// Which local identifiers an answer gives a name to; asked where there is no store.
  var aliases: @Sendable (APIResponse, QueuedRequest) throws -> [IdentifierAlias] = { _, _ in [] }
}

/// What became of an answer.
struct QueueAcknowledgement: Sendable {
  /// Whether the request was still there.
  var wasQueued = true
  /// Why the answer could not be used; then the request is set aside.
  var failure: (any Error)?
}

/// Where the rows of a queue are.
protocol QueueStorage: Sendable {
  /// The number of the last commit; 0 without a store.
  var commitNumber: UInt64 { get throws }
  /// The number that the next request gets.
  var nextNumber: UInt64 { get throws }
  func head(of client: String) throws -> QueuedRequest?
  func requests() throws -> [QueuedRequest]
  func contains(_ number: UInt64) throws -> Bool
  func append(_ draft: QueueDraft, isIdle: Bool) async throws -> QueueAppend
  func markInFlight(_ number: UInt64) async throws -> QueuedRequest?
  func putBack(_ number: UInt64, failure: String) async throws
  func fail(_ number: UInt64, token: String, failure: String) async throws
  func retry(_ number: UInt64) async throws -> QueuedRequest?
  func remove(_ number: UInt64) async throws -> QueuedRequest?

  /// Takes a request off the queue because it was answered.
  ///
  /// - Parameters:
  ///   - entry: The request.
  ///   - response: The answer.
  ///   - handler: Reads the answer, in the same transaction.
  ///   - limit: The next request is marked as on its way if its number is not above this one.
  /// - Returns: What became of the answer.
  /// - Throws: What the disk throws; then the request is still queued.
  func acknowledge(
    _ entry: QueuedRequest, _ response: APIResponse, handler: QueueAnswerHandler?,
    nextUpTo limit: UInt64
  ) async throws -> QueueAcknowledgement
}

/// A queue in the rows of a store.
struct StoreQueueStorage: QueueStorage {
  let store: ModelStore

  var commitNumber: UInt64 { get throws { try store.read { try $0.commitNumber } } }

  var nextNumber: UInt64 {
    get throws {
      try store.read { try $0.property(QueueNames.next).flatMap(QueueTable.number) ?? 1 }
    }
  }

  func head(of client: String) throws -> QueuedRequest? {
    try store.read { snapshot in
      var found: QueuedRequest?
      try snapshot.forEachProperty(withPrefix: QueueNames.waiting) { _, bytes in
        let entry = try QueueTable.decode(bytes)
        guard entry.client.hasSameBytes(as: client) else { return true }
        found = entry
        return false
      }
      return found
    }
  }

  func requests() throws -> [QueuedRequest] { try store.read { try $0.queuedRequests() } }

  func contains(_ number: UInt64) throws -> Bool {
    try store.read { try $0.property(QueueNames.waiting(number)) != nil }
  }

  func append(_ draft: QueueDraft, isIdle: Bool) async throws -> QueueAppend {
    try await store.write { try QueueTable.append(draft, isIdle: isIdle, to: &$0) }
  }

  func markInFlight(_ number: UInt64) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.markInFlight(number, in: &$0) }
  }

  func putBack(_ number: UInt64, failure: String) async throws {
    try await store.write { try QueueTable.putBack(number, failure: failure, in: &$0) }
  }

  func fail(_ number: UInt64, token: String, failure: String) async throws {
    try await store.write {
      try QueueTable.fail(number, token: token, failure: failure, in: &$0)
    }
  }

  func retry(_ number: UInt64) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.retry(number, in: &$0) }
  }

  func remove(_ number: UInt64) async throws -> QueuedRequest? {
    try await store.write { try QueueTable.remove(number, in: &$0) }
  }

  func acknowledge(
    _ entry: QueuedRequest, _ response: APIResponse, handler: QueueAnswerHandler?,
    nextUpTo limit: UInt64
  ) async throws -> QueueAcknowledgement {
    try await store.write { transaction in
      var outcome = QueueAcknowledgement()
      // The row counts: identifiers may have come into it since it was read.
      guard let stored = try QueueTable.entry(entry.id, in: transaction),
        stored.token == entry.token
      else { return QueueAcknowledgement(wasQueued: false) }
      do {
        if let handler {
          try transaction.nested { try handler.store(response, stored, &$0) }
        }
        try QueueTable.remove(entry.id, in: &transaction)
      } catch  where !Self.isOfDisk(error) {
        outcome.failure = error
        try QueueTable.fail(
          entry.id, token: entry.token, failure: "\(error)", in: &transaction)
      }
      if let next = try QueueTable.head(of: entry.client, in: transaction), next.id <= limit,
        next.state == .waiting, next.unknownIdentifiers.isEmpty
      {
        _ = try QueueTable.markInFlight(next.id, in: &transaction)
      }
      return outcome
    }
  }

  /// Whether an error is one of the disk, and the answer is good.
  private static func isOfDisk(_ error: any Error) -> Bool {
    error is LMDBError || (error as? StoreError)?.underlying is LMDBError
  }
}

/// A queue that ends with the process.
final class MemoryQueueStorage: QueueStorage {
  private let rows = Locked(MemoryQueue())

  var commitNumber: UInt64 { 0 }
  var nextNumber: UInt64 { get throws { try rows.withLock { try QueueTable.nextNumber(in: $0) } } }

  func head(of client: String) throws -> QueuedRequest? {
    try rows.withLock { try QueueTable.head(of: client, in: $0) }
  }

  func requests() throws -> [QueuedRequest] {
    try rows.withLock { rows in
      var found: [QueuedRequest] = []
      for prefix in [QueueNames.waiting, QueueNames.failed] {
        try rows.forEachValue(prefix) { _, bytes in
          found.append(try QueueTable.decode(bytes))
          return true
        }
      }
      return found
    }
  }

  func contains(_ number: UInt64) throws -> Bool {
    rows.withLock { $0.value(QueueNames.waiting(number)) != nil }
  }

  func append(_ draft: QueueDraft, isIdle: Bool) async throws -> QueueAppend {
    try rows.withLock { try QueueTable.append(draft, isIdle: isIdle, to: &$0) }
  }

  /// Whether the server knows an entity or a queued request makes it.
  func isKnown(_ modelIdentifier: String) throws -> Bool {
    try rows.withLock { try QueueTable.making(modelIdentifier, in: $0).isKnown }
  }

  func markInFlight(_ number: UInt64) async throws -> QueuedRequest? {
    try rows.withLock { try QueueTable.markInFlight(number, in: &$0) }
  }

  func putBack(_ number: UInt64, failure: String) async throws {
    try rows.withLock { try QueueTable.putBack(number, failure: failure, in: &$0) }
  }

  func fail(_ number: UInt64, token: String, failure: String) async throws {
    try rows.withLock { try QueueTable.fail(number, token: token, failure: failure, in: &$0) }
  }

  func retry(_ number: UInt64) async throws -> QueuedRequest? {
    try rows.withLock { try QueueTable.retry(number, in: &$0) }
  }

  func remove(_ number: UInt64) async throws -> QueuedRequest? {
    try rows.withLock { try QueueTable.remove(number, in: &$0) }
  }

  func acknowledge(
    _ entry: QueuedRequest, _ response: APIResponse, handler: QueueAnswerHandler?,
    nextUpTo limit: UInt64
  ) async throws -> QueueAcknowledgement {
    try rows.withLock { rows in
      guard let stored = try QueueTable.entry(entry.id, in: rows), stored.token == entry.token
      else { return QueueAcknowledgement(wasQueued: false) }
      do {
        for alias in try handler?.aliases(response, stored) ?? [] {
          try QueueTable.rename(alias, in: &rows)
        }
        try QueueTable.remove(entry.id, in: &rows)
        return QueueAcknowledgement()
      } catch {
        try QueueTable.fail(entry.id, token: entry.token, failure: "\(error)", in: &rows)
        return QueueAcknowledgement(failure: error)
      }
    }
  }
}
