import Pando
import Synchronization

/// A provider and the model that its delegate has got.
final class SoakView<T: Model & Equatable & Codable>: DataProviderDelegate {
  let provider: DataProvider<T>
  private let identifier: String
  private let known = Mutex<T?>(nil)

  init(_ manager: DataModelManager, _ identifier: String) {
    self.identifier = identifier
    provider = DataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func begin() async throws {
    let found = try await provider.fetchDataFromCache(
      withCacheKey: identifier, listensWhenAbsent: true)
    known.withLock { if $0 == nil { $0 = found } }
  }

  func dataProviderHasUpdatedData<U>(_ dataProvider: DataProvider<U>, context: (any Sendable)?) {
    known.withLock { $0 = provider.data }
  }

  /// Sets the model by the provider itself, whose delegate is not called.
  func set(_ model: T) -> PendingWrite {
    let write = provider.setData(model)
    known.withLock { $0 = provider.data }
    return write
  }

  func check(_ snapshot: borrowing ModelSnapshot) throws {
    let stored = try snapshot.get(identifier, as: T.self)
    let shown = provider.data
    try require(shown == stored, "\(identifier): shown \(text(shown)), stored \(text(stored))")
    let told = known.withLock { $0 }
    try require(told == shown, "\(identifier): reported \(text(told)), shown \(text(shown))")
  }

  private func text(_ model: T?) -> String { String("\(model, default: "nothing")".prefix(300)) }
}
