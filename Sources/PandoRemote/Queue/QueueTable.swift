import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRecords
import PandoStore

/// A request that is about to be queued.
struct QueueDraft: Sendable {
  let token: String
  let client: String
  let request: APIRequest
  let subjects: [String]
  let makes: [String]
  var related: [String]?
  var inside: [String]?
  let handler: String?
  var note: String?
  let date: Date
  /// The state that it replaces, as ``QueuedUndo``.
  var undo: Data?
  /// The entities of a write to the server alone.
  var sent: Data?
}

/// The result of an append.
struct QueueAppend: Sendable {
  let number: UInt64
  /// The tokens of the requests that it has replaced.
  let aborted: [String]
}

/// The operations on the rows of a queue, each inside a transaction.
enum QueueTable {
  /// The maximum number of failed requests; the oldest are removed first.
  static let failedCountMaximum = 1000

  /// Appends a request.
  ///
  /// - Parameters:
  ///   - draft: The request.
  ///   - isIdle: Whether the queue sends it at once if no other waits; it is then marked as in flight.
  ///   - commitNumber: The commit number of the transaction, if it is known.
  ///   - rows: The rows in the transaction of the local write.
  /// - Returns: Its number, and the requests that it has replaced.
  /// - Throws: ``APIError`` `invalidRequest`; errors of the disk.
  static func append(
    _ draft: QueueDraft, isIdle: Bool, commitNumber: CommitNumber? = nil, to rows: QueueRows
  ) throws -> QueueAppend {
    try draft.request.validate()
    try refuseAmbiguity(draft.request)
    let aborted = try abortRequest(like: draft, in: rows)
    let number = try nextNumber(in: rows)
    try rows.setValue(QueueNames.next, to: bytes(number + 1))
    let commitNumber = try commitNumber ?? rows.visibleCommitNumber
    var entry = QueuedRequest(
      id: number, token: draft.token, client: draft.client, request: draft.request,
      subjects: draft.subjects, makes: draft.makes, related: draft.related,
      inside: draft.inside, handler: draft.handler, note: draft.note,
      commitNumber: commitNumber, date: draft.date, state: .waiting,
      attemptCount: 0, lastFailure: nil, undo: draft.undo, sent: draft.sent)
    if let aborted { try entry.takePlace(of: aborted, in: rows) }
    try IdentifierAlias.apply(to: &entry, in: rows)
    if isIdle, entry.unknownIdentifiers.isEmpty, try isEmpty(of: draft.client, in: rows) {
      entry.markInFlight()
    }
    try put(entry, in: rows)
    return QueueAppend(number: number, aborted: aborted.map { [$0.token] } ?? [])
  }

  /// Whether no request waits for a server.
  static func isEmpty(
    of client: String, in rows: QueueRows
  ) throws -> Bool {
    var isEmpty = true
    try rows.forEachValue(QueueNames.waiting) { _, bytes in
      isEmpty = try !decode(bytes).client.hasSameBytes(as: client)
      return isEmpty
    }
    return isEmpty
  }

  /// One step of a queue; see ``QueueStorage/advance(_:marking:by:)``.
  ///
  /// - Parameters:
  ///   - answers: The answers.
  ///   - numbers: The requests that are about to be sent.
  ///   - rows: The rows.
  ///   - renew: Makes the content of a request again, without the writes that were undone before it.
  ///   - store: Stores an answer; returns the error if it can't.
  /// - Returns: The result.
  /// - Throws: Errors of the disk.
  static func advance(
    _ answers: [QueueAnswer], marking numbers: [UInt64], in rows: QueueRows,
    renew: (inout QueuedRequest) throws -> Void,
    store: (QueueAnswer, QueuedRequest) throws -> (any Error)?
  ) throws -> QueueProgress {
    var progress = QueueProgress()
    for (place, answer) in answers.enumerated() {
      let (number, token) = (answer.entry.id, answer.entry.token)
      // The row counts: identifiers in it may have been replaced since the request was sent.
      guard let stored = try entry(number, in: rows), stored.token == token else { continue }
      // Without its own marks, so that the answer may change the nodes inside.
      try setMarks(of: stored, to: false, in: rows)
      if let failure = try store(answer, stored) {
        progress.failures[place] = failure
        try setMarks(of: stored, to: true, in: rows)
        try fail(number, token: token, failure: "\(failure)", in: rows)
      } else {
        try remove(number, isMarked: false, in: rows)
      }
      for made in stored.makes {
        if let alias = try IdentifierAlias.read(made, in: rows) { progress.aliases.append(alias) }
      }
    }
    for number in numbers {
      guard var waiting = try entry(number, in: rows), waiting.state != .failed else {
        continue
      }
      if waiting.isOutdated {
        try setMarks(of: waiting, to: false, in: rows)
        try renew(&waiting)
        waiting.isOutdated = false
        try put(waiting, in: rows)
      }
      let isMarked = waiting.state == .inFlight || !waiting.unknownIdentifiers.isEmpty
      let marked = isMarked ? waiting : try markInFlight(number, in: rows)
      if let marked { progress.marked.append(marked) }
    }
    return progress
  }

  static func entry(
    _ number: UInt64, in rows: QueueRows
  ) throws -> QueuedRequest? {
    guard
      let bytes = try rows.value(QueueNames.waiting(number))
        ?? rows.value(QueueNames.failed(number))
    else { return nil }
    return try decode(bytes)
  }

  /// Marks a request as in flight; returns `nil` if it is no longer in the queue.
  static func markInFlight(
    _ number: UInt64, in rows: QueueRows
  ) throws -> QueuedRequest? {
    guard var entry = try entry(number, in: rows), entry.state != .failed else { return nil }
    entry.markInFlight()
    try rows.setValue(entry.name, to: encode(entry))
    return entry
  }

  /// Makes a request wait again; its number puts it at the front.
  static func putBack(
    _ number: UInt64, failure: String, secondsWaited: Double, in rows: QueueRows
  ) throws {
    guard var entry = try entry(number, in: rows), entry.state != .failed else { return }
    entry.state = .waiting
    entry.lastFailure = failure
    entry.secondsWaited = secondsWaited
    try rows.setValue(entry.name, to: encode(entry))
  }

  /// Replaces a local identifier by the server's in all requests, and stores the alias.
  static func rename(
    _ alias: IdentifierAlias, in rows: QueueRows
  ) throws {
    try rows.setValue(QueueNames.alias(alias.old), to: encode(alias))
    for number in try numbers(marking: alias.old, in: rows) {
      guard var entry = try entry(number, in: rows),
        entry.marks.contains(where: { $0.hasSameBytes(as: alias.old) })
      else { continue }
      try setMarks(of: entry, to: false, in: rows)
      alias.apply(to: &entry)
      try rows.setValue(entry.name, to: encode(entry))
      try setMarks(of: entry, to: true, in: rows)
    }
  }

  /// Removes a request and its marks; returns `nil` if it is not in the queue, or is kept.
  @discardableResult
  static func remove(
    _ number: UInt64, isMarked: Bool = true, in rows: QueueRows,
    unless isKept: (QueuedRequest) -> Bool = { _ in false }
  ) throws -> QueuedRequest? {
    guard let entry = try entry(number, in: rows), !isKept(entry) else { return nil }
    try rows.setValue(entry.name, to: nil)
    if isMarked { try setMarks(of: entry, to: false, in: rows) }
    if let key = entry.request.configuration.uniquingKey {
      let name = QueueNames.key(key, client: entry.client)
      if try rows.value(name) == bytes(number) { try rows.setValue(name, to: nil) }
    }
    return entry
  }

  /// The largest number of dropped requests that the queue records.
  private static let droppedCountMaximum = 64

  /// Removes a request, and records it as dropped; returns `nil` if it is not in the queue, or is kept.
  static func drop(
    _ number: UInt64, in rows: QueueRows,
    unless isKept: (QueuedRequest) -> Bool = { _ in false }
  ) throws -> QueuedRequest? {
    guard let entry = try remove(number, in: rows, unless: isKept) else { return nil }
    let known = try numbers(rows.value(QueueNames.dropped) ?? [])
    let last = (known + [number]).suffix(droppedCountMaximum)
    try rows.setValue(QueueNames.dropped, to: last.flatMap(bytes))
    return entry
  }

  /// Keeps a request as failed.
  ///
  /// Its nodes become refused; if its write is undone, its marks are removed.
  ///
  /// - Returns: The request as it is kept; `nil` if it is no longer in the queue.
  @discardableResult
  static func fail(
    _ number: UInt64, token: String, failure: String, in rows: QueueRows,
    undo: (QueuedRequest) throws -> Bool = { _ in false }
  ) throws -> QueuedRequest? {
    guard var entry = try entry(number, in: rows), entry.token == token,
      entry.state != .failed
    else { return nil }
    // The undo rewrites later requests while this one is still before them.
    let isUndone = try undo(entry)
    try rows.setValue(entry.name, to: nil)
    try setMarks(of: entry, to: false, in: rows)
    entry.state = .failed
    entry.lastFailure = failure
    entry.isUndone = isUndone
    try rows.setValue(entry.name, to: encode(entry))
    try setMarks(of: entry, to: true, in: rows)
    try trimFailed(in: rows)
    return entry
  }

  /// Puts a refused request at the end of the queue again, under a new number.
  ///
  /// An undone write is applied again. Refused requests that create entities named in it are queued before it.
  ///
  /// - Returns: The request as it is queued now; `nil` if there is no refused one with that number.
  static func retry(
    _ number: UInt64, in rows: QueueRows
  ) throws -> QueuedRequest? {
    guard let old = try entry(number, in: rows), old.state == .failed else { return nil }
    try remove(number, in: rows)
    for local in old.unknownIdentifiers where try !making(local, in: rows).isKnown {
      if let making = try failedMaking(local, in: rows) { _ = try retry(making, in: rows) }
    }
    var entry = old
    entry.id = try nextNumber(in: rows)
    entry.state = .waiting
    entry.attemptCount = 0
    entry.secondsWaited = 0
    try entry.makeAgain(in: rows)
    try rows.setValue(QueueNames.next, to: bytes(entry.id + 1))
    try IdentifierAlias.apply(to: &entry, in: rows)
    try put(entry, in: rows)
    return entry
  }
}

extension QueueTable {
  /// The number that the next request gets.
  static func nextNumber(
    in rows: QueueRows
  ) throws -> UInt64 {
    try rows.value(QueueNames.next).flatMap(number) ?? 1
  }

  /// The waiting requests behind one that need a lane of some names.
  static func requests(
    behind number: UInt64, at names: [String], in rows: QueueRows
  ) throws -> [QueuedRequest] {
    let names = Set(names.map { ByteString($0) })
    var found: [QueuedRequest] = []
    try rows.reading { snapshot in
      try snapshot.forEachProperty(
        withPrefix: QueueNames.waiting, from: QueueNames.waiting(number + 1)
      ) { _, bytes in
        let entry = try decode(bytes)
        if entry.claims.contains(where: { names.contains($0.name) }) { found.append(entry) }
        return true
      }
    }
    return found
  }

  /// The numbers of the requests that change or name an entity with a local identifier.
  static func numbers(
    marking modelIdentifier: String, in rows: QueueRows
  ) throws -> [UInt64] {
    numbers(try rows.value(QueueNames.mark(modelIdentifier)) ?? [])
  }

  /// Returns whether the server has an entity or a queued request creates it, and the refused requests to create it.
  static func making(
    _ modelIdentifier: String, in rows: QueueRows
  ) throws -> (isKnown: Bool, refused: [UInt64]) {
    if try IdentifierAlias.read(modelIdentifier, in: rows) != nil { return (true, []) }
    var making = (isKnown: false, refused: [UInt64]())
    for number in try numbers(marking: modelIdentifier, in: rows) {
      guard let entry = try entry(number, in: rows),
        entry.makes.contains(where: { $0.hasSameBytes(as: modelIdentifier) })
      else { continue }
      if entry.state == .failed { making.refused.append(number) } else { making.isKnown = true }
    }
    return making
  }

  /// The last failed request to create an entity, undone or not.
  private static func failedMaking(
    _ modelIdentifier: String, in rows: QueueRows
  ) throws -> UInt64? {
    var found: UInt64?
    try rows.forEachValue(QueueNames.failed) { _, bytes in
      let entry = try decode(bytes)
      if entry.makes.contains(where: { $0.hasSameBytes(as: modelIdentifier) }) { found = entry.id }
      return true
    }
    return found
  }

  /// Writes a request, its marks, and the row of its uniquing key.
  static func put(
    _ entry: QueuedRequest, in rows: QueueRows
  ) throws {
    try rows.setValue(entry.name, to: encode(entry))
    try setMarks(of: entry, to: true, in: rows)
    if let key = entry.request.configuration.uniquingKey {
      let name = QueueNames.key(key, client: entry.client)
      try rows.setValue(name, to: bytes(entry.id))
    }
  }

  /// Sets or removes the marks of a request.
  ///
  /// An undone request has none. Another failed one has a second mark on each node that it changes.
  static func setMarks(
    of entry: QueuedRequest, to isSet: Bool, in rows: QueueRows
  ) throws {
    guard entry.state != .failed || !entry.isUndone else { return }
    for mark in entry.marks {
      let wasSet = try rows.value(QueueNames.mark(mark)) != nil
      try setMark(mark, of: entry.id, to: isSet, in: rows)
      if try wasSet != (rows.value(QueueNames.mark(mark)) != nil) {
        try rows.stateChanged(of: mark)
      }
    }
    guard entry.state == .failed else { return }
    for subject in entry.subjects + (entry.inside ?? []) {
      let name = QueueNames.refusal(subject)
      let count = try rows.value(name).flatMap(number) ?? 0
      let after = isSet ? count + 1 : max(count, 1) - 1
      try rows.setValue(name, to: after == 0 ? nil : bytes(after))
      if (count == 0) != (after == 0) { try rows.stateChanged(of: subject) }
    }
  }

  private static func setMark(
    _ modelIdentifier: String, of number: UInt64, to isSet: Bool, in rows: QueueRows
  ) throws {
    let name = QueueNames.mark(modelIdentifier)
    let stored = try rows.value(name) ?? []
    var before = numbers(stored)
    guard modelIdentifier.contains(":local:") else {
      // The numbers are not needed, and there may be many: the row counts them.
      let isCount = before.count == 1 && before[0] & countMark != 0
      let count = isCount ? before[0] & ~countMark : UInt64(before.count)
      let after = isSet ? count + 1 : max(count, 1) - 1
      return try rows.setValue(name, to: after == 0 ? nil : bytes(after | countMark))
    }
    before.removeAll { $0 == number }
    if isSet { before.append(number) }
    try rows.setValue(name, to: before.isEmpty ? nil : before.flatMap(bytes))
  }

  /// Distinguishes a count from a list of numbers.
  private static let countMark: UInt64 = 1 << 63

  /// Removes the request with the same uniquing key, except one that is in flight.
  private static func abortRequest(
    like draft: QueueDraft, in rows: QueueRows
  ) throws -> QueuedRequest? {
    guard let key = draft.request.configuration.uniquingKey,
      let old = try rows.value(QueueNames.key(key, client: draft.client)).flatMap(number),
      let entry = try entry(old, in: rows), entry.state != .inFlight,
      entry.request.configuration.uniquingKey?.hasSameBytes(as: key) == true
    else { return nil }
    return try remove(old, in: rows)
  }

  private static func trimFailed(
    in rows: QueueRows
  ) throws {
    var found: [UInt64] = []
    try rows.forEachValue(QueueNames.failed) { name, _ in
      found.append(UInt64(name.dropFirst(QueueNames.failed.count), radix: 16) ?? 0)
      return true
    }
    for number in found.dropLast(failedCountMaximum) { try remove(number, in: rows) }
  }

  /// Throws if one text in a request names two entities.
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

  static func bytes(_ number: UInt64) -> [UInt8] { [UInt8](littleEndian: number) }

  static func number(_ bytes: [UInt8]) -> UInt64? { numbers(bytes).first }

  static func numbers(_ bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count, by: 8).compactMap { bytes.span.littleEndian(at: $0) }
  }
}

extension QueuedRequest {
  var name: String { state == .failed ? QueueNames.failed(id) : QueueNames.waiting(id) }

  mutating func markInFlight() {
    state = .inFlight
    attemptCount += 1
  }
}
