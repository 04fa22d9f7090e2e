public import PandoStore

/// Where the entities of a container are stored.
///
/// ```swift
/// let container = try CoreManagerContainer(
///   entities: Author.self, Book.self, diskStoreConfig: .path("data"))
/// let test = try CoreManagerContainer(entities: Book.self, diskStoreConfig: .inMemory())
/// ```
public struct DiskStoreConfig: Sendable {
  indirect enum Place: Sendable {
    case shared(ModelStore)
    case path(String, ModelStore.Configuration)
    case temporary(ModelStore.Configuration)
    case memory(ModelStore.Configuration)
  }

  let place: Place

  /// A value for custom stores; ``Entity/stores(with:)`` receives it.
  public var custom: (any Sendable)?

  /// The open store of the entities; `nil` before a container has opened it.
  public internal(set) var modelStore: ModelStore?

  private init(_ place: Place, custom: (any Sendable)?) {
    self.place = place
    self.custom = custom
  }

  /// No disk: all entities are in a store in memory, as with ``inMemory(configuration:custom:)``.
  ///
  /// - Parameter custom: A value for custom stores.
  /// - Returns: The configuration.
  public static func none(custom: (any Sendable)? = nil) -> DiskStoreConfig {
    inMemory(custom: custom)
  }

  /// No disk: all entities are in a store in memory.
  public static var none: DiskStoreConfig { .none() }

  /// A store that the caller has opened, and closes after the container.
  ///
  /// - Parameters:
  ///   - modelStore: The store; providers and other containers may share it.
  ///   - custom: A value for custom stores.
  /// - Returns: The configuration.
  public static func store(
    _ modelStore: ModelStore, custom: (any Sendable)? = nil
  ) -> DiskStoreConfig { DiskStoreConfig(.shared(modelStore), custom: custom) }

  /// A store that the container opens and closes.
  ///
  /// - Parameters:
  ///   - path: The directory of the store; created if it is absent.
  ///   - configuration: The settings of the store.
  ///   - custom: A value for custom stores.
  /// - Returns: The configuration.
  public static func path(
    _ path: String, configuration: ModelStore.Configuration = .init(),
    custom: (any Sendable)? = nil
  ) -> DiskStoreConfig { DiskStoreConfig(.path(path, configuration), custom: custom) }

  /// A store in a temporary directory, deleted when the container is closed.
  ///
  /// - Parameters:
  ///   - configuration: The settings of the store.
  ///   - custom: A value for custom stores.
  /// - Returns: The configuration.
  public static func temporary(
    configuration: ModelStore.Configuration = .init(), custom: (any Sendable)? = nil
  ) -> DiskStoreConfig { DiskStoreConfig(.temporary(configuration), custom: custom) }

  /// A store in memory, which is closed with the container.
  ///
  /// It has the indexes, undo and deletion rules of a store on disk.
  ///
  /// - Parameters:
  ///   - configuration: The settings, as for `ModelStore.inMemory(configuration:)`.
  ///   - custom: A value for custom stores.
  /// - Returns: The configuration.
  public static func inMemory(
    configuration: ModelStore.Configuration = .init(), custom: (any Sendable)? = nil
  ) -> DiskStoreConfig { DiskStoreConfig(.memory(configuration), custom: custom) }
}

extension DiskStoreConfig {
  /// Whether the container closes the store.
  var isOwned: Bool {
    switch place {
    case .path, .temporary, .memory: true
    case .shared: false
    }
  }

  /// The configuration with an open store.
  func opened() throws -> DiskStoreConfig {
    var config = self
    switch place {
    case .shared(let store): config.modelStore = store
    case .path(let path, let configuration):
      config.modelStore = try ModelStore(path: path, configuration: configuration)
    case .temporary(let configuration):
      config.modelStore = try ModelStore.temporary(configuration: configuration)
    case .memory(let configuration):
      config.modelStore = try ModelStore.inMemory(configuration: configuration)
    }
    return config
  }
}
