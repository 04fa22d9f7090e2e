import PandoModels

/// Changes of a stored collection without a provider.
///
/// If providers show the collection, the change is visible in all of them at once. Any other
/// collection is loaded, changed and stored in one step. `setData` and `append` create a missing
/// collection; the other calls fail. A manager without store and cache keeps the collection in memory.
///
/// Use the calls of a provider if the program shows the collection.
extension CollectionDataProvider {
  /// Sets all elements of a collection, and creates the collection if it does not exist.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it is refused if the collection has another element type.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.setCollection(_:to:)`.
  @discardableResult
  public static func setData(
    _ models: [T], cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .set(models), cacheKey, updatesCache: updateCache, context)
  }

  /// Appends elements, and creates the collection if it does not exist.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it is refused if the collection has another element type.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.append(_:toCollection:)`.
  @discardableResult
  public static func append(
    _ models: [T], cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .append(models), cacheKey, updatesCache: updateCache, context)
  }

  /// Inserts elements into a collection.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - index: The position of the first new element afterwards, 0 to the count.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.insert(_:at:inCollection:)`.
  @discardableResult
  public static func insert(
    _ models: [T], at index: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .insert(models, at: index), cacheKey, updatesCache: updateCache, context)
  }

  /// Replaces the element at a position of a collection.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - index: The position.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.update(_:at:inCollection:)`.
  @discardableResult
  public static func update(
    _ model: T, at index: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .update(model, at: index), cacheKey, updatesCache: updateCache, context)
  }

  /// Removes an element of a collection; the model itself is not deleted.
  ///
  /// - Parameters:
  ///   - index: The position.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.removeElements(in:fromCollection:)`.
  @discardableResult
  public static func remove(
    at index: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      ListRequest<T>.removeOne(at: index), cacheKey, updatesCache: updateCache, context)
  }

  /// Removes elements of a collection; the models themselves are not deleted.
  ///
  /// - Parameters:
  ///   - range: The positions.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.removeElements(in:fromCollection:)`.
  @discardableResult
  public static func remove(
    at range: Range<Int>, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      ListRequest<T>.remove(range), cacheKey, updatesCache: updateCache, context)
  }

  /// Moves an element of a collection.
  ///
  /// - Parameters:
  ///   - source: The position of the element.
  ///   - target: The position of the element afterwards.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: The manager of the collection.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; it fails if the collection or position does not exist.
  /// - Complexity: Over a store, for a collection that no provider shows, as
  ///   `ModelTransaction.moveElement(from:to:inCollection:)`.
  @discardableResult
  public static func move(
    from source: Int, to target: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      ListRequest<T>.move(from: source, to: target), cacheKey, updatesCache: updateCache, context)
  }
}
