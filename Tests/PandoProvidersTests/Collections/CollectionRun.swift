import PandoConsistency
import PandoFixtures
import PandoModels
import PandoStore
import PandoSystem
import Testing

@testable import PandoProviders

/// Keeps a list by what a provider is told and by what its own calls return, without looking at its
/// data in between.
///
/// A slot whose contents came in or changed by an own call is unknown until it is told, or until the next quiet point.
final class ListReplica: CollectionDataProviderDelegate {
  private struct State {
    var slots: [Contact?] = []
    /// After an own reset the list is known again at the next quiet point.
    var isUnknown = true
    /// Whether there was a quiet point.
    var hasBegun = false
    /// The calls whose list is not the one that their changes lead to.
    var wrong: [String] = []
    var callCount = 0

    /// Whether what is known of the slots is a list.
    func shows(_ list: [Contact]) -> Bool {
      slots.count == list.count && zip(slots, list).allSatisfy { $0 == nil || $0 == $1 }
    }
  }

  let provider: CollectionDataProvider<Contact>
  private let state = Locked(State())

  init(_ manager: DataModelManager) {
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = self
  }

  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
    context: (any Sendable)?
  ) {
    let told = data.compactMap { $0 as? Contact }
    state.withLock { state in
      state.callCount += 1
      guard state.hasBegun else { return }
      if collectionChanges == .reset { state.isUnknown = false }
      if state.isUnknown { return }
      guard collectionChanges.fits(state.slots.count) else {
        state.wrong.append("told \(collectionChanges) of \(state.slots.count) elements")
        return
      }
      state.slots = state.slots.applying(collectionChanges, from: told) { $0 }
      if !state.shows(told) {
        state.wrong.append("told \(collectionChanges): \(state.slots), and not \(told)")
      }
    }
  }

  /// Applies what an own call has returned.
  func apply(_ change: CollectionChange?) {
    state.withLock { state in
      switch change {
      case nil: break
      case .reset: state.isUnknown = true
      case .changes(let changes):
        if state.isUnknown { return }
        guard CollectionChange.changes(changes).fits(state.slots.count) else {
          state.wrong.append("returned \(changes) of \(state.slots.count) elements")
          return
        }
        state.slots.apply(changes) { _ in nil }
      }
    }
  }

  /// Compares with the provider's data, and begins anew with that.
  func check(_ comment: Comment) {
    let data = provider.data
    state.withLock { state in
      #expect(state.wrong.isEmpty, comment)
      #expect(state.isUnknown || state.shows(data), comment)
      state.slots = data
      state.isUnknown = false
      state.hasBegun = true
      state.wrong = []
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

extension CollectionChange {
  /// Whether all its places exist in a list when their change is applied.
  func fits(_ count: Int) -> Bool {
    guard case .changes(let changes) = self else { return true }
    var count = count
    return changes.allSatisfy { change in
      switch change {
      case .update(let index): return (0..<count).contains(index)
      case .delete(let index):
        count -= 1
        return index >= 0 && index <= count
      case .insert(let index):
        count += 1
        return (0..<count).contains(index)
      case .move(let from, let to): return (0..<count).contains(from) && (0..<count).contains(to)
      }
    }
  }
}
