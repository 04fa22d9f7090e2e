import Pando
import Synchronization

/// A provider of a tree, and the tree that its delegate has got.
final class TreeWatch<T: ItemHolder>: DataProviderDelegate {
  let provider: DataProvider<T>
  let key: String
  private let ledger: Ledger
  /// Whether no content may be older than before: not where own calls lead it elsewhere.
  private let seesOrder: Bool
  private let known = Mutex<T?>(nil)
  private let newest = Mutex<[Int: Int]>([:])
  private let onTold = Mutex<(@Sendable () -> Void)?>(nil)

  init(_ manager: DataModelManager, _ key: String, _ ledger: Ledger, seesOrder: Bool = false) {
    self.key = key
    self.ledger = ledger
    self.seesOrder = seesOrder
    provider = DataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  /// Is called behind each telling.
  func whenTold(_ body: @escaping @Sendable () -> Void) { onTold.withLock { $0 = body } }

  func dataProviderHasUpdatedData<U>(_ dataProvider: DataProvider<U>, context: (any Sendable)?) {
    note()
    if seesOrder { noteContents() }
    onTold.withLock { $0 }?()
  }

  /// Notes the shown tree: after a call of the delegate, or an own call.
  func note() { known.withLock { $0 = provider.data } }

  private func noteContents() {
    guard let data = provider.data else { return }
    newest.withLock { newest in
      for (name, number) in data.contents where !ledger.isLoose(name) {
        let last = newest[name] ?? 0
        ledger.require(last <= number, "\(key): item \(name) is \(number) after \(last)")
        newest[name] = max(last, number)
      }
    }
  }

  /// At rest it shows the reported tree.
  func checkTold() {
    let shown = provider.data
    let told = known.withLock { $0 }
    ledger.require(told == shown, "\(key): reported \(text(told)), shown \(text(shown))")
  }

  /// At rest it shows what is stored.
  func checkStored(_ stored: T?) {
    let shown = provider.data
    ledger.require(shown == stored, "\(key): shown \(text(shown)), stored \(text(stored))")
  }

  private func text(_ model: T?) -> String { model.map { String(describing: $0) } ?? "nothing" }
}
