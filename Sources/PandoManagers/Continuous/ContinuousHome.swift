import PandoSystem
import PandoModels
import PandoStore

/// What the continuous results of a container share.
package final class ContinuousHome: Sendable {
  /// Ends all of them with the container.
  let scope = ContinuousScope()
  /// Tells of changes of what is not on disk.
  private let feed = MemoryFeed()
  private let memory: MemoryHub

  /// Makes one for a container, or for a manager without one.
  package init() { memory = MemoryHub(feed) }

  /// Has changes of what is not on disk told from now on.
  func connect<E: Entity>(_ stack: StoreStack<E>) {
    guard let store = stack.counting else { return }
    (store as? any MemoryFeeding)?.connect(feed)
    if let source = store as? any FollowedMemory<E> { memory.follow(source) }
  }

  /// What follows the changes of the farthest local store of a stack.
  ///
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  func hub<E: Entity>(for stack: StoreStack<E>) throws -> any EntityHub {
    if let store = (stack.counting as? any NumberedStoring<E>)?.followedStore {
      return try StoreHubs.hub(of: store)
    }
    return memory
  }

  /// What follows the store on disk of a stack.
  ///
  /// - Throws: ``ManagerError`` `noStore` if the farthest local store is not on disk; `StoreError` or
  ///   `LMDBError` when it can't be read.
  func storeHub<E: Entity>(for stack: StoreStack<E>) throws -> StoreHub {
    guard let store = (stack.counting as? any NumberedStoring<E>)?.followedStore else {
      throw ManagerError(
        .noStore, E.modelTypeName,
        "graphs are loaded from a store on disk, and this type has none")
    }
    return try StoreHubs.hub(of: store)
  }

  /// Ends all iterations; each still gets the last state first.
  package func close() { scope.close() }

  /// How much is followed.
  package var count: Int { scope.count }

  /// Waits until the changes so far of what is not on disk have been taken in.
  package func drain() async { await memory.drain() }
}

extension StoreStack {
  /// The local store that counts: the farthest one, without the cache before it.
  fileprivate var counting: (any Storing<E>)? {
    var store = local.last
    while let cache = store as? CacheStore<E> { store = cache.persistentStore }
    return store
  }
}

extension InMemoryStore: FollowedMemory {
  func present() -> (entities: [RankedEntity<E>], place: UInt64) {
    state.withLock { state in
      (state.entries.values.map { RankedEntity($0.entity, rank: $0.rank) }, state.place)
    }
  }
}

extension LRUStore: FollowedMemory {
  func present() -> (entities: [RankedEntity<E>], place: UInt64) {
    (store as? any FollowedMemory<E>)?.present() ?? ([], 0)
  }
}
