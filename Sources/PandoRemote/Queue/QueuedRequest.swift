public import FoundationEssentials
public import PandoModels
import PandoStore

/// A request that waits durably for a server, or was refused by one.
///
/// ```swift
/// for waiting in try queue.requests() where waiting.state == .failed {
///   print(waiting.id, waiting.request, waiting.lastFailure ?? "")
///   try await queue.retry(waiting.id)
/// }
/// ```
public struct QueuedRequest: Sendable, Identifiable {
  /// What has become of it.
  public enum State: String, Sendable, Codable {
    /// It waits for its turn.
    case waiting
    /// It is being sent, or was when the process ended: the server may have got it.
    case inFlight
    /// It came to an end without success; it is kept to be looked at, sent again or dropped.
    case failed
  }

  /// Its number: requests are sent in this order, and no number is given twice.
  public internal(set) var id: UInt64
  /// What tells it from every other request; the server gets it as `Idempotency-Key`.
  public let token: String
  /// The ``APIClient/identifier`` of the client that sends it.
  public let client: String
  /// The request.
  public internal(set) var request: APIRequest
  /// The model identifiers of the entities that it changes.
  public internal(set) var subjects: [String]
  /// Those of them that the server makes of this request: it is sent although they have no other name.
  public internal(set) var makes: [String]
  /// The model identifiers of other entities that it names; `nil` if there are none.
  ///
  /// It stays in order with the requests that change these.
  public internal(set) var related: [String]?
  /// The model identifiers of nodes inside its entities that it changes with them; `nil` if there are none.
  ///
  /// Others that name these come before or after it.
  var inside: [String]?
  /// Who reads the answer: a name given to ``APIClientQueue/setAnswerHandler(named:_:)``.
  public let handler: String?
  /// What the handler needs to know, in its own words.
  public internal(set) var note: String?
  /// The commit number that the local write got: the answer is as old as that.
  public internal(set) var commitNumber: CommitNumber
  /// When it was queued.
  public let date: Date
  /// What has become of it.
  public internal(set) var state: State
  /// How often it was sent.
  public internal(set) var attemptCount: Int
  /// How long it had been queued when its last attempt failed, in seconds, where its policy limits that.
  var secondsWaited = 0.0
  /// Why the last attempt failed.
  public internal(set) var lastFailure: String?
  /// What it has replaced here, as ``QueuedUndo``; `nil` if it stays when the server refuses it.
  var undo: Data?
  /// Whether ``undo`` tells better than ``request`` what is to be sent, because of what was taken back before it.
  var isOutdated = false
  /// Whether a later request of the same commit is about the same: what this one is answered is older than that.
  ///
  /// Looked up when it is answered.
  var isOvertaken = false
  /// Whether the server has refused it, and what was written here with it has been taken back.
  public internal(set) var isUndone = false
}

extension QueuedRequest {
  /// The local identifiers that the server would have to know, and does not.
  var unknownIdentifiers: [String] {
    request.localIdentifiers.filter { identifier in
      !makes.contains { $0.hasSameBytes(as: identifier) }
    }
  }

  /// The place of its answer in the order of writes.
  var answerPlace: UInt64 {
    let place = SequenceNumber.of(commit: commitNumber.value)
    return isOvertaken ? place - 1 : place
  }

  /// The model identifiers that lead to this request: of what it changes and what it names.
  var marks: [String] {
    var found = subjects
    for identifier in (inside ?? []) + request.localIdentifiers
    where !found.contains(where: { $0.hasSameBytes(as: identifier) }) {
      found.append(identifier)
    }
    return found
  }

  /// What it stands in line for.
  var claims: [LaneClaim] {
    let strategy = request.configuration.strategy
    var claims: [LaneClaim] = []
    var seen: Set<ByteString> = []
    func add(_ names: [String], isShared: Bool) {
      for name in names where seen.insert(ByteString(name)).inserted {
        claims.append(LaneClaim(name, isShared: isShared))
      }
    }
    if strategy != .concurrent {
      add(subjects.isEmpty && strategy.key == nil ? [""] : subjects, isShared: false)
      add(inside ?? [], isShared: false)
      if let key = strategy.key { add([key], isShared: false) }
    } else {
      add(makes, isShared: false)
    }
    add(request.localIdentifiers, isShared: true)
    if strategy != .concurrent { add(related ?? [], isShared: true) }
    return claims
  }

  /// What it stands in line for: model identifiers, keys, and an empty text for requests without any.
  ///
  /// Those of one name go one after another, unless both only name it.
  public var lanes: [String] { claims.map(\.name.text) }

  /// The namespaces of the entities that it changes.
  var namespaces: [String] {
    var found: [String] = []
    for subject in subjects {
      guard let end = subject.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = String(subject[..<end])
      if !found.contains(where: { $0.hasSameBytes(as: name) }) { found.append(name) }
    }
    return found
  }
}
