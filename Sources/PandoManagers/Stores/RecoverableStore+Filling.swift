import PandoModels
import PandoSystem

// MARK: - Filling one store from the other, inside the gate
extension RecoverableStore {
  /// Fills one store from the other.
  ///
  /// If a store can't be read, the next call tries again.
  func fill() async throws {
    let writtenUnread = progress.withLock { $0.writtenUnread }
    var failure: (any Error)?
    if writtenUnread == nil {
      do {
        let main = try await all(mainStore)
        if !main.isEmpty {
          await follow { try await fillRecovery(with: main) }
          return progress.withLock { $0.isReady = true }
        }
      } catch {
        failure = error
      }
    }
    let kept: [E]
    do {
      kept = try await all(recoveryStore)
    } catch {
      report(error)
      if let failure { throw failure }
      return progress.withLock { $0.writtenUnread = writtenUnread ?? [] }
    }
    // The main store can't be read and there is nothing to fill it with.
    if failure != nil, kept.isEmpty { return }
    do {
      var missing = kept
      if let writtenUnread {
        let known = try await writtenUnread.union(all(mainStore).map(\.id))
        missing.removeAll { known.contains($0.id) }
      }
      if !missing.isEmpty { _ = try await mainStore.set(missing, in: .local) }
    } catch {
      throw failure ?? error
    }
    progress.withLock { progress in
      progress.isReady = true
      progress.isBehind = failure != nil || writtenUnread != nil
      progress.writtenUnread = nil
    }
  }

  /// Changes the recovery store; its errors are reported and not thrown.
  ///
  /// After an error, the next change that succeeds copies everything from the main store.
  func follow(_ body: () async throws -> Void) async {
    do {
      try await body()
      guard progress.withLock({ $0.isBehind }) else { return }
      try await fillRecovery(with: all(mainStore))
      progress.withLock { $0.isBehind = false }
    } catch {
      progress.withLock { $0.isBehind = true }
      report(error)
    }
  }

  private func fillRecovery(with main: [E]) async throws {
    let present = Set(main.map(\.id))
    let extra = try await all(recoveryStore).map(\.id).filter { !present.contains($0) }
    if !extra.isEmpty { try await recoveryStore.remove(extra, in: .local) }
    _ = try await recoveryStore.set(main, in: .local)
  }

  private func all(_ store: any Storing<E>) async throws -> [E] {
    try await store.search(withQuery: .all, in: .local).entities
  }
}
