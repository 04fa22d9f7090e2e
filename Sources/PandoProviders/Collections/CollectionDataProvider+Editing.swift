import PandoModels

/// Changes of the list. Each is visible at once, and reported to all other providers of the cache
/// key.
///
/// Positions are those in ``data``. If another thread has changed the list meanwhile, a change
/// applies to the element that was at the position. Insertions go beside that element. If the
/// element was removed, an update, a removal or a move of it is dropped, and the manager's delegate
/// receives the error.
///
/// Elements set with `updateCache: false` are shown only. An edit of such an element changes the
/// shown list and is not written. Each other edit is written separately.
///
/// Each call returns its change, whose positions are those in the delegate's list. With a store, that
/// list lacks uncommitted changes of others, so its positions may differ from those in ``data``. A
/// call on the manager's delivery target first calls the delegate with all queued changes.
/// ``CollectionDataProviderDelegate`` describes the order.
///
/// Use the static calls if no provider shows the collection.
extension CollectionDataProvider {
  /// Inserts elements.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - index: The position of the first new element afterwards, 0 to ``count``.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list. Pando refuses it if the position
  ///   does not exist.
  @discardableResult
  public func insert(
    _ models: [T], at index: Int, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.insert(models, at: index), updateCache, context)
  }

  /// Appends elements.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list.
  @discardableResult
  public func append(_ models: [T], updateCache: Bool = true, context: (any Sendable)? = nil)
    -> PendingWrite
  {
    perform(.append(models), updateCache, context)
  }

  /// Replaces the element at a position.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - index: The position, 0 to ``count`` - 1.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list. Pando refuses it if the position
  ///   does not exist.
  @discardableResult
  public func update(
    _ model: T, at index: Int, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.update(model, at: index), updateCache, context)
  }

  /// Removes an element; the model itself is not deleted.
  ///
  /// - Parameters:
  ///   - index: The position, 0 to ``count`` - 1.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list. Pando refuses it if the position
  ///   does not exist.
  @discardableResult
  public func remove(at index: Int, updateCache: Bool = true, context: (any Sendable)? = nil)
    -> PendingWrite
  {
    perform(.removeOne(at: index), updateCache, context)
  }

  /// Removes elements; the models themselves are not deleted.
  ///
  /// - Parameters:
  ///   - range: The positions.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list. Pando refuses it if a position does
  ///   not exist.
  @discardableResult
  public func remove(at range: Range<Int>, updateCache: Bool = true, context: (any Sendable)? = nil)
    -> PendingWrite
  {
    perform(.remove(range), updateCache, context)
  }

  /// Moves an element.
  ///
  /// - Parameters:
  ///   - source: The position of the element, 0 to ``count`` - 1.
  ///   - target: The position of the element afterwards, 0 to ``count`` - 1.
  ///   - updateCache: True to write to the store or cache; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list. Pando refuses it if a position does
  ///   not exist.
  @discardableResult
  public func move(
    from source: Int, to target: Int, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.move(from: source, to: target), updateCache, context)
  }

  private func perform(
    _ request: ListRequest<T>, _ updatesCache: Bool, _ context: (any Sendable)?
  ) -> PendingWrite {
    defer { dataHasChanged() }
    return seen { $0.edit(request, by: $1, updatesCache: updatesCache, context: context) }
  }
}
