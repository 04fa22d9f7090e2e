import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore

/// Takes back what a refused request has written, in the transaction that sets the request aside.
///
/// What the write changed and nobody has changed since is as it was before: field by field, and in lists
/// element by element. Later requests about the same nodes are made as if the write had never been: what they
/// have replaced, and what they send.
struct WriteUndo {
  private let rows: StoredRows
  private let undo: QueuedUndo
  private var nodes: [QueuedUndo.Node] { undo.nodes }

  init(_ undo: QueuedUndo, in rows: StoredRows) {
    self.rows = rows
    self.undo = undo
  }

  /// Carries it out.
  ///
  /// - Parameters:
  ///   - entry: The request.
  ///   - later: The numbers of later requests about the same nodes that have not been sent.
  /// - Throws: `StoreError` where the store refuses what was there before; what the disk throws.
  func carryOut(_ entry: QueuedRequest, before later: [UInt64]) throws {
    for node in nodes where node.after.isEmpty { try restore(node) }
    for node in nodes where !node.after.isEmpty && !node.before.isEmpty { try revert(node) }
    for (place, node) in nodes.enumerated() where node.before.isEmpty {
      try removeMade(node, isFirst: place == 0)
    }
    for place in undo.places { try restore(place) }
    for number in later { try rebase(number, behind: entry) }
  }

  /// Brings back a node that the write has removed.
  private func restore(_ node: QueuedUndo.Node) throws {
    guard try !rows.reading({ try $0.contains(node.identifier) }) else { return }
    for record in node.before { try rows.transaction.rewrite(record) }
  }

  /// Takes the write's change out of a node.
  private func revert(_ node: QueuedUndo.Node) throws {
    for before in node.before {
      guard let after = node.after.record(of: before.typeName),
        var now = try rows.reading({ snapshot in
          try snapshot.typeNames(of: node.identifier).contains(before.typeName)
            ? snapshot.tree(node.identifier, as: before.typeName, depth: 0) : nil
        })
      else { continue }
      let fields = now.fields.undoing(from: before.fields, to: after.fields)
      guard fields != now.fields else { continue }
      now.fields = fields
      try rows.transaction.rewrite(now)
    }
  }

  /// Removes a node that the write has made: others than the first one only if nobody has use for them.
  private func removeMade(_ node: QueuedUndo.Node, isFirst: Bool) throws {
    let isKept = try rows.reading { snapshot in
      guard try snapshot.contains(node.identifier) else { return true }
      if isFirst { return false }
      return try !snapshot.parents(of: node.identifier).isEmpty
        || !snapshot.collections(holding: node.identifier).isEmpty
        || snapshot.records(of: node.identifier) != node.after
    }
    guard !isKept else { return }
    let place = rows.transaction.takeSequenceNumber()
    try rows.transaction.delete(node.identifier)
    try rows.transaction.setSequenceRow(
      SequenceRow(.tombstone, sequenceNumber: place), of: node.identifier)
  }

  /// Brings an element back to its collection, if that is there.
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

  /// Lets a later request be as if the write had never been.
  private func rebase(_ number: UInt64, behind first: QueuedRequest) throws {
    guard var entry = try QueueTable.entry(number, in: rows), entry.id > first.id,
      entry.state == .waiting, entry.attemptCount == 0
    else { return }
    if let bytes = entry.undo {
      var later = try QueuedUndo(bytes, in: rows)
      for (place, node) in later.nodes.enumerated() {
        guard let undone = nodes.first(where: { $0.identifier.hasSameBytes(as: node.identifier) })
        else { continue }
        later.nodes[place] = node.undoing(undone)
      }
      if let body = later.body {
        later.body = try undo.body.flatMap { try Self.undoing(body, $0, first.request.body?.bytes) }
      }
      entry.undo = try later.bytes
    }
    if let body = entry.request.body?.bytes, let before = undo.body,
      entry.handler == first.handler, entry.subjects == first.subjects
    {
      entry.request.body?.bytes = try Self.undoing(body, before, first.request.body?.bytes)
    }
    try rows.setValue(entry.name, to: QueueTable.encode(entry))
  }

  /// The content of a request as it would be without the write.
  static func undoing(_ body: Data, _ before: Data, _ after: Data?) throws -> Data {
    guard let after else { return body }
    let texts = [body, before, after].map { String(decoding: $0, as: UTF8.self) }
    let values = try texts.map { try TreeValue(json: $0) }
    let result = values[0].undoing(from: values[1], to: values[2])
    return result == values[0] ? body : Data(result.json().utf8)
  }
}

extension QueuedRequest {
  /// Takes over what a request has replaced whose place this one takes.
  mutating func takePlace(of aborted: QueuedRequest, in rows: any QueueRows) throws {
    guard let former = aborted.undo, !aborted.isUndone, let undo else { return }
    let old = try QueuedUndo(former, in: rows)
    var new = try QueuedUndo(undo, in: rows)
    for earlier in old.nodes {
      let place = new.nodes.firstIndex { $0.identifier.hasSameBytes(as: earlier.identifier) }
      guard let place else {
        new.nodes.append(earlier)
        continue
      }
      new.nodes[place].before = new.nodes[place].undoing(earlier).before
    }
    new.places += old.places
    new.body = try new.body.flatMap { body in
      try old.body.map { try WriteUndo.undoing(body, $0, aborted.request.body?.bytes) }
    }
    self.undo = try new.bytes
  }
}

extension APIError {
  /// Whether the server does not have what was written: it has refused it, or was never asked.
  var meansUndone: Bool { !isConnectionFailure && code != .malformedAnswer }
}
