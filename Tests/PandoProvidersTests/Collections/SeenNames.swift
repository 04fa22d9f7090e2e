import PandoProviders
import PandoSystem

/// Notes which names a provider shows when it is asked to.
final class SeenNames: Sendable {
  private let provider: CollectionDataProvider<Contact>
  private let seen = Locked<Set<String>>([])

  init(_ provider: CollectionDataProvider<Contact>) { self.provider = provider }

  func note() {
    let names = provider.data.map(\.name)
    seen.withLock { $0.formUnion(names) }
  }

  var names: Set<String> { seen.withLock { $0 } }
}
