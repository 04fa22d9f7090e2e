import PandoManagers
import PandoModels
import PandoStore

/// An answer to a request behind which another one about the same node waits.
///
/// What is here is newer than the answer, so it stays. Should the other request be refused, what the server has
/// said is what was there before it: the answer is kept there.
struct LateAnswer {
  /// The request that was answered, while it is still in the queue.
  let entry: QueuedRequest
  /// Later requests about the same nodes.
  let later: LaterRequests

  /// Whether a later request of the same commit is about one of its entities.
  func isOvertaken(in rows: QueueRows) throws -> Bool {
    try later.all(in: rows).contains { number in
      guard let next = try QueueTable.entry(number, in: rows), next.id > entry.id,
        next.state != .failed, next.commitNumber == entry.commitNumber
      else { return false }
      return next.subjects.contains { name in
        entry.subjects.contains { $0.hasSameBytes(as: name) }
      }
    }
  }

  /// Lets the next request about each node have found what this one has sent.
  func keepSent(in rows: QueueRows) throws {
    for node in try entry.undo.map({ try QueuedUndo($0, in: rows) })?.nodes ?? []
    where !node.after.isEmpty {
      try keep(node.after, of: node.identifier, in: rows)
    }
  }

  /// Lets the next request about a node have found what the answer says of it.
  ///
  /// - Parameters:
  ///   - answered: The records of the node, as the answer has it.
  ///   - identifier: The identifier of the node.
  ///   - rows: The rows of the queue.
  /// - Throws: What the disk throws.
  func keep(_ answered: NodeRecords, of identifier: String, in rows: QueueRows) throws {
    var isNext = true
    for number in try later.all(in: rows) {
      guard var next = try QueueTable.entry(number, in: rows), next.id > entry.id,
        next.state != .failed, let bytes = next.undo
      else { continue }
      var undo = try QueuedUndo(bytes, in: rows)
      let same = undo.nodes.firstIndex { $0.identifier.hasSameBytes(as: identifier) }
      guard let place = same else { continue }
      guard undo.nodes[place].isChanged else {
        // It has written the node as it was; its answer says the same to the one behind it.
        guard isNext, undo.nodes[place].before == answered else { continue }
        isNext = false
        undo.nodes[place].datedAt = entry.answerPlace
        next.undo = try undo.bytes
        try rows.setValue(next.name, to: QueueTable.encode(next))
        continue
      }
      let found = undo.nodes[place].before
      if found.isEmpty { return }
      let sent = try entry.undo.flatMap { try QueuedUndo($0, in: rows) }?.nodes
        .first { $0.identifier.hasSameBytes(as: identifier) }?.after
      undo.nodes[place].before = try found.undoing(
        from: answered, to: sent ?? found, dictionaries: undo.nodes[place].dictionaries)
      if undo.nodes[place].before == answered { undo.nodes[place].datedAt = entry.answerPlace }
      next.undo = try undo.bytes
      return try rows.setValue(next.name, to: QueueTable.encode(next))
    }
  }
}
