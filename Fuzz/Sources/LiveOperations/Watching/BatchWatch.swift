import Pando
import Synchronization

/// A batch, called once behind its members with exactly those that were called.
final class BatchWatch: BatchDataProviderListenerDelegate {
  let listener: BatchDataProviderListener
  private let ledger: Ledger
  private let told = Mutex<[ObjectIdentifier]>([])

  init(_ providers: [any AnyDataProvider], _ manager: DataModelManager, _ ledger: Ledger) {
    self.ledger = ledger
    listener = BatchDataProviderListener(dataProviders: providers, dataModelManager: manager)
    listener.delegate = self
  }

  /// A member was called.
  func note(_ provider: any AnyDataProvider) {
    told.withLock { $0.append(ObjectIdentifier(provider)) }
  }

  func batchDataProviderListenerHasUpdatedDataProviders(
    _ batchListener: BatchDataProviderListener, dataProviders: [any AnyDataProvider],
    context: (any Sendable)?
  ) {
    told.withLock { told in
      let names = Set(dataProviders.map { ObjectIdentifier($0) })
      ledger.require(
        names == Set(told), "a batch has \(names.count) members, called were \(told.count)")
      told = []
    }
  }

  /// At rest no member was called without its batch.
  func check() {
    told.withLock { told in
      ledger.require(told.isEmpty, "\(told.count) members were called and their batch was not")
      told = []
    }
  }
}
