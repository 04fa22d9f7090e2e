import PandoModels
import PandoProviders
import PandoSystem

/// The memory of a cache, in a store that the cache was given.
final class GivenCacheMemory<E: Entity>: CacheMemory {
  private struct State {
    /// The nodes inside each entity.
    var children = InvertedIndex<ByteString, EntityIdentifier<E>>()
    /// Counts the writes through this cache, if no follower gives commit numbers.
    var clock: UInt64 = 0
    var touches = RecentTouches()
  }

  private let store: any KeyValueStoring<E>
  private let follower: StoreFollower?
  private let state = Locked(State())

  init(_ store: any KeyValueStoring<E>, _ follower: StoreFollower?) {
    self.store = store
    self.follower = follower
  }

  var token: UInt64 { state.withLock { $0.clock } }

  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]? {
    let found = state.withLock { _ in store.entities(forIDs: identifiers) }
    return found.count == identifiers.count ? found : nil
  }

  func entity(forID identifier: EntityIdentifier<E>) -> E? { store.entity(forID: identifier) }

  func fill(_ entities: [E], readAt number: UInt64, haveChildren: Bool) {
    guard !entities.isEmpty else { return }
    state.withLock { state in
      let mayHaveChanged = hasTouchedAny(after: number, state)
      for entity in entities {
        let children = haveChildren ? entity.cachedChildren : []
        if mayHaveChanged {
          let keys = [ByteString(entity.id.modelIdentifier)] + children
          if hasTouched(keys, after: number, state) { continue }
        }
        state.children.remove(entity.id)
        state.children.insert(children, of: entity.id)
        for gone in store.keep([entity]) { state.children.remove(gone) }
      }
    }
  }

  private func hasTouchedAny(after number: UInt64, _ state: State) -> Bool {
    follower?.hasTouchedAny(after: number) ?? state.touches.containsAny(after: number)
  }

  private func hasTouched(_ keys: [ByteString], after number: UInt64, _ state: State) -> Bool {
    follower?.hasTouched(keys, after: number) ?? state.touches.contains(keys, after: number)
  }

  func forget(_ identifiers: [EntityIdentifier<E>]) {
    let keys = identifiers.map { ByteString($0.modelIdentifier) }
    state.withLock { state in
      state.clock += 1
      state.touches.touch(keys, by: state.clock)
    }
    drop(Set(keys))
  }

  func drop(_ identifiers: Set<ByteString>) {
    state.withLock { state in
      var gone: [EntityIdentifier<E>] = []
      for key in identifiers {
        if let own = EntityIdentifier<E>(modelIdentifier: key.text) { gone.append(own) }
        gone += state.children.holders(of: key)
      }
      guard !gone.isEmpty else { return }
      for identifier in gone { state.children.remove(identifier) }
      store.drop(gone)
    }
  }

  var isSeen: Bool { true }

  func dropAll() {
    state.withLock { state in
      state.children = InvertedIndex()
      store.dropAll()
    }
  }
}
