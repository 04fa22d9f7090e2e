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
  /// The state of a request.
  public enum State: String, Sendable, Codable {
    /// It waits for its turn.
    case waiting
    /// It is being sent, or was when the process ended: the server may have received it.
    case inFlight
    /// It has ended without success; it is kept until it is sent again or dropped.
    case failed
  }

  /// Its number, which is the order of requests; no number is used twice.
  public internal(set) var id: UInt64
  /// A text that no other request has; the server gets it as `Idempotency-Key`.
  public let token: String
  /// The ``APIClient/identifier`` of the client that sends it.
  public let client: String
  /// The request.
  public internal(set) var request: APIRequest
  /// The model identifiers of the entities that it changes.
  public internal(set) var subjects: [String]
  /// Those of them that it creates: it is sent although they only have a local identifier.
  public internal(set) var makes: [String]
  /// The model identifiers of other entities that it names; `nil` if there are none.
  ///
  /// It stays in order with requests that change these.
  public internal(set) var related: [String]?
  /// The model identifiers of nodes inside its entities that it changes with them; `nil` if there are none.
  ///
  /// It stays in order with requests that name these.
  var inside: [String]?
  /// The name of the handler of its answer; see ``APIClientQueue/setAnswerHandler(named:_:)``.
  public let handler: String?
  /// Data for the handler.
  public internal(set) var note: String?
  /// The commit number of the local write; the answer is as old as that.
  public internal(set) var commitNumber: CommitNumber
  /// When it was queued.
  public let date: Date
  /// Its state.
  public internal(set) var state: State
  /// The number of attempts.
  public internal(set) var attemptCount: Int
  /// Its time in the queue when its last attempt failed, in seconds, if its policy limits that.
  var secondsWaited = 0.0
  /// Why the last attempt failed.
  public internal(set) var lastFailure: String?
  /// The state that it has replaced, as ``QueuedUndo``; `nil` if its write stays after a refusal.
  var undo: Data?
  /// The entities of a write to the server alone, which are stored if the answer has none; `nil` for other requests.
  var sent: Data?
  /// Whether its content must be made again, because an earlier write was undone.
  var isOutdated = false
  /// Whether a later request of the same commit changes the same entity; set when this one is answered.
  var isOvertaken = false
  /// Whether the server has refused it, and nothing of it is stored: Pando has undone the local write, or the write was
  /// in the context `.remote()`.
  public internal(set) var isUndone = false
}

extension QueuedRequest {
  /// The local identifiers of entities that the server does not have, and that it does not create.
  var unknownIdentifiers: [String] {
    request.localIdentifiers.filter { identifier in
      !makes.contains { $0.hasSameBytes(as: identifier) }
    }
  }

  /// Whether nothing of it is stored before the answer.
  var isServerOnly: Bool { AnswerNote(note)?.isServerOnly == true }

  /// Whether it changes a node, and does not only name it.
  func changes(_ modelIdentifier: String) -> Bool {
    (subjects + (inside ?? [])).contains { $0.hasSameBytes(as: modelIdentifier) }
  }

  /// The sequence number of its answer.
  var answerPlace: UInt64 {
    let place = SequenceNumber.of(commit: commitNumber.value)
    return isOvertaken ? place - 1 : place
  }

  /// The model identifiers with a mark of this request: of nodes that it changes, and local ones that it names.
  var marks: [String] {
    var found = subjects
    for identifier in (inside ?? []) + request.localIdentifiers
    where !found.contains(where: { $0.hasSameBytes(as: identifier) }) {
      found.append(identifier)
    }
    return found
  }

  /// The lanes that it needs.
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

  /// The names of its lanes: model identifiers, keys, and an empty text for requests without any.
  ///
  /// Requests in one lane are sent one after another, unless both only name the entity.
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
