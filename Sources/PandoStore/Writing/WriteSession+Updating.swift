import PandoLMDB
import PandoModels

/// What an update has done.
struct UpdateOutcome {
  /// The nodes that it has written.
  var written: [String] = []
  /// Whether what is stored now is the tree that the caller gave.
  var isAsGiven = true
}

extension WriteSession {
  /// Writes what differs between two versions of a tree into what is stored now.
  ///
  /// - Parameters:
  ///   - new: The tree that the caller wants.
  ///   - old: The trees that the caller has read. A stored node of `new` that is in none of them is only
  ///     referred to, but for the root, which is written as given.
  /// - Returns: What it has done.
  /// - Throws: ``StoreError`` `noSuchNode` if the root was read and is not stored any more.
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

/// Finds out which records an update writes.
private struct TreeUpdate {
  let session: WriteSession
  let base: PendingRecords
  let new: PendingRecords
  let root: UInt64
  /// Where enums stand in the tree that the caller wants.
  private let enums: EnumPlaces
  /// The identifiers under which that tree has nodes that are stored under others.
  private let formerIdentifiers: [String: String]
  private var known: [RecordReference: PendingRecords.Record] = [:]
  /// What is to be written.
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
    // Of a node that stands twice one place counts.
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
    // What is stored newly: only what something refers to. A deleted node that was merely carried
    // along stays away.
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

  /// The records that count: of several for one node and type the last one that the caller has changed.
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

  /// Plans what becomes of a node that is stored.
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
      // Without a record of its type it was read from the newest one, and gets one of its own.
      var stored = own ?? old
      if own == nil {
        guard let newest = try newestBody(of: key.node) else { return }
        let merge = try RecordBody.merging(newest.span, into: old.span, policy: .projection)
        stored = merge.body ?? old
      }
      let typeName = try session.typeName(key.type)
      let body = try RecordBody.rebasing(given.span, from: old.span, onto: stored.span) {
        for identifier in [record.identifier, formerIdentifiers[record.identifier]] {
          guard let identifier else { continue }
          if enums.contains($0, inNode: identifier, typeName: typeName) { return true }
        }
        return false
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

  /// The body of the record of a node that was written last.
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
