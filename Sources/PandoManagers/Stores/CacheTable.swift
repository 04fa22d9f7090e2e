import PandoModels
import PandoSystem

/// What a cache keeps, by the identifiers of nodes.
///
/// It knows no entity type: code for any type takes twice as long and more here.
final class CacheTable: Sendable {
  fileprivate struct Kept: Sendable {
    let value: any AnyObject & Sendable
    /// The nodes that it shows beside its own.
    let children: [ByteString]
  }

  fileprivate struct State {
    var entries = RecentTable<ByteString, Kept>()
    /// Which entries show a node that is not their own.
    var holders: [ByteString: Set<ByteString>] = [:]
  }

  private let limit: Int
  private let follower: StoreFollower
  private let state = Locked(State())

  /// Makes an empty table.
  ///
  /// - Parameters:
  ///   - limit: How many values there are at most.
  ///   - follower: Knows which nodes have changed.
  init(limit: Int, _ follower: StoreFollower) {
    self.limit = limit
    self.follower = follower
  }

  func value(forKey key: ByteString) -> (any AnyObject & Sendable)? {
    state.withLock { $0.entries.use(key)?.value }
  }

  /// The values of some keys; `nil` if one of them is not here.
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

  /// Keeps what has been read, if nothing that it shows has changed since.
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

  /// Lets go of everything that shows one of some nodes.
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
