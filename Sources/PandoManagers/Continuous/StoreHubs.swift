import PandoSystem
import PandoStore

/// The hubs of this process, one for each open store; none is kept alive.
enum StoreHubs {
  private struct Entry: Sendable {
    weak let hub: StoreHub?
    let number: UInt64
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// The hub of a store, made now if there is none.
  ///
  /// It keeps the store alive, so an identity stands for one store as long as there is a hub.
  ///
  /// - Parameter store: An open store.
  /// - Returns: The same hub for everybody, as long as somebody keeps it.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
  static func hub(of store: ModelStore) throws -> StoreHub {
    let key = ObjectIdentifier(store)
    if let hub = entries.withLock({ $0[key]?.hub }) { return hub }
    let new = try StoreHub(store)
    // What is in the way leaves the lock before it ends.
    return entries.withLock { entries in
      if let hub = entries[key]?.hub { return hub }
      entries[key] = Entry(hub: new, number: new.number)
      return new
    }
  }

  /// Forgets a hub that has gone.
  ///
  /// - Parameters:
  ///   - number: Tells it from one that has taken its place.
  ///   - store: The store that it was the hub of.
  static func remove(_ number: UInt64, of store: ObjectIdentifier) {
    entries.withLock { entries in
      if entries[store]?.number == number { entries[store] = nil }
    }
  }
}
