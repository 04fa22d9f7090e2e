import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// Undoes the write of a refused request, in the transaction that keeps the request as failed.
///
/// A value that the write changed, and no other write has changed since, gets its earlier value: field by field, and
/// element by element in lists. Later requests for the same nodes are rewritten as if the write had never been: the
/// state that they replaced, and their contents.
struct WriteUndo {
  private let rows: QueueRows
  private let undo: QueuedUndo
  private let isNew: Bool
  private var nodes: [QueuedUndo.Node] { undo.nodes }

  /// Prepares an undo.
  ///
  /// - Parameters:
  ///   - undo: The state that the write has replaced.
  ///   - rows: The rows of the queue.
  ///   - isNew: Whether the restored state is newer than all earlier reads from the server.
  init(_ undo: QueuedUndo, in rows: QueueRows, isNew: Bool = false) {
    self.rows = rows
    self.undo = undo
    self.isNew = isNew
  }

  /// Undoes the write.
  ///
  /// - Parameters:
  ///   - entry: The request.
  ///   - later: The numbers of later requests for the same nodes; those that were sent keep their content.
  /// - Throws: `StoreError` if the store can't restore the earlier state; errors of the disk.
  func carryOut(_ entry: QueuedRequest, before later: [UInt64]) throws {
    // A write to the server alone has changed nothing here, and keeps its content.
    let later = try later.lazy.filter { $0 > entry.id }
      .compactMap { try QueueTable.entry($0, in: rows) }
      .filter { $0.state != .failed && !$0.isServerOnly }
    let writes = self.later(later, of: entry)
    if try isRemovedAgain(since: entry, writes) {
      // The later removal stays. If the server refuses it, too, its undo restores all of this.
      _ = try rebase(later, behind: entry, isRemovedAgain: true)
      return
    }
    let left = try rebase(later, behind: entry, writes.heirs)
    let (changes, waiting) = (left.changes, left.waiting)
    try restoreRemoved(changes)
    for name in changes.keys.ordered() {
      guard let change = changes[name], !change.isWhole else { continue }
      // A node that was removed since and exists was created again.
      if !writes.removed.contains(name) { try revert(name.text, change) }
    }
    var gone: Set<ByteString> = []
    for node in nodes where node.before.isEmpty {
      let name = ByteString(node.identifier)
      guard !writes.heirs.contains(name), !writes.removed.contains(name) else { continue }
      let isSubject = entry.subjects.contains { $0.hasSameBytes(as: node.identifier) }
      // A later request that creates the entity also creates the nodes inside.
      guard isSubject || writes.heirs.isEmpty else { continue }
      if try removeMade(node, isSubject: isSubject, before: later) { gone.insert(name) }
    }
    if !gone.isEmpty { try forget(gone, in: later) }
    for place in undo.places { try restore(place) }
    // Not for nodes of later requests: the stored state is newer than their answers.
    for node in nodes where !waiting.contains(ByteString(node.identifier)) {
      try restoreDate(of: node)
    }
  }

  /// Removes nodes from the states before and after later requests that contain them.
  ///
  /// The requests still send the nodes; a server that does not have these refuses them.
  private func forget(_ gone: Set<ByteString>, in later: [QueuedRequest]) throws {
    for number in later.map(\.id) {
      guard var entry = try QueueTable.entry(number, in: rows), let bytes = entry.undo else {
        continue
      }
      var undo = try QueuedUndo(bytes, in: rows)
      var isChanged = false
      for place in undo.nodes.indices {
        for records in [\QueuedUndo.Node.before, \QueuedUndo.Node.after] {
          let found = undo.nodes[place][keyPath: records]
          guard let left = try found.losing(gone.contains), left != found else { continue }
          undo.nodes[place][keyPath: records] = left
          isChanged = true
        }
        if let left = try undo.nodes[place].found?.losing(gone.contains) {
          undo.nodes[place].found = left
        }
      }
      guard isChanged else { continue }
      entry.undo = try undo.bytes
      try rows.setValue(entry.name, to: QueueTable.encode(entry))
    }
  }

  /// Marks a node as sent by a server, if it was so before the write and has the same records again.
  private func restoreDate(of node: QueuedUndo.Node) throws {
    guard let place = node.datedAt else { return }
    let (state, records) = try rows.reading { snapshot in
      (try snapshot.sequenceState(of: node.identifier), try snapshot.records(of: node.identifier))
    }
    guard state.isStored, !state.isDated, records == node.before else { return }
    try rows.transaction.setSequenceRow(
      SequenceRow(.dated, sequenceNumber: place, commit: state.commit),
      of: node.identifier)
  }

  /// Whether the entity that the write has removed was removed again since.
  private func isRemovedAgain(since entry: QueuedRequest, _ writes: LaterWrites) throws -> Bool {
    guard let first = nodes.first, first.after.isEmpty else { return false }
    if writes.removed.contains(ByteString(first.identifier)) { return true }
    let state = try rows.reading { try $0.sequenceState(of: first.identifier) }
    return !state.isStored
      && state.sequenceNumber > SequenceNumber.of(commit: entry.commitNumber.value)
  }

  /// Restores the nodes that the write has removed, children before their parents.
  private func restoreRemoved(_ changes: [ByteString: NodeChange]) throws {
    var removed: [ByteString: QueuedUndo.Node] = [:]
    for var node in nodes where node.after.isEmpty {
      let name = ByteString(node.identifier)
      // Without nodes that others have removed since.
      if let records = changes[name]?.restored { node.before = records }
      removed[name] = node
    }
    var opened: Set<ByteString> = []
    for first in nodes where first.after.isEmpty {
      var path = [ByteString(first.identifier)]
      while let name = path.last {
        if let node = removed[name], opened.insert(name).inserted {
          let held = try node.before.references.filter { removed[$0] != nil }
          path += held.filter { !opened.contains($0) }
          continue
        }
        path.removeLast()
        if let node = removed.removeValue(forKey: name) { try restore(node) }
      }
    }
  }

  /// Restores a node that the write has removed.
  private func restore(_ node: QueuedUndo.Node) throws {
    guard try !rows.reading({ try $0.contains(node.identifier) }) else { return }
    try keepingPlace(of: node.identifier) {
      var records = node.before
      let missing = try records.references.filter { name in
        try !rows.reading { try $0.contains(name.text) }
      }
      for (place, record) in records.records.enumerated() {
        // The store throws if a required child is missing.
        guard case .changed(let body) = try record.losing(missing.contains) else { continue }
        records.records[place].body = body
      }
      for tree in try records.trees(node.identifier) { try rows.transaction.set(tree) }
    }
  }

  /// Undoes the remaining change of the write in a node.
  private func revert(_ identifier: String, _ change: NodeChange) throws {
    try keepingPlace(of: identifier) {
      let records = try rows.reading { try $0.records(of: identifier) }
      for tree in try change.undoing(records).changes(from: records).trees(identifier) {
        try rows.transaction.rewrite(tree)
      }
    }
  }

  /// Writes a node with its present sequence number, so that answers to reads since then are newer.
  private func keepingPlace(of identifier: String, _ write: () throws -> Void) throws {
    if isNew { return try write() }
    let state = try rows.reading { try $0.sequenceState(of: identifier) }
    try write()
    guard state.sequenceNumber > 0,
      let commit = try rows.reading({ try $0.commitValue(of: identifier) }),
      commit != state.commit
    else { return }
    let kind: SequenceRow.Kind = state.isDated ? .dated : .confirmed
    try rows.transaction.setSequenceRow(
      SequenceRow(kind, sequenceNumber: state.sequenceNumber, commit: commit), of: identifier)
  }

  /// The effects of later requests on the entities that this one changes.
  private func later(_ later: [QueuedRequest], of first: QueuedRequest) -> LaterWrites {
    var found = LaterWrites()
    let subjects = first.subjects.map { ByteString($0) }
    // Without local identifiers: later requests for those entities can't be sent any more.
    let made = nodes.filter { $0.before.isEmpty && !$0.identifier.contains(":local:") }
      .map { ByteString($0.identifier) }
    for entry in later {
      for name in entry.subjects.map({ ByteString($0) }) where subjects.contains(name) {
        if entry.request.method == .delete {
          found.removed.insert(name)
        } else if made.contains(name), !found.removed.contains(name) {
          found.heirs.insert(name)
        }
      }
    }
    return found
  }

  /// Removes a node that the write has created; one inside an entity only if it is unchanged and not in use.
  ///
  /// - Returns: Whether it has removed the node.
  private func removeMade(
    _ node: QueuedUndo.Node, isSubject: Bool, before later: [QueuedRequest]
  ) throws -> Bool {
    let isKept = try rows.reading { snapshot in
      guard try snapshot.contains(node.identifier) else { return true }
      if isSubject { return false }
      return try !snapshot.parents(of: node.identifier).isEmpty
        || !snapshot.collections(holding: node.identifier).isEmpty
        || snapshot.records(of: node.identifier) != node.after
        || isHeld(node.identifier, by: later)
    }
    guard !isKept else { return false }
    let place = rows.transaction.takeSequenceNumber()
    try rows.transaction.deleteIfPresent(node.identifier)
    try rows.transaction.setSequenceRow(
      SequenceRow(.tombstone, sequenceNumber: place), of: node.identifier)
    return true
  }

  /// Whether a later request has found or left a node in another one, so that it sends or restores the node.
  private func isHeld(_ identifier: String, by later: [QueuedRequest]) throws -> Bool {
    let name = ByteString(identifier)
    return try later.contains { old in
      guard let bytes = try QueueTable.entry(old.id, in: rows)?.undo else { return false }
      return try QueuedUndo(bytes, in: rows).nodes.contains {
        try $0.before.references.contains(name) || $0.after.references.contains(name)
      }
    }
  }

  /// Restores an element of a collection, if the collection exists.
  private func restore(_ place: QueuedUndo.Place) throws {
    let key = place.collection
    let count = try rows.reading { snapshot -> Int? in
      guard try snapshot.contains(place.identifier),
        try !snapshot.collections(holding: place.identifier).contains(key)
      else { return nil }
      return try snapshot.collectionTrees(key, depth: 0)?.count
    }
    guard let count else { return }
    try rows.transaction.insert(
      [.reference(identifier: place.identifier, typeName: place.typeName)],
      at: min(place.index, count), inCollection: key)
  }

  /// Rewrites later requests as if the write had never been.
  ///
  /// - Returns: The remainder of the write after them.
  fileprivate func rebase(
    _ later: [QueuedRequest], behind first: QueuedRequest, _ heirs: Set<ByteString> = [],
    isRemovedAgain: Bool = false
  ) throws -> Remainder {
    var lacksHeir = isRemovedAgain
    var heirs = heirs
    var changes: [ByteString: NodeChange] = [:]
    var waiting: Set<ByteString> = []
    var dated: [ByteString: QueuedUndo.Node] = [:]
    for node in nodes {
      if node.isChanged { changes[ByteString(node.identifier)] = NodeChange(node) }
      if node.datedAt != nil { dated[ByteString(node.identifier)] = node }
    }
    for var entry in later {
      waiting.formUnion(entry.subjects.lazy.map { ByteString($0) })
      guard let bytes = entry.undo else {
        // It sends the stored entity, or the state before the requests behind it.
        if entry.attemptCount == 0, AnswerNote(entry.note)?.sendsEntity == true {
          entry.isOutdated = true
          try rows.setValue(entry.name, to: QueueTable.encode(entry))
        }
        continue
      }
      var undo = try QueuedUndo(bytes, in: rows)
      var isOutdated = false
      let removed = undo.removed
      let knownCount = undo.nodes.count
      for name in removed.isEmpty ? [] : changes.keys.ordered()
      where !undo.nodes.contains(where: { ByteString($0.identifier) == name }) {
        guard let (node, left) = try changes[name]?.removal(of: removed, from: name.text)
        else { continue }
        undo.nodes.append(node)
        entry.related = (entry.related ?? []) + [name.text]
        changes[name] = left
      }
      // Nodes that were just added need no change.
      for place in undo.nodes.indices.prefix(knownCount) {
        let name = ByteString(undo.nodes[place].identifier)
        let (before, isChanged) = (undo.nodes[place].before, undo.nodes[place].isChanged)
        if let change = changes[name] {
          let isSubject = first.subjects.contains { $0.hasSameBytes(as: name.text) }
          let left = undo.nodes[place].after
          // The part of the change that remains counts for the next request.
          changes[name] = try change.undo(
            in: &undo.nodes[place], removing: removed, isSubject: isSubject)
          if left != undo.nodes[place].after { isOutdated = true }
          if before != undo.nodes[place].before { undo.nodes[place].datedAt = nil }
        }
        guard let sent = dated[name] else { continue }
        if sent.before == undo.nodes[place].before { undo.nodes[place].datedAt = sent.datedAt }
        if isChanged { dated[name] = nil }
      }
      for name in entry.subjects.map({ ByteString($0) }) where heirs.remove(name) != nil {
        let known = undo.nodes.map { ByteString($0.identifier) }
        for node in nodes where node.before.isEmpty {
          let made = ByteString(node.identifier)
          guard !known.contains(made) else { continue }
          undo.nodes.append(node)
          // For the requests behind it, this one has created the node.
          changes[made] = nil
        }
      }
      if lacksHeir, entry.subjects == first.subjects, undo.nodes.first?.after.isEmpty != false {
        lacksHeir = false
        // If the entity was created again between the two, the next removal has found that one.
        if undo.nodes.isEmpty {
          (undo.nodes, undo.places) = (nodes, self.undo.places)
          changes = [:]
        }
      }
      waiting.formUnion(undo.nodes.lazy.map { ByteString($0.identifier) })
      entry.undo = try undo.bytes
      // A request that the server may have received is sent again as it is.
      if isOutdated, undo.sendsEntity, entry.attemptCount == 0 { entry.isOutdated = true }
      try rows.setValue(entry.name, to: QueueTable.encode(entry))
    }
    return Remainder(changes: changes, waiting: waiting, dated: dated)
  }

  /// The remainder of a write after later requests.
  fileprivate struct Remainder {
    /// The parts of its changes, by node.
    let changes: [ByteString: NodeChange]
    /// The nodes of the later requests.
    let waiting: Set<ByteString>
    /// The nodes that a server had sent before the write, and that no later request has changed.
    let dated: [ByteString: QueuedUndo.Node]
  }
}

/// The effects of later requests on entities.
private struct LaterWrites {
  /// The entities that this request has created and a later one stores, which then creates them.
  var heirs: Set<ByteString> = []
  /// The entities that a later request removes.
  var removed: Set<ByteString> = []
}

extension QueuedRequest {
  /// Takes over the replaced state of a request that this one replaces.
  mutating func takePlace(of aborted: QueuedRequest, in rows: QueueRows) throws {
    if let others = aborted.inside {
      inside = ((inside ?? []) + others).map { ByteString($0) }.unique.map(\.text)
    }
    guard let former = aborted.undo, !aborted.isUndone, let undo else { return }
    let old = try QueuedUndo(former, in: rows)
    var new = try QueuedUndo(undo, in: rows)
    // The changes of the aborted request are now changes of this one, and no longer come before those in between.
    let left = try WriteUndo(old, in: rows).rebase(aborted.overtaken(in: rows), behind: aborted)
    for earlier in old.nodes {
      let name = ByteString(earlier.identifier)
      let place = new.nodes.firstIndex { $0.identifier.hasSameBytes(as: earlier.identifier) }
      guard let place else {
        if left.changes[name] != nil || !left.waiting.contains(name) { new.nodes.append(earlier) }
        continue
      }
      var node = new.nodes[place]
      _ = try left.changes[name]?.undo(in: &node)
      if left.dated[name]?.before == node.before { node.datedAt = left.dated[name]?.datedAt }
      node.after = new.nodes[place].after
      node.found = new.nodes[place].found
      new.nodes[place] = node
    }
    new.places += old.places
    self.undo = try new.bytes
  }

  /// The waiting requests behind it in its lanes, without writes to the server alone.
  private func overtaken(in rows: QueueRows) throws -> [QueuedRequest] {
    let hasOthers = try marks.contains { try rows.value(QueueNames.mark($0)) != nil }
    return hasOthers
      ? try QueueTable.requests(behind: id, at: subjects + (related ?? []), in: rows)
        .filter { !$0.isServerOnly } : []
  }
}

extension QueuedRequest {
  /// Applies a refused write again if it was undone, and makes the request send the resulting entity.
  mutating func makeAgain(in rows: QueueRows) throws {
    guard let bytes = undo else {
      if isServerOnly {
        isUndone = false
        return try takePlace(in: rows)
      }
      isOutdated = AnswerNote(note)?.sendsEntity == true
      if isOutdated { try takePlace(in: rows) }
      if AnswerNote(note)?.kind == .remove { try removeAgain(in: rows) }
      return
    }
    try takePlace(in: rows)
    var undo = try QueuedUndo(bytes, in: rows)
    var found: [NodeRecords] = []
    for place in undo.nodes.indices {
      let node = undo.nodes[place]
      let (state, records) = try rows.reading { snapshot in
        (
          try snapshot.sequenceState(of: node.identifier),
          try snapshot.records(of: node.identifier)
        )
      }
      let before = try isUndone ? records : NodeChange(node).undoing(records)
      found.append(before)
      if isUndone {
        undo.nodes[place].datedAt = state.datedAt
      } else if before != node.before {
        undo.nodes[place].datedAt = nil
      }
    }
    for (place, records) in zip(undo.nodes.indices, found) where isUndone && !records.isEmpty {
      // The request that has created it was queued again before.
      if let first = undo.nodes[place].found { undo.nodes[place].before = first }
    }
    if isUndone { try WriteUndo(undo.redo, in: rows, isNew: true).carryOut(self, before: []) }
    for (place, found) in zip(undo.nodes.indices, found) {
      let identifier = undo.nodes[place].identifier
      (undo.nodes[place].before, undo.nodes[place].found) = (found, nil)
      undo.nodes[place].after = try rows.reading { try $0.records(of: identifier) }
    }
    undo.nodes.removeAll { $0.before.isEmpty && $0.after.isEmpty }
    (self.undo, isUndone, isOutdated) = (try undo.bytes, false, undo.sendsEntity)
  }

  /// Removes entities again that were restored since.
  private mutating func removeAgain(in rows: QueueRows) throws {
    try takePlace(in: rows)
    let place = rows.transaction.takeSequenceNumber()
    for subject in subjects {
      let name = try rows.reading { try $0.currentIdentifier(of: subject) }
      try rows.transaction.deleteIfPresent(name)
      try rows.transaction.setSequenceRow(
        SequenceRow(.tombstone, sequenceNumber: place), of: name)
    }
  }

  /// Makes it newer than all earlier writes.
  private mutating func takePlace(in rows: QueueRows) throws {
    _ = rows.transaction.takeSequenceNumber()
    commitNumber = try rows.transaction.commitNumber
  }
}

extension APIError {
  /// Whether the server does not have the write: it has refused the request, or has never received it.
  var meansUndone: Bool { !isConnectionFailure && code != .malformedAnswer }
}
