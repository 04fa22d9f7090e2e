import PandoModels
import PandoSystem

/// The live collections of a manager, by cache key; none is kept alive.
final class StoreTopics: Sendable {
  private let entries = Locked<[ByteString: WeakReference<any StoreTopic>]>([:])
  /// Which may leave out elements.
  private let hiding = Locked<Set<ByteString>>([])

  /// The live collection of a cache key.
  func topic(_ cacheKey: ByteString) -> (any StoreTopic)? {
    entries.withLock { entries in
      entries[cacheKey]?.object.flatMap { $0.isRetired ? nil : $0 }
    }
  }

  /// The live collection of a cache key, made now if there is none.
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

  /// Forgets a cache key whose live collection has gone.
  func removeEnded(_ cacheKey: ByteString) {
    entries.withLock { entries in
      guard entries[cacheKey]?.object?.isRetired ?? true else { return }
      entries[cacheKey] = nil
      _ = hiding.withLock { $0.remove(cacheKey) }
    }
  }

  /// Whether a live collection may leave out elements.
  var mayHide: Bool { hiding.withLock { !$0.isEmpty } }

  /// Notes whether the live collection of a cache key leaves out elements that can't be decoded.
  func note(_ cacheKey: ByteString, isHiding: Bool) {
    hiding.withLock { hiding in
      if isHiding { hiding.insert(cacheKey) } else { hiding.remove(cacheKey) }
    }
  }

  /// The cache keys of live collections that leave out an element which holds one of the nodes that a
  /// commit has changed.
  func hiding(_ nodes: Set<ByteString>) -> [ByteString] {
    var found: [ByteString] = []
    for cacheKey in hiding.withLock({ $0 }) where topic(cacheKey)?.hides(nodes) ?? false {
      found.append(cacheKey)
    }
    return found
  }

  /// All live collections there are.
  var all: [(cacheKey: ByteString, topic: any StoreTopic)] {
    entries.withLock { $0 }.compactMap { key, entry in
      entry.object.flatMap { $0.isRetired ? nil : (key, $0) }
    }
  }
}
