import PandoManagers
import PandoModels
import PandoRecords
import PandoStore

/// An answer to a request behind which another one for the same node waits.
///
/// The stored node is newer than the answer, so it stays. The answer becomes the state before the other request, which
/// Pando restores if the server refuses that request.
struct LateAnswer {
  /// The request that was answered, while it is still in the queue.
  let entry: QueuedRequest
  /// Later requests for the same nodes.
  let later: LaterRequests

  /// Whether a later request of the same commit changes one of its entities.
  func isOvertaken(in rows: QueueRows) throws -> Bool {
    try numbers(in: rows).contains { number in
      guard let next = try QueueTable.entry(number, in: rows), next.id > entry.id,
        next.state != .failed, next.commitNumber == entry.commitNumber
      else { return false }
      return next.subjects.contains { name in
        entry.subjects.contains { $0.hasSameBytes(as: name) }
      }
    }
  }

  /// The numbers of the later requests for its nodes, up to the next one that replaces each of them.
  private func numbers(in rows: QueueRows) throws -> [UInt64] {
    let all = try later.all(in: rows)
    // A dropped or replaced request stays in its lanes until its turn, and hides those behind it.
    if try all.allSatisfy({ try rows.value(QueueNames.waiting($0)) != nil }) { return all }
    let former = entry.subjects + (entry.inside ?? [])
    let current = try former.map { name in
      try rows.reading { try $0.currentIdentifier(of: name) }
    }
    return try QueueTable.requests(behind: entry.id, at: former + current, in: rows).map(\.id)
  }

  /// Stores the values that this request sent as the state of each node before its next request.
  func keepSent(in rows: QueueRows) throws {
    for node in try entry.undo.map({ try QueuedUndo($0, in: rows) })?.nodes ?? []
    where !node.after.isEmpty {
      try keep(node.after, of: node.identifier, in: rows)
    }
  }

  /// Makes the answer's version of a node the state before the next request that changes or sends the node.
  ///
  /// - Parameters:
  ///   - answered: The records of the node in the answer.
  ///   - identifier: The identifier of the node.
  ///   - rows: The rows of the queue.
  /// - Throws: Errors of the disk.
  func keep(_ answered: NodeRecords, of identifier: String, in rows: QueueRows) throws {
    var isNext = true
    for number in try numbers(in: rows) {
      guard var next = try QueueTable.entry(number, in: rows), next.id > entry.id,
        next.state != .failed, let bytes = next.undo
      else { continue }
      var undo = try QueuedUndo(bytes, in: rows)
      let same = undo.nodes.firstIndex { $0.identifier.hasSameBytes(as: identifier) }
      guard let place = same else { continue }
      var node = undo.nodes[place]
      // A request that sends the node changes it on the server, even if it has changed nothing locally.
      guard node.isChanged || next.changes(identifier) else {
        if isNext, node.before == answered {
          undo.nodes[place].datedAt = entry.answerPlace
          next.undo = try undo.bytes
          try rows.setValue(next.name, to: QueueTable.encode(next))
        }
        isNext = false
        continue
      }
      // A node that was created behind this request, or read behind it, is newer than the answer.
      if node.before.isEmpty || node.datedAt ?? 0 > entry.answerPlace { return }
      let found = node.before
      let sent = try entry.undo.flatMap { try QueuedUndo($0, in: rows) }?.nodes
        .first { $0.identifier.hasSameBytes(as: identifier) }?.after
      node.before = try found.undoing(
        from: answered, to: sent ?? found, dictionaries: node.dictionaries)
      if node.before == answered {
        node.datedAt = entry.answerPlace
      } else if node.before != found {
        node.datedAt = nil
      }
      undo.nodes[place] = node
      next.undo = try undo.bytes
      return try rows.setValue(next.name, to: QueueTable.encode(next))
    }
  }
}
