import PandoModels
import PandoSystem

/// The values of a cache, by the identifiers of nodes.
///
/// It is not generic over the entity type, because unspecialized generic code takes twice as long.
final class CacheTable: Sendable {
  fileprivate struct Kept: Sendable {
    let value: any AnyObject & Sendable
    /// The other nodes that the value contains.
    let children: [ByteString]
  }

  fileprivate struct State {
    var entries = RecentTable<ByteString, Kept>()
    /// The entries that contain a node, by that node.
    var holders: [ByteString: Set<ByteString>] = [:]
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
    state.withLock { $0.entries.use(key)?.value }
  }

  /// The values of keys; `nil` if the table lacks one of them.
  func values(forKeys keys: [ByteString]) -> [any AnyObject & Sendable]? {
    state.withLock { state in
      var found: [any AnyObject & Sendable] = []
      found.reserveCapacity(keys.count)
      for key in keys {
        guard let kept = state.entries.use(key) else { return nil }
        found.append(kept.value)
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
      let old = state.entries.put(Kept(value: value, children: children), forKey: key)
      if let old { state.unlink(key, old.children) }
      for child in children { state.holders[child, default: []].insert(key) }
      while state.entries.count > limit, let oldest = state.entries.removeOldest() {
        state.unlink(oldest.key, oldest.value.children)
      }
    }
  }

  /// Removes the values that contain one of these nodes.
  func drop(_ keys: [ByteString]) {
    state.withLock { state in
      guard state.entries.count > 0 else { return }
      for key in keys {
        state.remove(key)
        guard !state.holders.isEmpty, let holders = state.holders[key] else { continue }
        for holder in holders { state.remove(holder) }
      }
    }
  }

  func dropAll() { state.withLock { $0 = State() } }
}

extension CacheTable.State {
  fileprivate mutating func remove(_ key: ByteString) {
    if let kept = entries.remove(key) { unlink(key, kept.children) }
  }

  fileprivate mutating func unlink(_ key: ByteString, _ children: [ByteString]) {
    for child in children {
      holders[child]?.remove(key)
      if holders[child]?.isEmpty == true { holders[child] = nil }
    }
  }
}
