import PandoModels
import PandoProviders
import PandoSystem

/// The memory of a cache, in a store that the cache was given.
final class GivenCacheMemory<E: Entity>: CacheMemory {
  fileprivate struct State {
    /// The entities that contain a node, by that node.
    var holders: [ByteString: Set<EntityIdentifier<E>>] = [:]
    /// The other nodes that an entity contains.
    var children: [EntityIdentifier<E>: [ByteString]] = [:]
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
        state.unlink(entity.id)
        state.link(entity.id, children)
        for gone in store.keep([entity]) { state.unlink(gone) }
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
    drop(keys)
  }

  func drop(_ identifiers: [ByteString]) {
    state.withLock { state in
      var gone: [EntityIdentifier<E>] = []
      for key in identifiers {
        if let own = EntityIdentifier<E>(modelIdentifier: key.text) { gone.append(own) }
        if !state.holders.isEmpty, let holders = state.holders[key] { gone += holders }
      }
      guard !gone.isEmpty else { return }
      for identifier in gone { state.unlink(identifier) }
      store.drop(gone)
    }
  }

  func dropAll() {
    state.withLock { state in
      state.holders = [:]
      state.children = [:]
      store.dropAll()
    }
  }
}

extension GivenCacheMemory.State {
  mutating func link(_ identifier: EntityIdentifier<E>, _ children: [ByteString]) {
    guard !children.isEmpty else { return }
    self.children[identifier] = children
    for child in children { holders[child, default: []].insert(identifier) }
  }

  mutating func unlink(_ identifier: EntityIdentifier<E>) {
    guard !self.children.isEmpty, let children = children.removeValue(forKey: identifier) else {
      return
    }
    for child in children {
      holders[child]?.remove(identifier)
      if holders[child]?.isEmpty == true { holders[child] = nil }
    }
  }
}
