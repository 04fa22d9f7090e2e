/// Ways to say where an entity type is kept that no container calls: to declare one is a compile error that
/// names ``Entity/stores(with:)``.
///
/// No type conforms to this protocol by itself; ``Entity`` has it.
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
  /// Where the disk is in a declaration of the former form; `Never` without one.
  associatedtype FormerDiskStoreConfig
  /// The stores in a declaration of the former form.
  associatedtype FormerStores
  /// The same of a declaration that does not change the queue.
  associatedtype FormerConstantClient
  /// The same of a declaration that does not change the queue.
  associatedtype FormerConstantQueue
  /// The same of a declaration that does not change the queue.
  associatedtype FormerConstantDiskStoreConfig
  /// The same of a declaration that does not change the queue.
  associatedtype FormerConstantStores

  /// A form that is not called.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  static func stores(
    with client: FormerClient, clientQueue: inout FormerQueue, cacheLimit: Int,
    diskStoreConfig: FormerDiskStoreConfig
  ) -> FormerStores

  /// A form that is not called.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - clientQueue: The queue of requests.
  ///   - cacheLimit: How many entities memory holds at most.
  ///   - diskStoreConfig: Where persistent entities live.
  /// - Returns: The stores.
  static func stores(
    with client: FormerConstantClient, clientQueue: FormerConstantQueue, cacheLimit: Int,
    diskStoreConfig: FormerConstantDiskStoreConfig
  ) -> FormerConstantStores

  /// There unless a former form is declared.
  static var hasNoFormerStores: Void { get }
  /// There unless a former form is declared.
  static var hasNoFormerConstantStores: Void { get }
}

extension FormerEntityStores {
  /// Is never called.
  ///
  /// - Parameters:
  ///   - client: There is none.
  ///   - clientQueue: There is none.
  ///   - cacheLimit: There is none.
  ///   - diskStoreConfig: There is none.
  public static func stores(
    with client: Never, clientQueue: inout Never, cacheLimit: Int, diskStoreConfig: Never
  ) {}

  /// Is never called.
  ///
  /// - Parameters:
  ///   - client: There is none.
  ///   - clientQueue: There is none.
  ///   - cacheLimit: There is none.
  ///   - diskStoreConfig: There is none.
  public static func stores(
    with client: Never, clientQueue: Never, cacheLimit: Int, diskStoreConfig: Never
  ) {}

  /// Unavailable where a former form is declared.
  @available(
    *, unavailable,
    message: """
      declare 'static func stores(with configuration: StackConfiguration) -> [any Storing<Self>]'; \
      the configuration has the client, the queue, the limit and the disk
      """
  )
  public static var hasNoFormerStores: Void { () }

  /// Unavailable where a former form is declared.
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
  /// There, as no former form is declared.
  public static var hasNoFormerStores: Void { () }
}

extension FormerEntityStores where FormerConstantClient == Never {
  /// There, as no former form is declared.
  public static var hasNoFormerConstantStores: Void { () }
}
