import PandoConsistency
@testable import PandoProviders
import PandoSystem
import PandoModels
import PandoStore
import PandoFixtures
import Testing

/// Keeps a list by what a provider is told and by what its own calls return, without looking at its
/// data in between.
///
/// A slot whose contents came in or changed is unknown until the next quiet point.
final class ListReplica: CollectionDataProviderDelegate {
  private struct State {
    var slots: [Contact?] = []
    /// After a reset the list is known again at the next quiet point.
    var isUnknown = true
    var callCount = 0
  }

  let provider: CollectionDataProvider<Contact>
  private let state = Locked(State())

  init(_ manager: DataModelManager) {
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
    context: (any Sendable)?
  ) {
    state.withLock { $0.callCount += 1 }
    apply(collectionChanges)
  }

  /// Applies what an own call has returned.
  func apply(_ change: CollectionChange?) {
    state.withLock { state in
      switch change {
      case nil: break
      case .reset: state.isUnknown = true
      case .changes(let changes):
        if !state.isUnknown { state.slots.apply(changes) { _ in nil } }
      }
    }
  }

  /// Compares with the provider's data, and begins anew with that.
  func check(_ comment: Comment) {
    let data = provider.data
    state.withLock { state in
      if !state.isUnknown {
        #expect(state.slots.count == data.count, comment)
        for (slot, model) in zip(state.slots, data) where slot != nil {
          #expect(slot == model, comment)
        }
      }
      state.slots = data
      state.isUnknown = false
    }
  }

  var callCount: Int { state.withLock { $0.callCount } }
}

extension ListReplica {
  /// Makes a random change.
  func change(_ random: inout SeededGenerator, resets: Bool) {
    let count = provider.count
    func contact() -> Contact {
      Contact(Int.random(in: 0..<12, using: &random), "\(Int.random(in: 0..<4, using: &random))")
    }
    let write: PendingWrite
    switch Int.random(in: 0..<(resets ? 11 : 10), using: &random) {
    case 0...1:
      write = provider.insert([contact()], at: Int.random(in: 0...count, using: &random))
    case 2: write = provider.append([contact(), contact()])
    case 3...4 where count > 0:
      write = provider.update(contact(), at: Int.random(in: 0..<count, using: &random))
    case 5...6 where count > 0:
      write = provider.remove(at: Int.random(in: 0..<count, using: &random))
    case 7 where count > 0:
      let start = Int.random(in: 0..<count, using: &random)
      write = provider.remove(at: start..<Int.random(in: start...count, using: &random))
    case 8...9 where count > 0:
      write = provider.move(
        from: Int.random(in: 0..<count, using: &random),
        to: Int.random(in: 0..<count, using: &random))
    case 10:
      let models = (0..<Int.random(in: 0..<6, using: &random)).map { _ in contact() }
      write = provider.setData(models, cacheKey: "contacts")
    default: write = provider.append([contact()])
    }
    apply(write.change)
  }
}
