import PandoModels
import PandoProviders
import PandoStore
import Synchronization

/// As `PandoStoreTestProcess` writes them.
struct Person: Model, Codable, Equatable {
  var id: Int
  var name: String
  var isOnline = false
  var modelIdentifier: String? { "Person:\(id)" }
}

/// Can't be without its person.
struct Badge: Model, Codable, Equatable {
  var id: Int
  var person: Person
  var modelIdentifier: String? { "Badge:\(id)" }
}

/// Says what its provider shows, whenever that is told.
final class Told<T: SimpleModel & Equatable>: DataProviderDelegate {
  let provider: DataProvider<T>
  private let action: @Sendable (T?) -> Void

  init(_ manager: DataModelManager, _ action: @escaping @Sendable (T?) -> Void) {
    provider = DataProvider(dataModelManager: manager)
    self.action = action
    provider.delegate = self
  }

  func dataProviderHasUpdatedData<U>(_ dataProvider: DataProvider<U>, context: (any Sendable)?) {
    action(provider.data)
  }
}

/// Keeps a list by what it is told, until that is a reset; what came in is not known.
final class ToldList: CollectionDataProviderDelegate {
  let provider: CollectionDataProvider<Person>
  private let slots = Mutex<[Person?]?>([])
  private let action: @Sendable (CollectionChange) -> Void

  init(_ manager: DataModelManager, _ action: @escaping @Sendable (CollectionChange) -> Void) {
    provider = CollectionDataProvider(dataModelManager: manager)
    self.action = action
    provider.delegate = self
  }

  func collectionDataProviderHasUpdatedData<U>(
    _ dataProvider: CollectionDataProvider<U>, collectionChanges: CollectionChange, data: [U],
    context: (any Sendable)?
  ) {
    slots.withLock { slots in
      switch collectionChanges {
      case .reset: slots = nil
      case .changes(let changes): slots?.apply(changes) { _ in nil }
      }
    }
    action(collectionChanges)
  }

  /// What was told leads to a list.
  func leads(to list: [Person]) -> Bool {
    slots.withLock { slots in
      guard let slots, slots.count == list.count else { return false }
      return zip(slots, list).allSatisfy { $0 == nil || $0 == $1 }
    }
  }
}

extension ModelStore.Configuration {
  /// A small map, so that it has to grow.
  static var following: Self {
    var configuration = Self()
    configuration.mapSizeInBytes = 1 << 20
    configuration.maximumMapSizeInBytes = 1 << 28
    configuration.durability = .unsynchronized
    configuration.followsOtherProcesses = true
    configuration.events = { event in
      if case .watchesByPolling(let reason) = event { fail("it polls: \(reason)") }
      if case .reloaded = event { say("reloaded") }
    }
    return configuration
  }
}
