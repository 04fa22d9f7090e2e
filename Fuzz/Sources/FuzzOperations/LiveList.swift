import FuzzSupport
import Pando
import PandoModels
import Synchronization

/// A provider of a list, and the list that its reported changes lead to.
final class LiveList<T: Model & Codable & Equatable>: CollectionDataProviderDelegate {
  let provider: CollectionDataProvider<T>
  private let cacheKey: String
  /// An element that came in or changed is unknown until the next look; all are after a reset.
  private let slots = Mutex<[T?]?>(nil)
  private let frozen = Mutex<[T]?>(nil)

  init(_ manager: DataModelManager, _ cacheKey: String) {
    self.cacheKey = cacheKey
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func begin() throws {
    try blocking { [provider, cacheKey] in
      _ = try await provider.fetchDataFromCache(withCacheKey: cacheKey)
    }
  }

  func collectionDataProviderHasUpdatedData<U>(
    _ dataProvider: CollectionDataProvider<U>, collectionChanges: CollectionChange, data: [U],
    context: (any Sendable)?
  ) {
    follow(collectionChanges)
  }

  /// Applies a reported change, or one that an own call has returned.
  func follow(_ change: CollectionChange?) {
    slots.withLock { slots in
      switch change {
      case nil: break
      case .reset: slots = nil
      case .changes(let changes):
        guard var list = slots else { break }
        for change in changes {
          switch change {
          case .update(let index): list[index] = nil
          case .delete(let index): list.remove(at: index)
          case .insert(let index): list.insert(nil, at: index)
          case .move(let source, let target):
            list.insert(list.remove(at: source), at: target)
          }
        }
        slots = list
      }
    }
  }

  func freeze() { frozen.withLock { if $0 == nil { $0 = provider.data } } }

  func unfreeze() { frozen.withLock { $0 = nil } }

  func check(_ snapshot: borrowing ModelSnapshot) throws {
    let shown = provider.data
    if let still = frozen.withLock({ $0 }) {
      guard shown == still else { throw Difference("\(cacheKey): changed during a pause") }
      return
    }
    let stored = try snapshot.collection(cacheKey, as: T.self) ?? []
    guard shown == stored else {
      throw Difference("\(cacheKey): shown \(shown), stored \(stored)")
    }
    try slots.withLock { slots in
      if let told = slots {
        guard told.count == shown.count, zip(told, shown).allSatisfy({ $0 == nil || $0 == $1 })
        else { throw Difference("\(cacheKey): reported \(told), shown \(shown)") }
      }
      slots = shown
    }
  }
}
