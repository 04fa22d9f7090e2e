/// Finds holders by the keys that they hold, and the keys by their holder.
///
/// It does not store a key without a holder, or a holder without a key. Public for inlining, as ``Locked``.
public struct InvertedIndex<Key: Hashable, Holder: Hashable> {
  @usableFromInline var holdersByKey: [Key: Set<Holder>] = [:]
  private var keysByHolder: [Holder: Set<Key>] = [:]

  package init() {}

  package var isEmpty: Bool { holdersByKey.isEmpty }

  /// Returns true if any holder holds a key.
  @inlinable
  public func contains(_ key: Key) -> Bool {
    !holdersByKey.isEmpty && holdersByKey[key] != nil
  }

  /// The holders of a key.
  package func holders(of key: Key) -> Set<Holder> {
    holdersByKey.isEmpty ? [] : holdersByKey[key] ?? []
  }

  /// The holders of some keys.
  package func holders(ofAny keys: Set<Key>) -> Set<Holder> {
    if keys.count < holdersByKey.count {
      return keys.reduce(into: []) { $0.formUnion(holdersByKey[$1] ?? []) }
    }
    return holdersByKey.reduce(into: []) { if keys.contains($1.key) { $0.formUnion($1.value) } }
  }

  /// The keys of a holder.
  package func keys(of holder: Holder) -> Set<Key> { keysByHolder[holder] ?? [] }

  /// Adds keys to those of a holder.
  package mutating func insert(_ keys: some Sequence<Key>, of holder: Holder) {
    for key in keys {
      guard keysByHolder[holder, default: []].insert(key).inserted else { continue }
      holdersByKey[key, default: []].insert(holder)
    }
  }

  /// Removes keys from those of a holder.
  package mutating func remove(_ keys: some Sequence<Key>, of holder: Holder) {
    for key in keys where keysByHolder[holder]?.remove(key) != nil { unlink(key, holder) }
    if keysByHolder[holder]?.isEmpty == true { keysByHolder[holder] = nil }
  }

  /// Removes a holder with all its keys.
  package mutating func remove(_ holder: Holder) {
    if keysByHolder.isEmpty { return }
    for key in keysByHolder.removeValue(forKey: holder) ?? [] { unlink(key, holder) }
  }

  private mutating func unlink(_ key: Key, _ holder: Holder) {
    holdersByKey[key]?.remove(holder)
    if holdersByKey[key]?.isEmpty == true { holdersByKey[key] = nil }
  }
}

extension InvertedIndex: Sendable where Key: Sendable, Holder: Sendable {}

extension InvertedIndex {
  /// The holders of all keys.
  package var holders: Set<Holder> { Set(keysByHolder.keys) }

  /// Stops the process if the two directions do not say the same.
  ///
  /// - Complexity: O(*n*) for *n* pairs of a key and a holder.
  package func checkInvariants() {
    for (key, holders) in holdersByKey {
      precondition(!holders.isEmpty, "an index has the key \(key) without a holder")
      for holder in holders {
        precondition(
          keysByHolder[holder]?.contains(key) == true, "\(holder) does not hold \(key)")
      }
    }
    for (holder, keys) in keysByHolder {
      precondition(!keys.isEmpty, "an index has the holder \(holder) without a key")
      for key in keys {
        precondition(
          holdersByKey[key]?.contains(holder) == true, "\(key) does not find \(holder)")
      }
    }
  }
}
