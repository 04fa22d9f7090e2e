import FuzzSupport
import Pando
import PandoModels
import Synchronization

/// A provider of one type, what it must show, and what its delegate has seen.
final class LiveView<T: Model & Codable & Equatable & TreeMade>: DataProviderDelegate {
  let provider: DataProvider<T>
  private let known = Mutex<T?>(nil)
  /// The identifier that it shows or awaits; used by the one thread of the fuzzer.
  private let identity = Mutex<String?>(nil)
  /// The one before its last own call.
  private let earlier = Mutex<String?>(nil)
  /// The shown state while it is paused.
  private let frozen = Mutex<T??>(nil)

  init(_ manager: DataModelManager) {
    provider = DataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func dataProviderHasUpdatedData<U>(_ dataProvider: DataProvider<U>, context: (any Sendable)?) {
    note()
  }

  private func note() { known.withLock { $0 = provider.data } }

  func set(_ tree: TreeNode) throws -> PendingWrite {
    let write = provider.setData(try T(tree))
    earlier.withLock { $0 = identity.withLock { $0 } }
    identity.withLock { $0 = tree.identifier }
    note()
    return write
  }

  /// The store has refused the model, and the provider shows the earlier one again.
  func takeBack() { identity.withLock { $0 = earlier.withLock { $0 } } }

  /// Keeps the shown state: until ``unfreeze()`` others must not change it.
  func freeze() { frozen.withLock { if $0 == nil { $0 = .some(provider.data) } } }

  func unfreeze() { frozen.withLock { $0 = nil } }

  /// The shown state was changed by its own call.
  func refreeze() { frozen.withLock { if $0 != nil { $0 = .some(provider.data) } } }

  func fetch(_ identifier: String, listens: Bool) throws {
    do {
      let found = try blocking { [provider] in
        try await provider.fetchDataFromCache(
          withCacheKey: identifier, listensWhenAbsent: listens)
      }
      if found != nil || listens { identity.withLock { $0 = identifier } }
    } catch {
      // No record reads as this type: that is no miss, and it goes on to show what it did.
    }
    note()
    refreeze()
  }

  func check(_ snapshot: borrowing ModelSnapshot) throws {
    let shown = provider.data
    let name = identity.withLock { $0 }
    if let still = frozen.withLock({ $0 }) {
      guard shown == still else { throw Difference("\(name ?? ""): changed during a pause") }
      return
    }
    if let name {
      guard let stored = try? snapshot.get(name, as: T.self) else {
        if try snapshot.contains(name) { return }  // no record that reads as this type
        guard shown == nil else { throw Difference("\(name): still shown") }
        return
      }
      guard shown == stored else {
        throw Difference("\(name): shown \(String(describing: shown)), stored \(stored)")
      }
    }
    let told = known.withLock { $0 }
    guard told == shown else {
      throw Difference("\(name ?? ""): reported \(String(describing: told)), not what is shown")
    }
  }
}
