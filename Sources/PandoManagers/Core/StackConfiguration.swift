package import PandoStore
import PandoSystem

/// The options for making the stores of an entity type.
///
/// ```swift
/// static func stores(with configuration: StackConfiguration) -> [any Storing<Self>] {
///   guard let store = configuration.diskStoreConfig.modelStore else { return [] }
///   return [DiskStore<Self>(modelStore: store)]
/// }
/// ```
/// `PandoRemote` adds the queue of requests.
public struct StackConfiguration: Sendable {
  /// The largest number of entities in memory before the disk, in the default stores of a type.
  public let cacheLimit: Int
  /// Where persistent entities are stored, with the store open.
  public let diskStoreConfig: DiskStoreConfig
  /// The store of types that are never on disk; `nil` if no such type has been added.
  let memoryStore: ModelStore?
  /// The connection to a server; `nil` if there is none.
  package let server: (any ServerLink)?
}

/// The connection of a container to a server.
package protocol ServerLink: AnyObject, Sendable {
  /// The store of the requests; `nil` if they are in memory.
  var store: ModelStore? { get }

  /// Adds a type whose entities the container stores.
  ///
  /// - Parameter type: The type.
  func register<E: Entity>(_ type: E.Type)

  /// Begins the use by a container; the first one sends requests of an earlier run.
  func beginUse()

  /// Ends the use by a container; the last one closes the connection.
  func endUse() async

  /// Drops all requests, after their rows were removed; cancels those on their way, and fails their callers.
  func forgetAll()
}

/// The open connections to servers of this process.
package enum ServerLinks {
  private static let opened = Locked(WeakList<any ServerLink>())

  /// Returns an open connection, or makes one.
  ///
  /// - Parameters:
  ///   - matches: Whether an open connection is the wanted one.
  ///   - make: Makes one if none matches; it is held weakly.
  /// - Returns: The connection.
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

  /// Returns the open connections whose requests are in a store.
  ///
  /// - Parameter store: The store.
  /// - Returns: The connections.
  package static func links(of store: ModelStore) -> [any ServerLink] {
    opened.withLock(\.objects).filter { $0.store === store }
  }
}
