import Pando
import Synchronization

/// A provider of a list, and the length that its reported changes lead to.
final class SoakList<T: Model & Equatable & Codable>: CollectionDataProviderDelegate {
  let provider: CollectionDataProvider<T>
  private let cacheKey: String
  /// `nil` until the next look, after a reset.
  private let length = Mutex<Int?>(nil)

  init(_ manager: DataModelManager, _ cacheKey: String) {
    self.cacheKey = cacheKey
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func begin() async throws { try await provider.fetchDataFromCache(withCacheKey: cacheKey) }

  func collectionDataProviderHasUpdatedData<U>(
    _ dataProvider: CollectionDataProvider<U>, collectionChanges: CollectionChange, data: [U],
    context: (any Sendable)?
  ) {
    follow(collectionChanges)
  }

  /// Applies a reported change, or one that an own call has returned.
  func follow(_ change: CollectionChange?) {
    length.withLock { length in
      switch change {
      case nil: break
      case .reset: length = nil
      case .changes(let changes):
        for change in changes {
          switch change {
          case .insert: length = length.map { $0 + 1 }
          case .delete: length = length.map { $0 - 1 }
          default: break
          }
        }
      }
    }
  }

  func check(_ snapshot: borrowing ModelSnapshot) throws {
    let stored = try snapshot.collection(cacheKey, as: T.self) ?? []
    let shown = provider.data
    if let place = zip(shown, stored).enumerated().first(where: { $1.0 != $1.1 })?.offset {
      throw TortureFailure(
        "\(cacheKey): element \(place) is \(shown[place]), stored \(stored[place])")
    }
    try require(
      shown.count == stored.count, "\(cacheKey): \(shown.count) shown, \(stored.count) stored")
    try length.withLock { length in
      if let told = length {
        try require(told == shown.count, "\(cacheKey): reported \(told) of \(shown.count) elements")
      }
      length = shown.count
    }
  }
}
