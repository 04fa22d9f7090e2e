import PandoModels
import PandoSystem

/// The values of a cache, by the identifiers of nodes.
///
/// It is not generic over the entity type, because unspecialized generic code takes twice as long.
final class CacheTable: Sendable {
  fileprivate struct State {
    var entries = RecentTable<ByteString, any AnyObject & Sendable>()
    /// The nodes inside each value.
    var children = InvertedIndex<ByteString, ByteString>()
  }

  private let limit: Int
  private let follower: StoreFollower
  private let state = Locked(State())

  /// Makes an empty table.
  ///
  /// - Parameters:
  ///   - limit: The largest number of values.
  ///   - follower: The follower of the store.
  init(limit: Int, _ follower: StoreFollower) {
    self.limit = limit
    self.follower = follower
  }

  func value(forKey key: ByteString) -> (any AnyObject & Sendable)? {
    state.withLock { $0.entries.use(key) }
  }

  /// The values of keys; `nil` if the table lacks one of them.
  func values(forKeys keys: [ByteString]) -> [any AnyObject & Sendable]? {
    state.withLock { state in
      var found: [any AnyObject & Sendable] = []
      found.reserveCapacity(keys.count)
      for key in keys {
        guard let value = state.entries.use(key) else { return nil }
        found.append(value)
      }
      return found
    }
  }

  /// Adds a value that was read, unless a node in it has changed since.
  func keep(
    _ value: any AnyObject & Sendable, forKey key: ByteString, children: [ByteString],
    readAt number: UInt64
  ) {
    state.withLock { state in
      guard !follower.hasTouched(key, children, after: number) else { return }
      if state.entries.put(value, forKey: key) != nil { state.children.remove(key) }
      state.children.insert(children, of: key)
      while state.entries.count > limit, let oldest = state.entries.removeOldest() {
        state.children.remove(oldest.key)
      }
    }
  }

  /// Removes the values that contain one of these nodes.
  ///
  /// - Complexity: O(*n*) for *n* nodes, or for the nodes in the table if those are fewer.
  func drop(_ nodes: Set<ByteString>) {
    state.withLock { state in
      for node in state.entries.keys(among: nodes) { state.remove(node) }
      for holder in state.children.holders(ofAny: nodes) { state.remove(holder) }
    }
  }

  func dropAll() { state.withLock { $0 = State() } }
}

extension CacheTable.State {
  fileprivate mutating func remove(_ key: ByteString) {
    if entries.remove(key) != nil { children.remove(key) }
  }
}
