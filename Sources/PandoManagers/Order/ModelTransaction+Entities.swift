import PandoModels
package import PandoStore
import PandoSystem

// MARK: - The order of writes, inside one transaction
extension ModelTransaction {
  /// Stores entities.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - first: Called before the write.
  ///   - asOf: The sequence number of the request; `nil` for new values.
  ///   - knownAt: The sequence number that they get; `asOf` by default.
  ///   - isIncluded: Whether the request was about other entities. Such a request does not wait for writes of
  ///     these, so entities with waiting writes are newer.
  ///   - keepsOrder: Whether a server has entities of the type.
  ///   - isLocal: Whether the write queues no request.
  ///   - waitingSince: The sequence number of the first write that waited for the server at the request;
  ///     `nil` if none did. Nodes inside may have their values from before it.
  ///   - isConfirmation: Whether it is the answer to a write of these entities.
  /// - Returns: The results.
  /// - Throws: `ModelError`, `StoreError`, `LMDBError`; `QueryError` `invalidIdentifier`.
  package mutating func apply<E: LocalEntity>(
    _ entities: [E], after first: (@Sendable ([E], inout ModelTransaction) throws -> Void)? = nil,
    asOf: UInt64?, knownAt: UInt64? = nil, isIncluded: Bool = false, keepsOrder: Bool = true,
    isLocal: Bool = false, waitingSince: UInt64? = nil, isConfirmation: Bool = false
  ) throws -> [AppliedEntity<E>] {
    for entity in entities { try entity.id.validate() }
    try first?(entities, &self)
    if keepsOrder { try keepTombstones(ofNamespace: E.identifierNamespace) }
    var applied: [AppliedEntity<E>] = []
    applied.reserveCapacity(entities.count)
    for given in entities {
      let entity = try snapshot.current(given)
      if let asOf {
        applied.append(
          try applyAnswer(
            entity, AnswerFitting(asOf: asOf, waitingSince: waitingSince),
            knownAt: knownAt ?? asOf, isIncluded: isIncluded, isConfirmation: isConfirmation))
      } else {
        applied.append(try applyNow(entity, keepsOrder: keepsOrder, isLocal: isLocal))
      }
    }
    return applied
  }

  private mutating func applyNow<E: LocalEntity>(
    _ entity: E, keepsOrder: Bool, isLocal: Bool
  ) throws -> AppliedEntity<E> {
    let sent = try isLocal ? sentEntity(entity.id) : nil
    let stored = try overwrite(entity)
    if keepsOrder { try confirm(stored.id.modelIdentifier) }
    try restore(sent, of: stored)
    return AppliedEntity(stored.id, stored: stored, isLate: false)
  }

  /// Gives an entity the sequence number of this write, even if nothing differs.
  private mutating func confirm(_ identifier: String) throws {
    let place = takeSequenceNumber()
    guard let commit = try snapshot.commitValue(of: identifier),
      SequenceNumber.of(commit: commit) != place
    else { return }
    if try snapshot.sequenceState(of: identifier).isDated { try touch(identifier) }
    try setSequenceRow(
      SequenceRow(.confirmed, sequenceNumber: place, commit: commit), of: identifier)
  }

  /// An entity as a server has sent it, with its sequence number, if it has local-only fields.
  private func sentEntity<E: LocalEntity>(
    _ identifier: EntityIdentifier<E>
  ) throws -> (entity: E, place: UInt64)? {
    guard LocalFields.areIn(E.self) else { return nil }
    let state = try snapshot.sequenceState(of: identifier.modelIdentifier)
    guard state.isDated,
      let entity = try? snapshot.get(identifier.modelIdentifier, as: E.self)
    else { return nil }
    return (entity, state.sequenceNumber)
  }

  /// Keeps the state of a server's entity if only its local-only fields have changed.
  private mutating func restore<E: LocalEntity>(
    _ sent: (entity: E, place: UInt64)?, of stored: E
  ) throws {
    guard let sent, LocalFields.restored([stored], from: [sent.entity]) == [sent.entity],
      let commit = try snapshot.commitValue(of: stored.id.modelIdentifier)
    else { return }
    try setSequenceRow(
      SequenceRow(.dated, sequenceNumber: sent.place, commit: commit),
      of: stored.id.modelIdentifier)
  }

  /// Changes a stored entity.
  ///
  /// - Returns: No entity if there is none with the identifier.
  mutating func apply<E: LocalEntity>(
    _ update: EntityUpdate<E>,
    after first: (@Sendable ([E], inout ModelTransaction) throws -> Void)? = nil,
    keepsOrder: Bool, isLocal: Bool = false
  ) throws -> [AppliedEntity<E>] {
    if keepsOrder { try keepTombstones(ofNamespace: E.identifierNamespace) }
    let identifier = try snapshot.currentIdentifier(of: update.identifier)
    guard try snapshot.mayBe(E.self, identifier.modelIdentifier) else { return [] }
    let sent = try isLocal ? sentEntity(identifier) : nil
    let name = identifier.modelIdentifier
    // The caller may have read both before the server assigned the identifier.
    let replacement = try update.replacement.map { versions in
      (new: try snapshot.current(versions.new), old: try snapshot.current(versions.old))
    }
    if let first {
      guard var entity = try snapshot.get(name, as: E.self) else { return [] }
      if let replacement {
        entity = replacement.new
      } else {
        try update.change(&entity)
        entity = try snapshot.current(entity)
      }
      try first([entity], &self)
    }
    let changed: E?
    if let (new, old) = replacement, new.id == identifier, old.id == identifier {
      guard try snapshot.contains(name) else { return [] }
      try set(new, replacing: old)
      changed = try snapshot.get(name, as: E.self)
    } else {
      let present = alias()
      changed = try self.updateIfPresent(E.self, name) {
        try update.change(&$0)
        $0 = try present.snapshot.current($0)
      }
    }
    guard let stored = changed else { return [] }
    if keepsOrder { try confirm(identifier.modelIdentifier) }
    try restore(sent, of: stored)
    try update.then?(stored, &self)
    return [AppliedEntity(identifier, stored: stored, isLate: false)]
  }

  private mutating func applyAnswer<E: LocalEntity>(
    _ entity: E, _ fitting: AnswerFitting, knownAt: UInt64, isIncluded: Bool,
    isConfirmation: Bool
  ) throws -> AppliedEntity<E> {
    var fitting = fitting
    let identifier = entity.id.modelIdentifier
    let state = try snapshot.sequenceState(of: identifier)
    let isLate =
      try isIncluded
      ? fitting.isOlder(than: state, of: identifier, in: snapshot)
      : state.sequenceNumber > fitting.asOf
        || !isConfirmation && snapshot.isRefused(identifier)
    guard !isLate else {
      let stored = try snapshot.get(identifier, as: E.self)
      return AppliedEntity(entity.id, stored: stored, isLate: true)
    }
    let whole = try LocalFields.restored(entity, in: snapshot)
    guard let fitted = try fitting.fit(whole, identifier, in: snapshot) as? E else {
      // A required child was removed later.
      return AppliedEntity(
        entity.id, stored: try snapshot.get(identifier, as: E.self), isLate: true)
    }
    let stored = try overwrite(fitted)
    for node in fitting.answered {
      let isRoot = node.identifier.hasSameBytes(as: identifier)
      // The value before was a server's too, or the confirmed one lacks only lazy fields.
      let mayBeMixed =
        isRoot && (state.isDated || isConfirmation && LazyFields.areEqual(stored, fitted))
      let isAsSent = try node.isWhole && (mayBeMixed || stored == fitted || holds(node.model))
      try date(node.identifier, at: knownAt, isAsSent: isAsSent)
    }
    return AppliedEntity(stored.id, stored: stored, isLate: false)
  }

  /// Gives a node the sequence number of an answer.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - place: The sequence number.
  ///   - isAsSent: Whether the node equals what the server has sent; its type may have merged older values.
  /// - Throws: `StoreError`, `LMDBError`.
  private mutating func date(_ identifier: String, at place: UInt64, isAsSent: Bool) throws {
    guard let commit = try snapshot.commitValue(of: identifier) else { return }
    let wasDated = try snapshot.sequenceState(of: identifier).isDated
    // The touch notifies queries by the state, even if the node has not changed.
    if isAsSent, !wasDated { try touch(identifier) }
    try setSequenceRow(
      SequenceRow(
        isAsSent || wasDated ? .dated : .confirmed, sequenceNumber: place, commit: commit),
      of: identifier)
  }

  /// Whether the stored value of a node equals a given one.
  private func holds(_ model: any Model) throws -> Bool {
    func isStored<M: Model>(_ model: M) throws -> Bool {
      guard let identifier = model.modelIdentifier,
        let type = M.self as? any (Model & Decodable).Type,
        let stored = try? AnswerFitting.read(identifier, as: type, snapshot)
      else { return false }
      return model.isEqual(to: stored)
    }
    return try isStored(model)
  }

  /// Merges an entity into the stored one, as its type says.
  private mutating func overwrite<E: LocalEntity>(_ entity: E) throws -> E {
    let stored: E?
    do {
      stored = try snapshot.get(entity.id.modelIdentifier, as: E.self)
    } catch is ModelError {
      // A value that can't be read is replaced.
      stored = nil
    }
    guard let stored else {
      try set(entity)
      return entity
    }
    guard stored.shouldOverwrite(with: entity) else {
      // An entity read from the record of another type gets its own record.
      if try snapshot.isProjection(stored) { try set(stored) }
      return stored
    }
    let merged = stored.merging(entity)
    try set(merged)
    return merged
  }

  /// Removes entities.
  ///
  /// - Parameters:
  ///   - identifiers: The entities; an absent one leaves a tombstone only.
  ///   - asOf: The sequence number of the request whose answer removes them; `nil` for a new removal.
  ///   - knownAt: The sequence number of the removals; `asOf` by default.
  ///   - onlySynchronized: Whether to remove only entities as a server sent them.
  ///   - keepsOrder: Whether a server has entities of the type.
  ///   - isConfirmation: Whether it is the answer to a removal of these entities.
  /// - Returns: The entities that were removed.
  /// - Throws: `StoreError`, `LMDBError`.
  @discardableResult
  package mutating func removeEntities<E: Entity>(
    _ identifiers: [EntityIdentifier<E>], asOf: UInt64?, knownAt: UInt64? = nil,
    onlySynchronized: Bool = false, keepsOrder: Bool = true, isConfirmation: Bool = false
  ) throws -> [EntityIdentifier<E>] {
    if keepsOrder { try keepTombstones(ofNamespace: E.identifierNamespace) }
    let now = keepsOrder && asOf == nil ? takeSequenceNumber() : 0
    let current = try identifiers.map { try snapshot.currentIdentifier(of: $0) }.unique
    let wanted = try current.filter { identifier in
      guard let asOf else { return true }
      let state = try snapshot.sequenceState(of: identifier.modelIdentifier)
      return try state.sequenceNumber <= asOf && (state.isDated || !onlySynchronized)
        && (isConfirmation || !snapshot.isRefused(identifier.modelIdentifier))
    }
    let deleted = try delete(wanted.map(\.modelIdentifier))
    if keepsOrder {
      for identifier in wanted {
        // An answer's number may be below that of this commit.
        try setSequenceRow(
          SequenceRow(.tombstone, sequenceNumber: knownAt ?? asOf ?? now),
          of: identifier.modelIdentifier)
      }
    }
    return wanted.filter { deleted.contains(ByteString($0.modelIdentifier)) }
  }

  /// Arranges entities in the order of a list, if their natural order differs.
  ///
  /// They share the ranks that they have together. So any subset of them is in this order, and all other
  /// entities stay where they are.
  /// - Parameter identifiers: The identifiers of nodes, in order.
  /// - Returns: Whether one of them has moved.
  /// - Throws: `StoreError`, `LMDBError`.
  package mutating func arrange(_ identifiers: [String]) throws -> Bool {
    var members: [(identifier: String, rank: UInt64)] = []
    for identifier in identifiers.map({ ByteString($0) }).unique.map(\.text) {
      guard let rank = try snapshot.naturalRank(of: identifier) else { continue }
      members.append((identifier, rank))
    }
    let ranks = members.map(\.rank).ordered()
    var hasMoved = false
    for (member, rank) in zip(members, ranks) where member.rank != rank {
      try setNaturalRank(rank, of: member.identifier)
      try touch(member.identifier)
      hasMoved = true
    }
    return hasMoved
  }
}

extension ModelTransaction {
  /// Records that entities of a type have another order than that of their inserts.
  package mutating func markArranged(_ typeName: String) throws {
    try setProperty(QueueNames.arrangement(typeName), to: [1])
  }

  /// Notes that entities stand in the order in which they come.
  mutating func forgetArrangement() throws { try forgetProperties(QueueNames.arrangements) }

  /// Removes all requests of all clients, and the identifiers that servers have assigned.
  package mutating func forgetRequests() throws {
    for prefix in QueueNames.all { try forgetProperties(prefix) }
    guard let next = try snapshot.property(QueueNames.next) else { return }
    try setProperty(QueueNames.next, to: Array([next, next].map { $0.prefix(8) }.joined()))
  }

  /// Removes the synchronization states of all types.
  mutating func forgetSynchronization() throws { try forgetProperties(QueueNames.syncs) }

  mutating func forgetProperties(_ prefix: String) throws {
    var names: [String] = []
    try snapshot.forEachProperty(withPrefix: prefix) { name, _ in
      names.append(name)
      return true
    }
    for name in names { try setProperty(name, to: nil) }
  }
}

/// Makes the tree of an answer fit what has been written since the request was made.
///
/// A node inside it that is newer in the store keeps the stored value. A node removed later is left out.
private struct AnswerFitting {
  let asOf: UInt64
  private let waitingSince: UInt64?
  /// The nodes of the tree for which the answer is the latest value, the innermost first.
  private(set) var answered: [Node] = []

  struct Node {
    let identifier: String
    let model: any Model
    /// Whether no child was left out.
    let isWhole: Bool
  }

  init(asOf: UInt64, waitingSince: UInt64?) {
    (self.asOf, self.waitingSince) = (asOf, waitingSince)
  }

  /// Whether a node that is not the subject of the request is newer in the store.
  func isOlder(
    than state: SequenceState, of identifier: String, in snapshot: ModelSnapshot
  ) throws -> Bool {
    if state.sequenceNumber > asOf { return true }
    // Its write waited at the request and has been confirmed since; the answer may lack it.
    if let waitingSince, state.isDated, state.sequenceNumber >= waitingSince,
      !SequenceNumber.isOfRead(state.sequenceNumber)
    {
      return true
    }
    return try snapshot.isWaiting(identifier)
  }

  /// Fits the children of a node, and takes the node itself as it is in the answer.
  ///
  /// - Returns: `nil` if a required child was removed later.
  mutating func fit(
    _ model: any Model, _ identifier: String, in snapshot: ModelSnapshot
  ) throws -> (any Model)? {
    guard let fitted = try fitChildren(of: model, in: snapshot) else { return nil }
    answered.append(Node(identifier: identifier, model: fitted.model, isWhole: fitted.isWhole))
    return fitted.model
  }

  private mutating func fitChildren(
    of model: any Model, in snapshot: ModelSnapshot
  ) throws -> (model: any Model, isWhole: Bool)? {
    var children: [any Model] = []
    model.forEach { children.append($0) }
    guard !children.isEmpty else { return (model, true) }
    var fitted: [(any Model)?] = []
    var isWhole = true
    for child in children {
      if let identifier = child.modelIdentifier {
        fitted.append(try fitChild(child, identifier, in: snapshot))
      } else {
        // A child without an identifier is part of the node's record.
        let part = try fitChildren(of: child, in: snapshot)
        fitted.append(part?.model)
        isWhole = isWhole && part?.isWhole ?? false
      }
      isWhole = isWhole && fitted.last ?? nil != nil
    }
    var next = 0
    let changed = model.map { child in
      defer { next += 1 }
      return next < fitted.count ? fitted[next] : child
    }
    return changed.map { ($0, isWhole) }
  }

  private mutating func fitChild(
    _ child: any Model, _ identifier: String, in snapshot: ModelSnapshot
  ) throws -> (any Model)? {
    let state = try snapshot.sequenceState(of: identifier)
    guard try isOlder(than: state, of: identifier, in: snapshot) else {
      return try fit(child, identifier, in: snapshot)
    }
    guard state.isStored, let type = type(of: child) as? any (Model & Decodable).Type else {
      return nil
    }
    return try Self.read(identifier, as: type, snapshot)
  }

  static func read<M: Model & Decodable>(
    _ identifier: String, as type: M.Type, _ snapshot: ModelSnapshot
  ) throws -> (any Model)? { try snapshot.get(identifier, as: type) }
}
