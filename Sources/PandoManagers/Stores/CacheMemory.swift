import PandoSystem
import PandoModels

/// The part of a cache that is in memory: what it keeps is what the persistent store has.
///
/// An entity shows more nodes than its own: one that is filled in with children goes when one of them
/// changes.
final class CacheMemory<E: Entity>: CommitCache {
  fileprivate struct State {
    /// Which entities show a node that is not their own.
    var holders: [ByteString: Set<EntityIdentifier<E>>] = [:]
    /// Which nodes these are.
    var children: [EntityIdentifier<E>: [ByteString]] = [:]
    /// Counts the writes through this cache where no follower numbers them.
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

  /// Says when a read of a store without numbers begins.
  var token: UInt64 { state.withLock { $0.clock } }

  /// Entities by their identifiers; `nil` if one of them is not here.
  func entities(forIDs identifiers: [EntityIdentifier<E>]) -> [E]? {
    let found = state.withLock { _ in store.entities(forIDs: identifiers) }
    return found.count == identifiers.count ? found : nil
  }

  /// Keeps what has been read, except for what has changed since.
  ///
  /// - Parameters:
  ///   - entities: What was read.
  ///   - number: The number of the commit it shows, or a token.
  func fill(_ entities: [E], readAt number: UInt64) {
    guard !entities.isEmpty else { return }
    state.withLock { state in
      for entity in entities {
        let children = Self.children(of: entity)
        let keys = [ByteString(entity.id.modelIdentifier)] + children
        let hasChanged =
          follower?.hasTouched(keys, after: number) ?? state.touches.contains(keys, after: number)
        guard !hasChanged else { continue }
        state.unlink(entity.id)
        state.link(entity.id, children)
        for gone in store.keep([entity]) { state.unlink(gone) }
      }
    }
  }

  private static func children(of entity: E) -> [ByteString] {
    let own = entity.id.modelIdentifier
    var found: Set<ByteString> = []
    ModelChildren.forEachNode(of: entity) { identifier in
      if !identifier.hasSameBytes(as: own) { found.insert(ByteString(identifier)) }
    }
    return Array(found)
  }

  /// Lets go of entities that have been written.
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

extension CacheMemory.State {
  mutating func link(_ identifier: EntityIdentifier<E>, _ children: [ByteString]) {
    guard !children.isEmpty else { return }
    self.children[identifier] = children
    for child in children { holders[child, default: []].insert(identifier) }
  }

  mutating func unlink(_ identifier: EntityIdentifier<E>) {
    guard let children = children.removeValue(forKey: identifier) else { return }
    for child in children {
      holders[child]?.remove(identifier)
      if holders[child]?.isEmpty == true { holders[child] = nil }
    }
  }
}
