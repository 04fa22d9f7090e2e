import PandoLMDB
import PandoModels
import PandoRecords

/// The outcome of an update.
struct UpdateOutcome {
  /// The written nodes.
  var written: [String] = []
  /// Whether the stored tree now equals the caller's.
  var isAsGiven = true
}

extension WriteSession {
  /// Applies the differences between two versions of a tree to the stored state.
  ///
  /// - Parameters:
  ///   - new: The tree with the caller's changes.
  ///   - old: The trees that the caller has read. Stored nodes of `new` that are in none of them
  ///     keep their content, except the root, which is written as given.
  /// - Returns: The outcome.
  /// - Throws: ``StoreError`` `noSuchNode` if the root was read and is no longer stored.
  func set<M: SimpleModel & Encodable>(_ new: M, replacing old: [M]) throws -> UpdateOutcome {
    var base = PendingRecords(firstNewNode: state.counters.nextNode)
    for tree in old {
      let collector = RecordCollector(self)
      _ = try RecordEncoder(sink: collector).encode(tree)
      unsafe base.append(collector.pending.effective().records, of: collector.pending)
    }
    let collector = RecordCollector(self)
    let root = try RecordEncoder(sink: collector).encode(new)
    var update = TreeUpdate(
      session: self, base: base, new: unsafe collector.pending, root: root.node,
      enums: EnumPlaces(in: new), formerIdentifiers: collector.formerIdentifiers)
    try update.plan()
    try store(update.changes, mayCloseCycle: true, root: root.node)
    try removeUnusedIdentifiers()
    return update.outcome
  }
}

/// Determines which records an update writes.
///
/// `base`, `new` and `known` are the compared trees, constant after `init`; `changes` and `outcome`
/// are the result of ``plan()``, which runs once.
private struct TreeUpdate {
  let session: WriteSession
  let base: PendingRecords
  let new: PendingRecords
  let root: UInt64
  /// The places of enums in the caller's tree.
  private let enums: EnumPlaces
  /// The former identifiers in that tree, by the present ones.
  private let formerIdentifiers: [String: String]
  private var known: [RecordReference: PendingRecords.Record] = [:]
  /// The records to write.
  private(set) var changes: PendingRecords
  private(set) var outcome = UpdateOutcome()

  init(
    session: WriteSession, base: PendingRecords, new: PendingRecords, root: UInt64,
    enums: EnumPlaces, formerIdentifiers: [String: String]
  ) {
    self.session = session
    self.base = base
    self.new = new
    self.root = root
    self.enums = enums
    self.formerIdentifiers = formerIdentifiers
    changes = PendingRecords(firstNewNode: session.state.counters.nextNode)
    for record in base.records { known[record.reference] = record }
  }

  mutating func plan() throws {
    // If a node occurs twice, one occurrence counts.
    if new.hasRepeatedNodes { outcome.isAsGiven = false }
    var missing: [UInt64: [PendingRecords.Record]] = [:]
    for record in effective() {
      let node = record.reference.node
      if try session.reading({ try $0.contains(node: node) }) {
        try plan(record)
      } else {
        missing[node, default: []].append(record)
      }
    }
    if let record = missing.removeValue(forKey: root)?.last {
      guard known[record.reference] == nil else {
        throw StoreError(
          .noSuchNode, record.identifier,
          "was deleted after it had been read; set it to bring it back")
      }
      try add(record, body: Array(new.body(of: record)))
    }
    // New records are stored only if a record refers to them. A deleted node that the caller did
    // not change stays deleted.
    var index = 0
    while index < changes.records.count {
      for edge in changes.edges(of: changes.records[index]) {
        for record in missing.removeValue(forKey: edge.child.node) ?? [] {
          try add(record, body: Array(new.body(of: record)))
        }
      }
      index += 1
    }
    if !missing.isEmpty { outcome.isAsGiven = false }
  }

  /// The effective records: of several for one node and type, the last one that the caller changed.
  private func effective() -> [PendingRecords.Record] {
    guard new.hasRepeatedNodes else { return new.records }
    let changed = new.records.map { record in
      known[record.reference].map { base.body(of: $0) != new.body(of: record) } ?? false
    }
    var last: [RecordReference: Int] = [:]
    for (index, record) in new.records.enumerated() {
      if let earlier = last[record.reference], changed[earlier], !changed[index] { continue }
      last[record.reference] = index
    }
    return new.records.enumerated().filter { last[$1.reference] == $0 }.map(\.element)
  }

  /// Plans the change of a stored node.
  private mutating func plan(_ record: PendingRecords.Record) throws {
    let key = RecordKey(record.reference)
    let given = Array(new.body(of: record))
    let own = try session.storedBody(of: key)
    if own == given { return }
    if let old = known[record.reference].map({ Array(base.body(of: $0)) }) {
      guard old != given else {
        outcome.isAsGiven = false
        return
      }
      guard own != old else { return try add(record, body: given) }
      outcome.isAsGiven = false
      // Without a record of its type, the node was read from its newest one, and gets a new record.
      var stored = own ?? old
      if own == nil {
        guard let newest = try newestBody(of: key.node) else { return }
        let merge = try RecordBody.merging(newest.span, into: old.span, policy: .projection)
        stored = merge.body ?? old
      }
      let typeName = try session.typeName(key.type)
      let names = [record.identifier, formerIdentifiers[record.identifier]].compactMap(\.self)
      let body = try RecordBody.rebasing(given, from: old, onto: stored) { place, _ in
        names.contains { enums.contains(place, inNode: $0, typeName: typeName) }
      }
      if body != own { try add(record, body: body) }
    } else if record.reference.node == root {
      try add(record, body: given)
    } else {
      outcome.isAsGiven = false
      // It may need fields that no other type of the node has.
      guard own == nil, let stored = try newestBody(of: key.node) else { return }
      let merge = try RecordBody.merging(stored.span, into: given.span, policy: .projection)
      try add(record, body: merge.body ?? given)
    }
  }

  /// The body of a node's newest record.
  private func newestBody(of node: UInt64) throws -> [UInt8]? {
    guard let key = try session.reading({ try $0.recordKey(node: node, preferring: nil) }) else {
      return nil
    }
    return try session.storedBody(of: key)
  }

  private mutating func add(_ record: PendingRecords.Record, body: [UInt8]) throws {
    let edges = try RecordBody.edges(in: body.span)
    unsafe body.withUnsafeBytes { bytes in
      unsafe changes.append(
        record.reference, identifier: record.identifier, body: bytes, edges: edges)
    }
    outcome.written.append(record.identifier)
  }
}
