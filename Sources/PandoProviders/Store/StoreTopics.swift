import PandoModels
import PandoSystem

/// The live collections of a manager, by cache key; held by weak references.
final class StoreTopics: Sendable {
  private let entries = Locked<[ByteString: WeakReference<any StoreTopic>]>([:])
  /// The cache keys of collections that may hide elements.
  private let hiding = Locked<Set<ByteString>>([])

  /// Returns the live collection of a cache key.
  func topic(_ cacheKey: ByteString) -> (any StoreTopic)? {
    entries.withLock { entries in
      entries[cacheKey]?.object.flatMap { $0.isRetired ? nil : $0 }
    }
  }

  /// Returns the live collection of a cache key; the first call makes it.
  func topic(
    _ cacheKey: ByteString, orMake make: () -> any StoreTopic
  ) -> any StoreTopic {
    entries.withLock { entries in
      if let topic = entries[cacheKey]?.object, !topic.isRetired { return topic }
      let new = make()
      entries[cacheKey] = WeakReference(new)
      return new
    }
  }

  /// Removes a cache key whose live collection has ended.
  func removeEnded(_ cacheKey: ByteString) {
    entries.withLock { entries in
      guard entries[cacheKey]?.object?.isRetired ?? true else { return }
      entries[cacheKey] = nil
      _ = hiding.withLock { $0.remove(cacheKey) }
    }
  }

  /// True if a live collection may hide elements.
  var mayHide: Bool { hiding.withLock { !$0.isEmpty } }

  /// Records if the live collection of a cache key hides elements that can't be decoded.
  func note(_ cacheKey: ByteString, isHiding: Bool) {
    hiding.withLock { hiding in
      if isHiding { hiding.insert(cacheKey) } else { hiding.remove(cacheKey) }
    }
  }

  /// Returns the cache keys of live collections that hide an element with one of the nodes.
  func hiding(_ nodes: Set<ByteString>) -> [ByteString] {
    var found: [ByteString] = []
    for cacheKey in hiding.withLock({ $0 }) where topic(cacheKey)?.hides(nodes) ?? false {
      found.append(cacheKey)
    }
    return found
  }

  var all: [(cacheKey: ByteString, topic: any StoreTopic)] {
    entries.withLock { $0 }.compactMap { key, entry in
      entry.object.flatMap { $0.isRetired ? nil : (key, $0) }
    }
  }
}
