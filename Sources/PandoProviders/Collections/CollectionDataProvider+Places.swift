import PandoModels

/// Changes of a stored collection at a position that is looked up in the same step.
///
/// No other change comes between the lookup and the change. So an element that is inserted only if it
/// is missing is never inserted twice.
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
/// A closure gets all elements: the shown ones of a live collection, otherwise the stored ones. It
/// runs on the caller's thread, the store's writer thread or a task of the cache. It may run more
/// than once, and must not write.
extension CollectionDataProvider {
  /// Inserts elements at the position that a closure returns.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - place: Returns the position of the first new element, 0 to the count; `nil` to
  ///     insert nothing.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist, and with
  ///   the error of `place`.
  /// - Complexity: For a collection that no provider shows, O(*n*) to read its *n* elements.
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
  ///   - modelIdentifier: The identifier of the element before which they are inserted.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or element does not exist.
  /// - Complexity: Over a store, up to O(*n*) if no provider shows the collection of *n* elements;
  ///   no element is decoded.
  @discardableResult
  public static func insert(
    _ models: [T], at modelIdentifier: String, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.element(modelIdentifier), models: models) { .insert(models, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Replaces the element at the position that a closure returns.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - place: Returns the position; `nil` changes nothing.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist, and with
  ///   the error of `place`.
  /// - Complexity: For a collection that no provider shows, O(*n*) to read its *n* elements.
  @discardableResult
  public static func update(
    _ model: T, at place: @escaping @Sendable ([T]) throws -> Int?, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.chosen(place), models: [model]) { .update(model, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Replaces the element with an identifier.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - modelIdentifier: The identifier of the replaced element.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or element does not exist.
  /// - Complexity: Over a store, up to O(*n*) if no provider shows the collection of *n* elements;
  ///   no element is decoded.
  @discardableResult
  public static func update(
    _ model: T, at modelIdentifier: String, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.element(modelIdentifier), models: [model]) { .update(model, at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Removes the element at the position that a closure returns; the model itself is not deleted.
  ///
  /// - Parameters:
  ///   - place: Returns the position; `nil` removes nothing.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist, and with
  ///   the error of `place`.
  /// - Complexity: For a collection that no provider shows, O(*n*) to read its *n* elements.
  @discardableResult
  public static func remove(
    at place: @escaping @Sendable ([T]) throws -> Int?, cacheKey: String,
    dataModelManager: DataModelManager, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .placed(.chosen(place), models: []) { ListRequest<T>.removeOne(at: $0) }, cacheKey,
      updatesCache: updateCache, context)
  }

  /// Removes an element; the model itself is not deleted.
  ///
  /// - Parameters:
  ///   - modelIdentifier: The identifier of the element. If several elements have it, the first is
  ///   removed.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or element does not exist.
  /// - Complexity: Over a store, up to O(*n*) if no provider shows the collection of *n* elements;
  ///   no element is decoded.
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
