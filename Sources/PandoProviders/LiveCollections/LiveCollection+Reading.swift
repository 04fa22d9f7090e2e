import PandoModels
import PandoStore
import PandoSystem

/// Reading a stored list after commits. Elements that can't be decoded are left out.
///
/// While such elements exist, positions in the stored list differ from those in the shown one. The
/// whole list is then read after each commit that affects the list or one of their nodes.
extension LiveCollection {
  func read(
    _ changes: [CollectionChange]?, _ operations: [any ManagedOperation],
    in snapshot: ModelSnapshot
  ) throws -> any Sendable {
    guard let cacheKey else { return CollectionCommit<T>.own }
    let needsWhole = state.withLock { $0.needsWhole }
    let isEdited = operations.contains { ($0 as? ListOperation<T>)?.collection === self }
    do {
      if !needsWhole, !isEdited {
        do {
          return try CollectionCommit<T>(changes, cacheKey, in: snapshot)
        } catch is ModelError {
          // The whole list is read below, without the undecodable elements.
        }
      }
      let contents = try snapshot.contents(cacheKey, as: T.self)
      hide(contents.hidden)
      return CollectionCommit<T>.whole(
        contents.models, isReset: !isEdited && changes?.contains(.reset) ?? true)
    } catch {
      state.withLock { $0.isOutOfStep = true }
      throw error
    }
  }

  /// Records the hidden elements of a read, and reports the new ones; called on the pipeline.
  func hide(_ hidden: HiddenElements) {
    let former = state.withLock { exchange(&$0.hidden, with: hidden) }
    if hidden.isEmpty, former.isEmpty { return }
    if let cacheKey { manager.topics.note(ByteString(cacheKey), isHiding: !hidden.isEmpty) }
    for record in hidden.records where !former.has(record) {
      manager.reporter.report(.failedRead(record, of: record.identifier))
    }
  }

  func loses(_ nodes: Set<ByteString>) -> Bool {
    state.withLock { state in
      let models = state.committed.models + (state.stored.list?.models ?? [])
      let isConcerned = models.contains { !nodes.isDisjoint(with: $0.nodeIdentifiers) }
      if isConcerned { state.hidden.add(nodes) }
      return isConcerned
    }
  }

  func hides(_ nodes: Set<ByteString>) -> Bool {
    let hidden = state.withLock { $0.hidden }
    return !hidden.nodes.isDisjoint(with: nodes)
  }
}
