import PandoSystem

/// What a write to a store in memory did to one entity.
package struct MemoryChange: Sendable {
  /// The identifier of the node.
  package let modelIdentifier: String
  /// The entity now; `nil` if it has gone.
  package let entity: (any Entity)?
  /// Its place in the natural order; 0 if it has gone.
  package let rank: UInt64
}

/// One write to a store in memory.
package struct MemoryCommit: Sendable {
  /// The place of the write in the order of writes; grows within a store.
  package let place: UInt64
  /// What it did, each entity once.
  package let changes: [MemoryChange]
}

/// Whoever follows the entities of a container that are not on disk.
package protocol MemoryObserver: AnyObject, Sendable {
  /// Called after each write that changed something, in the order of the writes of each store.
  ///
  /// The store can be read meanwhile, and must not be written.
  func committed(_ commit: MemoryCommit)
}

/// The one place through which every change of an entity passes that is not on disk; those on disk pass
/// through the commit observers of the store.
package final class MemoryFeed: Sendable {
  private let observers = Locked<[WeakMemoryObserver]>([])

  package init() {}

  /// Tells an observer of every change from now on; it is not retained.
  package func addObserver(_ observer: any MemoryObserver) {
    observers.withLock { observers in
      observers.removeAll { $0.observer == nil }
      observers.append(WeakMemoryObserver(observer: observer))
    }
  }

  func publish(_ commit: MemoryCommit) {
    for entry in observers.withLock({ $0 }) { entry.observer?.committed(commit) }
  }
}

private struct WeakMemoryObserver: Sendable {
  weak let observer: (any MemoryObserver)?
}

/// A store in memory that tells what is written to it.
package protocol MemoryFeeding: Sendable {
  /// Tells a feed of every change from now on.
  func connect(_ feed: MemoryFeed)
}
