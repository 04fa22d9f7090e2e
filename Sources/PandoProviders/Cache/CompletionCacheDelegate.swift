public import PandoModels
import PandoSystem

/// A cache with completion handlers.
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
/// A second call of a handler is ignored. A handler that is released without a call leads to the
/// error `cacheNeverAnswered`. A read handler that is never called or released leaves its one
/// caller waiting forever. Writes run one after another, so such a handler of a write holds back
/// all later writes, the reads of their keys, `drain()` and `close()`; shown data still change.
///
/// Conform to ``CacheDelegate`` instead if the cache has `async` functions.
public protocol CompletionCacheDelegate: CacheDelegate {
  /// Reads a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the fetch.
  ///   - completion: Must be called once: with the model, with `nil` if there is none, or with an
  ///     error.
  func modelForKey<T: SimpleModel>(
    _ cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable (T?, (any Error)?) -> Void)

  /// Writes a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the change.
  ///   - completion: Must be called once, with an error or `nil`.
  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Reads a collection.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - context: The context of the fetch.
  ///   - completion: Must be called once: with the elements in order, with `nil` if there is no
  ///     such collection, or with an error.
  func collectionForKey<T: SimpleModel>(
    _ cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ([T]?, (any Error)?) -> Void)

  /// Writes a collection.
  ///
  /// - Parameters:
  ///   - collection: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: The context of the change.
  ///   - completion: Must be called once, with an error or `nil`.
  func setCollection<T: SimpleModel>(
    _ collection: [T], forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Removes a model.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the change.
  ///   - completion: Must be called once, with an error or `nil`.
  func deleteModel(
    forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Reads the model of a context; called for a fetch with a context and without a key.
  ///
  /// The default implementation finds nothing.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - completion: Must be called once: with the model, with `nil` if there is none, or with an
  ///     error.
  func modelForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable (T?, (any Error)?) -> Void)

  /// Reads the collection of a context; called for a fetch with a context and without a key.
  ///
  /// The default implementation finds nothing.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - completion: Must be called once: with the elements in order, with `nil` if there is no
  ///     such collection, or with an error.
  func collectionForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable ([T]?, (any Error)?) -> Void)
}

extension CompletionCacheDelegate {
  /// Calls the handler with `nil`.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - completion: Called at once.
  public func modelForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable (T?, (any Error)?) -> Void
  ) { completion(nil, nil) }

  /// Calls the handler with `nil`.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - completion: Called at once.
  public func collectionForContext<T: SimpleModel>(
    _ context: any Sendable, completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
  ) { completion(nil, nil) }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - type: The type of the returned model.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
  public func model<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> T? {
    try await answer("") { promise in
      modelForContext(context) { (model: T?, error) in promise.finish(model, error) }
    }
  }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - context: The context of the fetch.
  ///   - type: The type of its elements.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
  public func collection<T: SimpleModel>(
    forContext context: any Sendable, as type: T.Type
  ) async throws -> [T]? {
    try await answer("") { promise in
      collectionForContext(context) { (models: [T]?, error) in promise.finish(models, error) }
    }
  }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - type: The type of the returned model.
  ///   - context: The context of the fetch.
  /// - Returns: The model, or `nil` if there is none.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
  public func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    try await answer(cacheKey) { promise in
      modelForKey(cacheKey, context: context) { (model: T?, error) in promise.finish(model, error) }
    }
  }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the change.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
  public func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    try await answer(cacheKey) { promise in
      setModel(model, forKey: cacheKey, context: context) { promise.finish((), $0) }
    }
  }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - type: The type of its elements.
  ///   - context: The context of the fetch.
  /// - Returns: The elements in order, or `nil` if there is no such collection.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
  public func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? {
    try await answer(cacheKey) { promise in
      collectionForKey(cacheKey, context: context) { (models: [T]?, error) in
        promise.finish(models, error)
      }
    }
  }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - context: The context of the change.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
  public func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    try await answer(cacheKey) { promise in
      setCollection(models, forKey: cacheKey, context: context) { promise.finish((), $0) }
    }
  }

  /// Calls the function with a completion handler, and waits for the handler.
  ///
  /// - Parameters:
  ///   - cacheKey: The key, which is the model's identifier.
  ///   - context: The context of the change.
  /// - Throws: The error of the handler; ``DataProviderError`` `cacheNeverAnswered`.
  /// - Complexity: The cost of that call, and the wait for its handler.
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

/// The object that a completion handler retains; it detects a release without a call.
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
          "the cache released its completion handler without calling it")))
  }

  func finish(_ value: Value, _ error: (any Error)?) {
    once.finish(error.map { .failure($0) } ?? .success(value))
  }
}
