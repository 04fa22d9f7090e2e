import PandoModels
import PandoStore
import PandoSystem

/// Reading what commits have made of a stored list. Elements that can't be decoded are left out.
///
/// As long as there are some, the list is read as a whole whenever a commit concerns it or one of their
/// nodes: places in the stored list are no places in the shown one.
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
          // All is read, without what can't be decoded.
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

  /// Notes what is left out of the elements that were read, and reports what is new there.
  ///
  /// Pipeline.
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
      let models = state.committed.models + (state.stored?.list?.models ?? [])
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
