public import PandoModels

/// A key-value cache in which a manager without a store keeps its data.
///
/// ```swift
/// func model<T: SimpleModel>(
///   forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
/// ) async throws -> T? { models.withLock { $0[cacheKey] as? T } }
///
/// func setModel<T: SimpleModel>(
///   _ model: T, forKey cacheKey: String, context: (any Sendable)?
/// ) async throws { models.withLock { $0[cacheKey] = model } }
/// ```
///
/// Writes are called one after another, in the order of the changes. Reads may be called at any
/// time, by several threads at once. A read of a key is called after the queued writes of that key.
/// A slow cache delays only its own reads and writes. Its errors reach the caller unchanged.
///
/// A model is written under its identifier, and a list under its key with all its elements. A list
/// writes none of its elements under their identifiers. A changed model writes none of the lists
/// that contain it; a deleted one is removed from those that providers show.
///
/// Conform to ``CompletionCacheDelegate`` if the cache has completion handlers. Use a manager with
/// a `ModelStore` instead, unless the program must keep its data in a database of its own.
public protocol CacheDelegate: Sendable {
  /// Returns a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - type: The type of the returned model.
  ///   - context: The context of the fetch.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: Any error; Pando passes it to the caller.
  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T?

  /// Writes a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the change.
  /// - Throws: Any error; Pando passes it to the caller and the manager's delegate.
  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws

  /// Returns a collection.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - type: The type of its elements.
  ///   - context: The context of the fetch.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: Any error; Pando passes it to the caller.
  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]?

  /// Writes a collection.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: The context of the change.
  /// - Throws: Any error; Pando passes it to the caller and the manager's delegate.
  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws

  /// Removes a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the change.
  /// - Throws: Any error; Pando passes it to the caller and the manager's delegate.
  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws

  /// Returns the model of a context; called for a fetch with a context and without a key.
  ///
  /// ```swift
  /// func model<T: SimpleModel>(forContext context: any Sendable, as type: T.Type) async throws -> T? {
  ///   guard let address = context as? URL, let key = keys[address] else { return nil }
  ///   return try await model(forKey: key, as: type, context: context)
  /// }
  /// ```
  /// The default implementation returns `nil`.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - type: The type of the returned model.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: Any error; Pando passes it to the caller.
  func model<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> T?

  /// Returns the collection of a context; called for a fetch with a context and without a key.
  ///
  /// The default implementation returns `nil`.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - type: The type of its elements.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: Any error; Pando passes it to the caller.
  func collection<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> [T]?
}

extension CacheDelegate {
  /// Returns `nil`.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - type: The type of the returned model.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func model<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> T? { nil }

  /// Returns `nil`.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - type: The type of its elements.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func collection<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> [T]? { nil }
}

extension CacheDelegate {
  /// Returns a model in a type given at run time; without a key, the model of the context.
  func find(
    _ cacheKey: String?, as type: any SimpleModel.Type, _ context: (any Sendable)?
  ) async throws -> (any SimpleModel)? {
    try await ask(cacheKey, type, context)
  }

  private func ask<T: SimpleModel>(
    _ cacheKey: String?, _ type: T.Type, _ context: (any Sendable)?
  ) async throws -> (any SimpleModel)? {
    try await model(orContext: cacheKey, as: type, context)
  }

  /// Returns the model of a key; without a key, the model of the context.
  func model<T: SimpleModel>(
    orContext cacheKey: String?, as type: T.Type, _ context: (any Sendable)?
  ) async throws -> T? {
    if let cacheKey { return try await model(forKey: cacheKey, as: type, context: context) }
    guard let context else { return nil }
    return try await model(forContext: context, as: type)
  }

  /// Returns the collection of a key; without a key, the collection of the context.
  func collection<T: SimpleModel>(
    orContext cacheKey: String?, as type: T.Type, _ context: (any Sendable)?
  ) async throws -> [T]? {
    if let cacheKey { return try await collection(forKey: cacheKey, as: type, context: context) }
    guard let context else { return nil }
    return try await collection(forContext: context, as: type)
  }

  /// Writes a model under its identifier, if it has one.
  func set(_ model: any SimpleModel, _ context: (any Sendable)?) async throws {
    guard let identifier = model.modelIdentifier else { return }
    try await setModel(model, forKey: identifier, context: context)
  }
}
