import FoundationEssentials
import PandoModels

/// A request on its way into a queue.
struct QueueDraft: Sendable {
  let token: String
  let client: String
  let request: APIRequest
  let subjects: [String]
  let makes: [String]
  let handler: String?
  let note: String?
  let date: Date
}

/// What an append did.
struct QueueAppend: Sendable {
  let number: UInt64
  /// The tokens of the requests whose place it took.
  let aborted: [String]
}

/// The operations on the rows of a queue, each inside one transaction.
enum QueueTable {
  /// How many refused requests are kept; the oldest go first.
  static let failedCountMaximum = 1000

  /// Puts a request at the end.
  ///
  /// - Parameters:
  ///   - draft: The request.
  ///   - isIdle: Whether it is sent at once if nothing is before it: then its mark says so already.
  ///   - commitNumber: That of the transaction, where it is known.
  ///   - transaction: The transaction of the local write.
  /// - Returns: Its number, and whose place it took.
  /// - Throws: ``APIError`` `invalidRequest`; what the disk throws.
  static func append<T: QueueTransaction & ~Copyable>(
    _ draft: QueueDraft, isIdle: Bool, commitNumber: UInt64? = nil, to transaction: inout T
  ) throws -> QueueAppend {
    try refuseAmbiguity(draft.request)
    let aborted = try abortRequests(like: draft, in: &transaction)
    let number = try nextNumber(in: transaction)
    try transaction.setValue(QueueNames.next, to: bytes(number + 1))
    let commitNumber = try commitNumber ?? transaction.visibleCommitNumber
    var entry = QueuedRequest(
      id: number, token: draft.token, client: draft.client, request: draft.request,
      subjects: draft.subjects, makes: draft.makes, handler: draft.handler, note: draft.note,
      commitNumber: commitNumber, date: draft.date, state: .waiting,
      attemptCount: 0, lastFailure: nil)
    try IdentifierAlias.apply(to: &entry, in: transaction)
    if isIdle, try head(of: draft.client, in: transaction) == nil { entry.markInFlight() }
    try put(entry, in: &transaction)
    return QueueAppend(number: number, aborted: aborted)
  }

  /// The request whose turn it is.
  static func head<T: QueueTransaction & ~Copyable>(
    of client: String, in transaction: borrowing T
  ) throws -> QueuedRequest? {
    var found: QueuedRequest?
    try transaction.forEachValue(QueueNames.waiting) { _, bytes in
      let entry = try decode(bytes)
      guard entry.client.hasSameBytes(as: client) else { return true }
      found = entry
      return false
    }
    return found
  }

  static func entry<T: QueueTransaction & ~Copyable>(
    _ number: UInt64, in transaction: borrowing T
  ) throws -> QueuedRequest? {
    guard
      let bytes = try transaction.value(QueueNames.waiting(number))
        ?? transaction.value(QueueNames.failed(number))
    else { return nil }
    return try decode(bytes)
  }

  /// Notes that a request is about to be sent.
  ///
  /// - Returns: `nil` if it is no longer there.
  static func markInFlight<T: QueueTransaction & ~Copyable>(
    _ number: UInt64, in transaction: inout T
  ) throws -> QueuedRequest? {
    guard var entry = try entry(number, in: transaction), entry.state != .failed else { return nil }
    entry.markInFlight()
    try transaction.setValue(entry.name, to: encode(entry))
    return entry
  }

  /// Lets a request wait again at its old place, which is the front.
  static func putBack<T: QueueTransaction & ~Copyable>(
    _ number: UInt64, failure: String, in transaction: inout T
  ) throws {
    guard var entry = try entry(number, in: transaction), entry.state != .failed else { return }
    entry.state = .waiting
    entry.lastFailure = failure
    try transaction.setValue(entry.name, to: encode(entry))
  }

  /// Puts a server's identifier in the place of a local one in all requests, and remembers it.
  static func rename<T: QueueTransaction & ~Copyable>(
    _ alias: IdentifierAlias, in transaction: inout T
  ) throws {
    try transaction.setValue(QueueNames.alias(alias.old), to: encode(alias))
    for number in try numbers(marking: alias.old, in: transaction) {
      guard var entry = try entry(number, in: transaction),
        entry.marks.contains(where: { $0.hasSameBytes(as: alias.old) })
      else { continue }
      for mark in entry.marks { try setMark(mark, of: number, to: false, in: &transaction) }
      alias.apply(to: &entry)
      try transaction.setValue(entry.name, to: encode(entry))
      for mark in entry.marks { try setMark(mark, of: number, to: true, in: &transaction) }
    }
  }

  /// Takes a request off the queue; statement 29: by its identity.
  ///
  /// - Returns: The request; `nil` if it is not there any more.
  @discardableResult
  static func remove<T: QueueTransaction & ~Copyable>(
    _ number: UInt64, token: String? = nil, in transaction: inout T
  ) throws -> QueuedRequest? {
    guard let entry = try entry(number, in: transaction), token == nil || entry.token == token
    else { return nil }
    try transaction.setValue(entry.name, to: nil)
    for mark in entry.marks { try setMark(mark, of: number, to: false, in: &transaction) }
    if let key = entry.request.configuration.uniquingKey {
      let name = QueueNames.key(key, client: entry.client)
      if try transaction.value(name) == bytes(number) { try transaction.setValue(name, to: nil) }
    }
    return entry
  }

  /// Sets a request aside that came to an end without success; its marks stay.
  static func fail<T: QueueTransaction & ~Copyable>(
    _ number: UInt64, token: String, failure: String, in transaction: inout T
  ) throws {
    guard var entry = try entry(number, in: transaction), entry.token == token,
      entry.state != .failed
    else { return }
    try transaction.setValue(entry.name, to: nil)
    entry.state = .failed
    entry.lastFailure = failure
    try transaction.setValue(entry.name, to: encode(entry))
    try trimFailed(in: &transaction)
  }

  /// Puts a refused request at the end of the queue again, under a new number.
  ///
  /// - Returns: The request as it is queued now; `nil` if there is no refused one of that number.
  static func retry<T: QueueTransaction & ~Copyable>(
    _ number: UInt64, in transaction: inout T
  ) throws -> QueuedRequest? {
    guard let old = try entry(number, in: transaction), old.state == .failed else { return nil }
    try remove(number, in: &transaction)
    var entry = old
    entry.id = try nextNumber(in: transaction)
    entry.state = .waiting
    entry.attemptCount = 0
    try transaction.setValue(QueueNames.next, to: bytes(entry.id + 1))
    try IdentifierAlias.apply(to: &entry, in: transaction)
    try put(entry, in: &transaction)
    return entry
  }
}

extension QueueTable {
  /// The number that the next request gets.
  static func nextNumber<T: QueueTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws -> UInt64 {
    try transaction.value(QueueNames.next).flatMap(number) ?? 1
  }

  /// The numbers of the requests that change or name an entity.
  static func numbers<T: QueueTransaction & ~Copyable>(
    marking modelIdentifier: String, in transaction: borrowing T
  ) throws -> [UInt64] {
    numbers(try transaction.value(QueueNames.mark(modelIdentifier)) ?? [])
  }

  /// How a server comes to know an entity.
  ///
  /// - Returns: Whether it knows it or a queued request makes it; and refused requests to make it.
  static func making<T: QueueTransaction & ~Copyable>(
    _ modelIdentifier: String, in transaction: borrowing T
  ) throws -> (isKnown: Bool, refused: [UInt64]) {
    if try IdentifierAlias.read(modelIdentifier, in: transaction) != nil { return (true, []) }
    var making = (isKnown: false, refused: [UInt64]())
    for number in try numbers(marking: modelIdentifier, in: transaction) {
      guard let entry = try entry(number, in: transaction),
        entry.makes.contains(where: { $0.hasSameBytes(as: modelIdentifier) })
      else { continue }
      if entry.state == .failed { making.refused.append(number) } else { making.isKnown = true }
    }
    return making
  }

  /// Writes a request with the rows that lead to it.
  static func put<T: QueueTransaction & ~Copyable>(
    _ entry: QueuedRequest, in transaction: inout T
  ) throws {
    try transaction.setValue(entry.name, to: encode(entry))
    for mark in entry.marks { try setMark(mark, of: entry.id, to: true, in: &transaction) }
    if let key = entry.request.configuration.uniquingKey {
      let name = QueueNames.key(key, client: entry.client)
      try transaction.setValue(name, to: bytes(entry.id))
    }
  }

  static func setMark<T: QueueTransaction & ~Copyable>(
    _ modelIdentifier: String, of number: UInt64, to isSet: Bool, in transaction: inout T
  ) throws {
    let name = QueueNames.mark(modelIdentifier)
    let before = numbers(try transaction.value(name) ?? [])
    var after = before.filter { $0 != number }
    if isSet { after.append(number) }
    guard after != before else { return }
    try transaction.setValue(name, to: after.isEmpty ? nil : after.flatMap(bytes))
  }

  /// Removes the requests with the same uniquing key, except one that is on its way.
  private static func abortRequests<T: QueueTransaction & ~Copyable>(
    like draft: QueueDraft, in transaction: inout T
  ) throws -> [String] {
    guard let key = draft.request.configuration.uniquingKey,
      let old = try transaction.value(QueueNames.key(key, client: draft.client)).flatMap(number),
      let entry = try entry(old, in: transaction), entry.state != .inFlight,
      entry.request.configuration.uniquingKey?.hasSameBytes(as: key) == true
    else { return [] }
    try remove(old, in: &transaction)
    return [entry.token]
  }

  private static func trimFailed<T: QueueTransaction & ~Copyable>(
    in transaction: inout T
  ) throws {
    var found: [UInt64] = []
    try transaction.forEachValue(QueueNames.failed) { name, _ in
      found.append(UInt64(name.dropFirst(QueueNames.failed.count), radix: 16) ?? 0)
      return true
    }
    for number in found.dropLast(failedCountMaximum) { try remove(number, in: &transaction) }
  }

  /// Refuses a request in which one text stands for two entities.
  private static func refuseAmbiguity(_ request: APIRequest) throws {
    let identifiers = request.localIdentifiers
    guard identifiers.count > 1 else { return }
    var owners: [ByteString: String] = [:]
    for identifier in identifiers {
      let text = ByteString(IdentifierAlias.localText(of: identifier))
      if let owner = owners.updateValue(identifier, forKey: text) {
        throw APIError(
          .invalidRequest, request,
          "\(owner) and \(identifier) have the same local key; make local identifiers with "
            + "EntityIdentifier()")
      }
    }
  }
}

extension QueueTable {
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    try RecordEncoder.encodeValue(value).body
  }

  static func decode<Value: Decodable>(
    _ bytes: [UInt8], as type: Value.Type = QueuedRequest.self
  ) throws -> Value {
    try unsafe bytes.withUnsafeBytes { try unsafe RecordDecoder.decodeValue(type, from: $0) }
  }

  static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  static func number(_ bytes: [UInt8]) -> UInt64? { numbers(bytes).first }

  static func numbers(_ bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count - 7, by: 8).map { start in
      (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << (8 * UInt64($1)) }
    }
  }
}

extension QueuedRequest {
  var name: String { state == .failed ? QueueNames.failed(id) : QueueNames.waiting(id) }

  mutating func markInFlight() {
    state = .inFlight
    attemptCount += 1
  }
}
