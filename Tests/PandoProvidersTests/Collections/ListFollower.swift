import PandoConsistency
import PandoModels
import PandoProviders
import PandoSystem
import Testing

/// Keeps a copy of a provider's list by applying what it is told.
final class ListFollower<T: SimpleModel>: CollectionDataProviderDelegate {
  struct Call: Sendable {
    let change: CollectionChange
    let context: (any Sendable)?
    /// The list that the change leads to.
    let data: [any SimpleModel]
  }

  let provider: CollectionDataProvider<T>
  private let received = Locked<[Call]>([])
  private let action = Locked<(@Sendable (Call) -> Void)?>(nil)

  init(_ manager: DataModelManager) {
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  /// All calls since the last time it was asked.
  func takeCalls() -> [Call] { received.withLock { calls in exchange(&calls, with: []) } }

  /// The changes that it got since the last call of this function.
  func takeChanges() -> [CollectionChange] { takeCalls().map(\.change) }

  /// Does something at each call.
  func onCall(_ action: (@Sendable (Call) -> Void)?) { self.action.withLock { $0 = action } }

  func collectionDataProviderHasUpdatedData<U>(
    _ dataProvider: CollectionDataProvider<U>, collectionChanges: CollectionChange, data: [U],
    context: (any Sendable)?
  ) {
    #expect(dataProvider === provider)
    let call = Call(change: collectionChanges, context: context, data: data)
    received.withLock { $0.append(call) }
    action.withLock { $0 }?(call)
  }
}

extension ListFollower where T == Contact {
  /// The numbers of the contacts.
  var ids: [Int] { provider.data.map(\.id) }
}
