import PandoManagers
import PandoModels
import PandoStore

/// Replaces a local identifier by the one that a server has assigned, everywhere in a store.
///
/// That is in the entity, in the trees and collections that contain it, in the entities that name it, and in waiting
/// requests, in one transaction. Rewritten nodes keep their sequence numbers.
final class IdentifierMerge<E: LocalEntity> {
  let old: EntityIdentifier<E>
  let new: EntityIdentifier<E>
  /// The types with relationships that may name entities of this type.
  let relatedTypes: [any Entity.Type]

  init(old: EntityIdentifier<E>, new: EntityIdentifier<E>, relatedTypes: [any Entity.Type]) {
    self.old = old
    self.new = new
    self.relatedTypes = relatedTypes
  }

  /// Replaces the identifier.
  ///
  /// - Parameters:
  ///   - transaction: The transaction that removes the answered request from the queue.
  ///   - renamed: Returns the stored entity with its new identifier.
  /// - Throws: Errors of the disk; `ModelError` when a record can't be read or written.
  func carryOut(
    in transaction: inout ModelTransaction, _ renamed: (E) throws -> E
  ) throws {
    let isEdited = try isEdited(in: QueueRows(transaction))
    try QueueTable.rename(IdentifierAlias(old, becomes: new), in: QueueRows(transaction))
    try moveEntity(in: &transaction, isEdited: isEdited, renamed)
    for type in relatedTypes { try renameRelated(type, in: &transaction) }
  }

  /// Whether requests that change the entity wait behind the one that creates it.
  private func isEdited(in rows: QueueRows) throws -> Bool {
    let name = old.modelIdentifier
    return try QueueTable.numbers(marking: name, in: rows).contains { number in
      guard let entry = try QueueTable.entry(number, in: rows), entry.state != .failed else {
        return false
      }
      return (entry.subjects + (entry.inside ?? [])).contains { $0.hasSameBytes(as: name) }
        && !entry.makes.contains { $0.hasSameBytes(as: name) }
    }
  }

  private func moveEntity(
    in transaction: inout ModelTransaction, isEdited: Bool, _ renamed: (E) throws -> E
  ) throws {
    let (oldName, newName) = (old.modelIdentifier, new.modelIdentifier)
    let state = try transaction.snapshot.sequenceState(of: oldName)
    guard let local = try transaction.snapshot.get(oldName, as: E.self) else {
      // It was removed here while the server created it. Neither this answer nor that to an earlier read restores it.
      let there = try transaction.snapshot.sequenceState(of: newName)
      guard state.sequenceNumber > 0,
        !there.isStored || isEdited || there.sequenceNumber <= state.sequenceNumber
      else { return }
      if there.isStored { try transaction.deleteIfPresent(newName) }
      return try transaction.setSequenceRow(
        SequenceRow(.tombstone, sequenceNumber: state.sequenceNumber), of: newName)
    }
    let rank = try transaction.snapshot.naturalRank(of: oldName)
    let there = try transaction.snapshot.sequenceState(of: newName)
    if !there.isStored || isEdited || there.sequenceNumber <= state.sequenceNumber {
      // A read may have stored the server's entity before this answer, without the changes that still wait.
      let entity = try renamed(local)
      let stored = try transaction.snapshot.get(newName, as: E.self)
      try copyProjections(in: &transaction)
      try transaction.set(stored?.merging(entity) ?? entity)
      try restore(state, of: newName, in: &transaction)
    }
    try repointParents(in: &transaction)
    try repointCollections(in: &transaction)
    try transaction.deleteIfPresent(oldName)
    guard let rank, !there.isStored else { return }
    try transaction.setNaturalRank(rank, of: newName)
    for type in try transaction.snapshot.typeNames(of: newName) {
      try transaction.markArranged(type)
    }
  }

  /// Restores the sequence number that a node had before it was rewritten.
  private func restore(
    _ state: SequenceState, of name: String, in transaction: inout ModelTransaction
  ) throws {
    let now = try transaction.snapshot.sequenceState(of: name)
    guard state.isStored, let commit = try transaction.snapshot.commitValue(of: name),
      now.sequenceNumber != state.sequenceNumber || now.isDated != state.isDated
    else { return }
    let kind: SequenceRow.Kind = state.isDated ? .dated : .confirmed
    try transaction.setSequenceRow(
      SequenceRow(kind, sequenceNumber: state.sequenceNumber, commit: commit), of: name)
  }

  /// Copies the records of other types to the new identifier.
  private func copyProjections(in transaction: inout ModelTransaction) throws {
    for type in try transaction.snapshot.typeNames(of: old.modelIdentifier)
    where !type.hasSameBytes(as: E.modelTypeName) {
      guard var tree = try transaction.snapshot.tree(old.modelIdentifier, as: type, depth: 0)
      else { continue }
      tree.identifier = new.modelIdentifier
      tree.fields = try renamed(tree.fields)
      try transaction.rewrite(tree)
    }
  }

  private func repointParents(in transaction: inout ModelTransaction) throws {
    for parent in try transaction.snapshot.parents(of: old.modelIdentifier) {
      let state = try transaction.snapshot.sequenceState(of: parent)
      for type in try transaction.snapshot.typeNames(of: parent) {
        guard var tree = try transaction.snapshot.tree(parent, as: type, depth: 0) else { continue }
        let fields = tree.fields.repointing(old.modelIdentifier, to: new.modelIdentifier)
        guard fields != tree.fields else { continue }
        tree.fields = fields
        try transaction.rewrite(tree)
      }
      try restore(state, of: parent, in: &transaction)
    }
  }

  private func repointCollections(in transaction: inout ModelTransaction) throws {
    for key in try transaction.snapshot.collections(holding: old.modelIdentifier) {
      let elements = try transaction.snapshot.collectionTrees(key, depth: 0) ?? []
      for (index, element) in elements.enumerated() {
        let repointed = element.repointing(old.modelIdentifier, to: new.modelIdentifier)
        guard repointed != element else { continue }
        try transaction.update(repointed, at: index, inCollection: key)
      }
    }
  }

  /// Replaces the identifier where it is a value in a record of another type.
  private func renamed(_ fields: TreeValue) throws -> TreeValue {
    let alias = try IdentifierAlias(old, becomes: new)
    return fields.replacing(
      old.text, with: try TreeValue(json: alias.json), name: alias.text)
  }

  private func renameRelated<R: Entity>(
    _ type: R.Type, in transaction: inout ModelTransaction
  ) throws {
    let relationships = R.relationships.filter {
      $0.target.identifierNamespace == E.identifierNamespace
    }
    guard !relationships.isEmpty else { return }
    var changed: [(old: R, new: R)] = []
    try transaction.snapshot.forEachModel(of: type) { entity in
      var renamed = entity
      for relationship in relationships
      where relationship.modelIdentifiers(entity).contains(where: {
        $0.hasSameBytes(as: old.modelIdentifier)
      }) {
        relationship.replacing(&renamed, old.modelIdentifier, new.modelIdentifier)
      }
      if renamed != entity { changed.append((entity, renamed)) }
      return true
    }
    for (old, new) in changed {
      let state = try transaction.snapshot.sequenceState(of: new.id.modelIdentifier)
      // A child stays one.
      try transaction.set(new, replacing: old)
      try restore(state, of: new.id.modelIdentifier, in: &transaction)
    }
  }
}

extension TreeValue {
  /// Returns this value with each reference to a node replaced by one to another node.
  func repointing(_ old: String, to new: String) -> TreeValue {
    switch self {
    case .reference(let identifier, let typeName):
      guard identifier.hasSameBytes(as: old) else { return self }
      return .reference(identifier: new, typeName: typeName)
    case .required(let value): return .required(value.repointing(old, to: new))
    case .array(let elements): return .array(elements.map { $0.repointing(old, to: new) })
    case .object(let fields): return .object(fields.mapValues { $0.repointing(old, to: new) })
    case .entries(let entries): return .entries(entries.mapValues { $0.repointing(old, to: new) })
    case .tagged(let tag, let value): return .tagged(tag, value.repointing(old, to: new))
    case .node(var node):
      node.fields = node.fields.repointing(old, to: new)
      return .node(node)
    case .null, .bool, .integer, .unsigned, .double, .string, .bytes: return self
    }
  }
}
