import PandoModels

/// Changes of a stored collection for which no provider is at hand.
///
/// A collection that somebody shows is changed where it is shown, in all its providers at once. Any
/// other is loaded, changed and stored in one step that no other writer can split. Where there is no
/// such collection, `setData` and `append` create it, and the others report that there is none. A
/// manager without store and cache keeps no collection that nobody shows: then only the elements are
/// made known to whoever shows them elsewhere.
extension CollectionDataProvider {
  /// Sets all elements of a collection, and creates it where there is none.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; refused if the collection's elements have another type.
  /// - Complexity: Over a store, where nobody shows the collection, as
  ///   `ModelTransaction.setCollection(_:to:)`.
  @discardableResult
  public static func setData(
    _ models: [T], cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .set(models), cacheKey, updatesCache: updateCache, context)
  }

  /// Adds elements behind all others, and creates the collection where there is none.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; refused if the collection's elements have another type.
  /// - Complexity: Over a store, where nobody shows the collection, as
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
  ///   - index: The position of the first of them afterwards, 0 to the count.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position.
  /// - Complexity: Over a store, where nobody shows the collection, as
  ///   `ModelTransaction.insert(_:at:inCollection:)`.
  @discardableResult
  public static func insert(
    _ models: [T], at index: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .insert(models, at: index), cacheKey, updatesCache: updateCache, context)
  }

  /// Puts another element in a place of a collection.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - index: The position.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position.
  /// - Complexity: Over a store, where nobody shows the collection, as
  ///   `ModelTransaction.update(_:at:inCollection:)`.
  @discardableResult
  public static func update(
    _ model: T, at index: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      .update(model, at: index), cacheKey, updatesCache: updateCache, context)
  }

  /// Removes an element of a collection; the model itself stays wherever else it is.
  ///
  /// - Parameters:
  ///   - index: The position.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position.
  /// - Complexity: Over a store, where nobody shows the collection, as
  ///   `ModelTransaction.removeElements(in:fromCollection:)`.
  @discardableResult
  public static func remove(
    at index: Int, cacheKey: String, dataModelManager: DataModelManager,
    updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    dataModelManager.perform(
      ListRequest<T>.removeOne(at: index), cacheKey, updatesCache: updateCache, context)
  }

  /// Removes elements of a collection; the models themselves stay wherever else they are.
  ///
  /// - Parameters:
  ///   - range: The positions.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position.
  /// - Complexity: Over a store, where nobody shows the collection, as
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
  ///   - source: Its position.
  ///   - target: Its position afterwards.
  ///   - cacheKey: The key of the collection.
  ///   - dataModelManager: Whose collection.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: When it is committed; it fails if there is no such collection or position.
  /// - Complexity: Over a store, where nobody shows the collection, as
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
