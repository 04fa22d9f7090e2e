public import PandoModels
import PandoSystem

/// A cache whose calls answer through completion handlers.
///
/// ```swift
/// func modelForKey<T: SimpleModel>(
///   _ cacheKey: String, context: (any Sendable)?,
///   completion: @escaping @Sendable (T?, (any Error)?) -> Void
/// ) {
///   database.read(cacheKey) { value in completion(value as? T, nil) }
/// }
/// ```
///
/// A second answer is ignored. A handler that is let go without having been called counts as the error
/// `cacheNeverAnswered`; one that is kept for ever leaves that one caller waiting, and nobody else.
public protocol CompletionCacheDelegate: CacheDelegate {
  /// Gets a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the fetch was called with.
  ///   - completion: To be called once: with the model, with `nil` if there is none, or with an error.
  func modelForKey<T: SimpleModel>(
    _ cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable (T?, (any Error)?) -> Void)

  /// Keeps a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the change was made with.
  ///   - completion: To be called once, with what went wrong.
  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Gets a collection.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - context: What the fetch was called with.
  ///   - completion: To be called once: with the elements in order, with `nil` if there is no such
  ///     collection, or with an error.
  func collectionForKey<T: SimpleModel>(
    _ cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ([T]?, (any Error)?) -> Void)

  /// Keeps a collection.
  ///
  /// - Parameters:
  ///   - collection: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: What the change was made with.
  ///   - completion: To be called once, with what went wrong.
  func setCollection<T: SimpleModel>(
    _ collection: [T], forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Removes a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the change was made with.
  ///   - completion: To be called once, with what went wrong.
  func deleteModel(
    forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Gets the model that a context leads to; asked where a fetch has a context and no key.
  ///
  /// There is no need to implement it: by default nothing is found.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - completion: To be called once: with the model, with `nil` if there is none, or with an error.
  func modelForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable (T?, (any Error)?) -> Void)

  /// Gets the collection that a context leads to; asked where a fetch has a context and no key.
  ///
  /// There is no need to implement it: by default nothing is found.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - completion: To be called once: with the elements in order, with `nil` if there is no such
  ///     collection, or with an error.
  func collectionForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable ([T]?, (any Error)?) -> Void)
}

extension CompletionCacheDelegate {
  /// Finds nothing.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - completion: Called at once.
  public func modelForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable (T?, (any Error)?) -> Void
  ) { completion(nil, nil) }

  /// Finds nothing.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - completion: Called at once.
  public func collectionForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
  ) { completion(nil, nil) }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - type: The type to return it as.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func model<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> T? {
    try await answer("") { promise in
      modelForContext(context) { (model: T?, error) in promise.finish(model, error) }
    }
  }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - context: What the fetch was called with.
  ///   - type: The type of its elements.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func collection<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> [T]? {
    try await answer("") { promise in
      collectionForContext(context) { (models: [T]?, error) in promise.finish(models, error) }
    }
  }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - type: The type to return it as.
  ///   - context: What the fetch was called with.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    try await answer(cacheKey) { promise in
      modelForKey(cacheKey, context: context) { (model: T?, error) in promise.finish(model, error) }
    }
  }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the change was made with.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    try await answer(cacheKey) { promise in
      setModel(model, forKey: cacheKey, context: context) { promise.finish((), $0) }
    }
  }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - type: The type of its elements.
  ///   - context: What the fetch was called with.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? {
    try await answer(cacheKey) { promise in
      collectionForKey(cacheKey, context: context) { (models: [T]?, error) in
        promise.finish(models, error)
      }
    }
  }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: What the change was made with.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    try await answer(cacheKey) { promise in
      setCollection(models, forKey: cacheKey, context: context) { promise.finish((), $0) }
    }
  }

  /// Waits for the completion handler of the call with the same arguments.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: What the change was made with.
  /// - Throws: What the handler was called with; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: What that call costs, and the wait for its handler.
  public func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {
    try await answer(cacheKey) { promise in
      deleteModel(forKey: cacheKey, context: context) { promise.finish((), $0) }
    }
  }

  private func answer<Value: Sendable>(
    _ cacheKey: String, _ ask: (CachePromise<Value>) -> Void
  ) async throws -> Value {
    let once = OneAnswer<Value>()
    return try await withCheckedThrowingContinuation { continuation in
      once.wait(continuation)
      ask(CachePromise(once, cacheKey))
    }
  }
}

/// What a completion handler holds: it says when it is let go.
private final class CachePromise<Value: Sendable>: Sendable {
  private let once: OneAnswer<Value>
  private let cacheKey: String

  init(_ once: OneAnswer<Value>, _ cacheKey: String) {
    self.once = once
    self.cacheKey = cacheKey
  }

  deinit {
    once.finish(
      .failure(
        DataProviderError(
          .cacheNeverAnswered, cacheKey,
          "the cache let go of its completion handler without calling it")))
  }

  func finish(_ value: Value, _ error: (any Error)?) {
    once.finish(error.map { .failure($0) } ?? .success(value))
  }
}
