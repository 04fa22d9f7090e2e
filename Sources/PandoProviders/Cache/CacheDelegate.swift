public import PandoModels

/// Where providers without a store keep their data: anything that can get and set by key.
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
/// Writes come one after another, in the order of the calls; reads come at any time, from several
/// threads at once, but a read of a key behind the writes of that key. A slow cache delays nobody but
/// those who ask it. Its errors reach who asked as they are.
///
/// A cache with completion handlers conforms to ``CompletionCacheDelegate``.
public protocol CacheDelegate: Sendable {
  /// Returns a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - type: The type to return it as.
  ///   - context: What the fetch was called with.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: Whatever the caller is to know.
  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T?

  /// Keeps a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the change was made with.
  /// - Throws: Whatever the caller and the manager's delegate are to know.
  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws

  /// Returns a collection.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - type: The type of its elements.
  ///   - context: What the fetch was called with.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: Whatever the caller is to know.
  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]?

  /// Keeps a collection.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: What the change was made with.
  /// - Throws: Whatever the caller and the manager's delegate are to know.
  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws

  /// Removes a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the change was made with.
  /// - Throws: Whatever the caller and the manager's delegate are to know.
  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws

  /// Returns the model that a context leads to; asked where a fetch has a context and no key.
  ///
  /// ```swift
  /// func model<T: SimpleModel>(forContext context: any Sendable, as type: T.Type) async throws -> T? {
  ///   guard let address = context as? URL, let key = keys[address] else { return nil }
  ///   return try await model(forKey: key, as: type, context: context)
  /// }
  /// ```
  /// There is no need to implement it: by default nothing is found.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - type: The type to return it as.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: Whatever the caller is to know.
  func model<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> T?

  /// Returns the collection that a context leads to; asked where a fetch has a context and no key.
  ///
  /// There is no need to implement it: by default nothing is found.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - type: The type of its elements.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: Whatever the caller is to know.
  func collection<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> [T]?
}

extension CacheDelegate {
  /// Finds nothing.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - type: The type to return it as.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func model<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> T? { nil }

  /// Finds nothing.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - type: The type of its elements.
  /// - Returns: `nil`.
  /// - Throws: Nothing.
  /// - Complexity: O(1).
  public func collection<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> [T]? { nil }
}

extension CacheDelegate {
  /// Returns a model of a type that is known at run time only; without key by the context.
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

  /// Returns the model of a key; without key that which the context leads to.
  func model<T: SimpleModel>(
    orContext cacheKey: String?, as type: T.Type, _ context: (any Sendable)?
  ) async throws -> T? {
    if let cacheKey { return try await model(forKey: cacheKey, as: type, context: context) }
    guard let context else { return nil }
    return try await model(forContext: context, as: type)
  }

  /// Returns the collection of a key; without key that which the context leads to.
  func collection<T: SimpleModel>(
    orContext cacheKey: String?, as type: T.Type, _ context: (any Sendable)?
  ) async throws -> [T]? {
    if let cacheKey { return try await collection(forKey: cacheKey, as: type, context: context) }
    guard let context else { return nil }
    return try await collection(forContext: context, as: type)
  }

  /// Keeps a model under its identifier, if it has one.
  func set(_ model: any SimpleModel, _ context: (any Sendable)?) async throws {
    guard let identifier = model.modelIdentifier else { return }
    try await setModel(model, forKey: identifier, context: context)
  }
}
