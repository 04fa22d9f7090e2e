/// Former methods for the stores of an entity type: declaring one is a compile error that names
/// ``Entity/stores(with:)``.
///
/// ``Entity`` inherits this protocol; no type declares conformance to it.
///
/// ```swift
/// static func stores(with configuration: StackConfiguration) -> [any Storing<Draft>] {
///   [InMemoryStore()]
/// }
/// ```
public protocol FormerEntityStores {
  /// The client in a declaration of the former form; `Never` without one.
  associatedtype FormerClient
  /// The queue in a declaration of the former form; `Never` without one.
  associatedtype FormerQueue
  /// The configuration of the disk in a declaration of the former form; `Never` without one.
  associatedtype FormerDiskStoreConfig
  /// The stores in a declaration of the former form.
  associatedtype FormerStores
  /// The same for a declaration that does not change the queue.
  associatedtype FormerConstantClient
  /// The same for a declaration that does not change the queue.
  associatedtype FormerConstantQueue
  /// The same for a declaration that does not change the queue.
  associatedtype FormerConstantDiskStoreConfig
  /// The same for a declaration that does not change the queue.
  associatedtype FormerConstantStores

  /// A former method that is not called.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: The largest number of entities in memory.
  ///   - diskStoreConfig: Where persistent entities are stored.
  /// - Returns: The stores.
  static func stores(
    with client: FormerClient, clientQueue: inout FormerQueue, cacheLimit: Int,
    diskStoreConfig: FormerDiskStoreConfig
  ) -> FormerStores

  /// A former method that is not called.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: The largest number of entities in memory.
  ///   - diskStoreConfig: Where persistent entities are stored.
  /// - Returns: The stores.
  static func stores(
    with client: FormerConstantClient, clientQueue: FormerConstantQueue, cacheLimit: Int,
    diskStoreConfig: FormerConstantDiskStoreConfig
  ) -> FormerConstantStores

  /// Available unless a former method is declared.
  static var hasNoFormerStores: Void { get }
  /// Available unless a former method is declared.
  static var hasNoFormerConstantStores: Void { get }
}

extension FormerEntityStores {
  /// Never called, because its parameters have no values.
  ///
  /// - Parameters:
  ///   - client: No value.
  ///   - clientQueue: No value.
  ///   - cacheLimit: No value.
  ///   - diskStoreConfig: No value.
  public static func stores(
    with client: Never, clientQueue: inout Never, cacheLimit: Int, diskStoreConfig: Never
  ) {}

  /// Never called, because its parameters have no values.
  ///
  /// - Parameters:
  ///   - client: No value.
  ///   - clientQueue: No value.
  ///   - cacheLimit: No value.
  ///   - diskStoreConfig: No value.
  public static func stores(
    with client: Never, clientQueue: Never, cacheLimit: Int, diskStoreConfig: Never
  ) {}

  /// Unavailable if a former method is declared.
  @available(
    *, unavailable,
    message: """
      declare 'static func stores(with configuration: StackConfiguration) -> [any Storing<Self>]'; \
      the configuration has the client, the queue, the limit and the disk
      """
  )
  public static var hasNoFormerStores: Void { () }

  /// Unavailable if a former method is declared.
  @available(
    *, unavailable,
    message: """
      declare 'static func stores(with configuration: StackConfiguration) -> [any Storing<Self>]'; \
      the configuration has the client, the queue, the limit and the disk
      """
  )
  public static var hasNoFormerConstantStores: Void { () }
}

extension FormerEntityStores where FormerClient == Never {
  /// Available, because no former method is declared.
  public static var hasNoFormerStores: Void { () }
}

extension FormerEntityStores where FormerConstantClient == Never {
  /// Available, because no former method is declared.
  public static var hasNoFormerConstantStores: Void { () }
}
