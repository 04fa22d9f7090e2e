package import PandoStore
import PandoSystem

/// What the stores of an entity type are made with.
///
/// ```swift
/// static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
///   guard let store = configuration.diskStoreConfig.modelStore else { return [] }
///   return [DiskStore<Self>(modelStore: store)]
/// }
/// ```
/// `PandoRemote` adds the queue of requests.
public struct StackConfiguration: Sendable {
  /// How many entities memory holds before the disk at most, in the stores that types have by default.
  public let cacheLimit: Int
  /// Where persistent entities live, with the store open.
  public let diskStoreConfig: DiskStoreConfig
  /// The store of types that are never on disk; `nil` if no such type has been added.
  let memoryStore: ModelStore?
  /// The way to a server; `nil` if there is none.
  package let server: (any ServerLink)?
}

/// The way of a container to a server.
package protocol ServerLink: AnyObject, Sendable {
  /// The store of the requests; `nil` if they are kept in memory.
  var store: ModelStore? { get }

  /// Says that entities of a type are kept here.
  ///
  /// - Parameter type: The type.
  func register<E: Entity>(_ type: E.Type)

  /// Says that a container uses it from now on; the first one sends what an earlier run has left.
  func beginUse()

  /// Says that a container does not use it any more; the last one closes it.
  func endUse() async

  /// Forgets all requests, after their rows have been removed from the store: what is on its way is
  /// cancelled, and whoever waits is told.
  func forgetAll()
}

/// The ways to servers that this process has opened.
package enum ServerLinks {
  private static let opened = Locked(WeakList<any ServerLink>())

  /// Returns a link that is open.
  ///
  /// - Parameters:
  ///   - matches: Whether it is the one that is looked for.
  ///   - make: Makes it if there is none, and it is remembered for as long as somebody uses it.
  /// - Returns: The link.
  package static func open<Link: ServerLink>(
    where matches: (Link) -> Bool, else make: () -> Link
  ) -> Link {
    opened.withLock { opened in
      for case let link as Link in opened.objects where matches(link) {
        return link
      }
      let link = make()
      opened.append(link)
      return link
    }
  }

  /// Returns the links whose requests are in a store.
  ///
  /// - Parameter store: The store.
  /// - Returns: Those that are open.
  package static func links(of store: ModelStore) -> [any ServerLink] {
    opened.withLock(\.objects).filter { $0.store === store }
  }
}
