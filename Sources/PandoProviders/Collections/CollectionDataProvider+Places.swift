import PandoModels

/// Changes of a stored collection at a place that is looked up in one step with the change.
///
/// No other change comes in between: an element that is inserted only where it is missing is never
/// there twice.
///
/// ```swift
/// CollectionDataProvider<Person>.insert(
///   [ada],
///   at: { people in people.contains { $0.id == ada.id } ? nil : people.count },
///   cacheKey: "guests", dataModelManager: manager)
/// CollectionDataProvider<Person>.remove(
///   at: "Person:1", cacheKey: "guests", dataModelManager: manager)
/// ```
///
/// A closure is given all elements: as they are shown, of a collection that somebody shows, else as they
/// are stored. It runs on the caller's thread, the store's writer or a task of the cache, perhaps more
/// than once, and writes nothing itself.
extension CollectionDataProvider {
  /// Inserts elements where a closure says.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - place: The position of the first of them afterwards, 0 to the count; `nil` inserts nothing.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position, and with
  ///   what `place` throws.
  /// - Complexity: Where nobody shows the collection, O(*n*) for the reading of its *n* elements.
  @discardableResult
  public static func insert(
    _ models: [T], at place: @escaping @Sendable ([T]) throws -> Int?, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.chosen(place), models: models) { .insert(models, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Inserts elements before another one.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - modelIdentifier: The identifier of the element before which they come.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or element.
  /// - Complexity: Over a store, where nobody shows the collection, up to O(*n*) to find the element in *n*;
  ///   none is decoded.
  @discardableResult
  public static func insert(
    _ models: [T], at modelIdentifier: String, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.element(modelIdentifier), models: models) { .insert(models, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Puts another element in the place that a closure says.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - place: The position; `nil` changes nothing.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position, and with
  ///   what `place` throws.
  /// - Complexity: Where nobody shows the collection, O(*n*) for the reading of its *n* elements.
  @discardableResult
  public static func update(
    _ model: T, at place: @escaping @Sendable ([T]) throws -> Int?, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.chosen(place), models: [model]) { .update(model, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Puts another element in the place of one, or the same with other contents.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - modelIdentifier: The identifier of the element that it replaces.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or element.
  /// - Complexity: Over a store, where nobody shows the collection, up to O(*n*) to find the element in *n*;
  ///   none is decoded.
  @discardableResult
  public static func update(
    _ model: T, at modelIdentifier: String, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.element(modelIdentifier), models: [model]) { .update(model, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Removes the element where a closure says; the model itself stays wherever else it is.
  ///
  /// - Parameters:
  ///   - place: The position; `nil` removes nothing.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position, and with
  ///   what `place` throws.
  /// - Complexity: Where nobody shows the collection, O(*n*) for the reading of its *n* elements.
  @discardableResult
  public static func remove(
    at place: @escaping @Sendable ([T]) throws -> Int?, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.chosen(place), models: []) { ListRequest<T>.removeOne(at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Removes an element; the model itself stays wherever else it is.
  ///
  /// - Parameters:
  ///   - modelIdentifier: Its identifier; of several elements with it the first is removed.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or element.
  /// - Complexity: Over a store, where nobody shows the collection, up to O(*n*) to find the element in *n*;
  ///   none is decoded.
  @discardableResult
  public static func remove(
    at modelIdentifier: String, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.element(modelIdentifier), models: []) { ListRequest<T>.removeOne(at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }
}
