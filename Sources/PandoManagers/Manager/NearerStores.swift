import PandoModels
import PandoStore
import PandoSystem

/// The local stores before the deciding one, which follow it.
///
/// A write that the deciding store has taken stands, also if a nearer store then fails. Over a model store
/// the nearer ones also get what providers, other managers and other processes write. A read passes over a
/// store that lacks a change; ``catchUp()`` and each write of the manager send it what it lacks.
final class NearerStores<E: Entity>: Sendable {
  /// The entities that a store has to get.
  private struct Gap {
    var identifiers: Set<EntityIdentifier<E>> = []
    /// Whether there are too many to send, so that the store has to be emptied.
    var isTooLarge = false

    var isEmpty: Bool { identifiers.isEmpty && !isTooLarge }
  }

  private struct State {
    var gaps: [Gap]
    /// The changed nodes of the model store whose entities are not yet in the gaps.
    var nodes: Set<ByteString> = []
    /// Whether any node may have changed.
    var areAllTouched = false
  }

  /// The most entities that are sent, which bounds the memory that a dead store costs.
  private static var countMaximum: Int { 10_000 }

  private let stores: [any LocalStoring<E>]
  private let last: (any LocalStoring<E>)?
  /// The model store beneath the deciding store, and the follower of its commits.
  private let followed: (store: ModelStore, follower: StoreFollower)?
  private let state: Locked<State>
  /// Serializes writes, so that all stores get them in one order.
  private let gate = AsyncGate()
  private let events: ManagerEventHandler?

  /// Makes the nearer stores of a stack.
  ///
  /// - Parameters:
  ///   - stores: The stores, the nearest first.
  ///   - last: The deciding store.
  ///   - modelStore: The model store beneath it, if it is over one.
  ///   - events: Gets an event for each store that fails.
  init(
    _ stores: [any LocalStoring<E>], before last: (any LocalStoring<E>)?,
    over modelStore: ModelStore?,
    events: ManagerEventHandler?
  ) {
    self.stores = stores
    self.last = last
    self.events = events
    state = Locked(State(gaps: stores.map { _ in Gap() }))
    // The first call reports a store that can't be read.
    followed =
      stores.isEmpty
      ? nil
      : modelStore.flatMap { store in
        (try? StoreFollower.follower(of: store)).map { (store, $0) }
      }
    followed?.follower.add(self)
  }

  /// The stores that lack nothing, the nearest first.
  var current: [any LocalStoring<E>] {
    guard isInStep else { return [] }
    return state.withLock { state in
      stores.indices.filter { state.gaps[$0].isEmpty }.map { stores[$0] }
    }
  }

  /// Whether the stores were sent all changes of the model store, also if one of them has refused some.
  var isInStep: Bool {
    guard let followed else { return true }
    guard followed.follower.isInStep(with: followed.store) else { return false }
    return state.withLock { $0.nodes.isEmpty && !$0.areAllTouched }
  }

  /// Runs a write of the deciding store, and writes to the nearer ones what it has changed.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - changes: Names the stored and removed entities.
  /// - Returns: The result of the write.
  func follow<Result>(
    _ write: () async throws -> Result, _ changes: (Result) -> StoredChanges<E>
  ) async rethrows -> Result {
    guard !stores.isEmpty else { return try await write() }
    return try await gate.run {
      let result = try await write()
      await send(changes(result))
      return result
    }
  }

  /// Sends the stores what they lack, unless a write is running, which does so at its end.
  func catchUp() async {
    guard !isInStep else { return }
    await gate.runIfFree { await send(StoredChanges()) }
  }
}

/// The changes of a write in the deciding store of a stack.
struct StoredChanges<E: Entity> {
  /// The stored values.
  var stored: [E] = []
  /// The entities that the store does not hold.
  var gone: [EntityIdentifier<E>] = []
  /// Entities whose values have to be read.
  var unsure: [EntityIdentifier<E>] = []

  /// All identifiers.
  var identifiers: [EntityIdentifier<E>] { stored.map(\.id) + gone + unsure }
}

extension NearerStores {
  /// Writes changes, and all that the stores lack, to the stores; calls must not overlap.
  private func send(_ changes: StoredChanges<E>) async {
    guard let last else { return }
    do {
      try await takeTouched()
    } catch {
      note(changes.identifiers)
      events?(ManagerEvent(.failedStore, E.modelTypeName, error))
      return
    }
    for index in stores.indices {
      let gap = state.withLock { $0.gaps[index] }
      var changes = changes
      do {
        if gap.isTooLarge { _ = try await stores[index].removeAll(withQuery: .all, in: .local) }
        let unread = gap.identifiers.union(changes.unsure)
        if !unread.isEmpty {
          let due = (changes.identifiers + unread).unique
          changes.stored = try await last.get(withQuery: Query(ids: due), in: .local).entities
          changes.gone = Array(Set(due).subtracting(changes.stored.map(\.id)))
        }
        if !changes.stored.isEmpty { _ = try await stores[index].set(changes.stored, in: .local) }
        if !changes.gone.isEmpty { try await stores[index].remove(changes.gone, in: .local) }
        if !gap.isEmpty { state.withLock { $0.gaps[index] = Gap() } }
      } catch {
        note(changes.identifiers, at: index)
        events?(ManagerEvent(.failedStore, E.modelTypeName, error))
      }
    }
  }

  /// Adds the entities with changed nodes of the model store to the gaps.
  private func takeTouched() async throws {
    guard let followed else { return }
    let touched: [EntityIdentifier<E>] = try await followed.store.read { snapshot in
      try followed.follower.catchUp(with: snapshot)
      let (nodes, areAllTouched) = self.state.withLock { state in
        (exchange(&state.nodes, with: []), exchange(&state.areAllTouched, with: false))
      }
      if areAllTouched { self.emptyAll() }
      do {
        var touched = nodes
        for node in nodes {
          touched.formUnion(try snapshot.ancestors(of: node.text).map { ByteString($0) })
        }
        return touched.compactMap { EntityIdentifier(modelIdentifier: $0.text) }
      } catch {
        self.state.withLock { $0.nodes.formUnion(nodes) }
        throw error
      }
    }
    note(touched)
  }

  /// Notes that the stores have to be emptied.
  private func emptyAll() {
    state.withLock { $0.gaps = stores.map { _ in Gap(isTooLarge: true) } }
  }

  /// Notes entities that all stores lack, or one of them.
  private func note(_ missed: [EntityIdentifier<E>], at index: Int? = nil) {
    guard !missed.isEmpty else { return }
    state.withLock { state in
      for index in index.map({ $0..<$0 + 1 }) ?? stores.indices where !state.gaps[index].isTooLarge
      {
        state.gaps[index].identifiers.formUnion(missed)
        guard state.gaps[index].identifiers.count > Self.countMaximum else { continue }
        state.gaps[index] = Gap(isTooLarge: true)
      }
    }
  }
}

extension NearerStores: CommitCache {
  func drop(_ identifiers: Set<ByteString>) {
    state.withLock { state in
      guard !state.areAllTouched else { return }
      state.nodes.formUnion(identifiers)
      if state.nodes.count > Self.countMaximum { (state.nodes, state.areAllTouched) = ([], true) }
    }
  }

  func dropAll() { state.withLock { ($0.nodes, $0.areAllTouched) = ([], true) } }

  var isSeen: Bool { false }
}
