import PandoModels

/// Changes of the list. Each shows at once, and is told to all other providers of the cache key.
///
/// Positions are those in ``data``. When a provider of another thread has meanwhile changed the list,
/// a change is made to the element that was seen at the position: what comes in goes beside it, and
/// if it has gone, an update, a removal and a move of it are dropped and reported to the manager's
/// delegate.
///
/// What was set with `updateCache: false` is shown only: an edit of such an element changes what is
/// shown, and is written nowhere. All others are written, each by itself.
///
/// The change that a call returns leads on from the list that the delegate was told last, if the call is made where the
/// manager delivers: what is queued for the delegate is told before. A call from elsewhere returns a change that belongs
/// behind all that is queued (``CollectionDataProviderDelegate``). With a store that list lacks what others have not
/// committed yet, so positions may be other than those in ``data``.
extension CollectionDataProvider {
  /// Inserts elements.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - index: The position of the first of them afterwards, 0 to ``count``.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the position does not
  ///   exist.
  @discardableResult
  public func insert(
    _ models: [T], at index: Int, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.insert(models, at: index), updateCache, context)
  }

  /// Adds elements behind all others.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed.
  @discardableResult
  public func append(_ models: [T], updateCache: Bool = true, context: (any Sendable)? = nil)
    -> PendingWrite
  {
    perform(.append(models), updateCache, context)
  }

  /// Puts another element in a place, or the same with other contents.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - index: The position, 0 to ``count`` - 1.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the position does not
  ///   exist.
  @discardableResult
  public func update(
    _ model: T, at index: Int, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.update(model, at: index), updateCache, context)
  }

  /// Removes an element; the model itself stays wherever else it is.
  ///
  /// - Parameters:
  ///   - index: The position, 0 to ``count`` - 1.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the position does not
  ///   exist.
  @discardableResult
  public func remove(at index: Int, updateCache: Bool = true, context: (any Sendable)? = nil)
    -> PendingWrite
  {
    perform(.removeOne(at: index), updateCache, context)
  }

  /// Removes elements; the models themselves stay wherever else they are.
  ///
  /// - Parameters:
  ///   - range: The positions.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if a position does not
  ///   exist.
  @discardableResult
  public func remove(at range: Range<Int>, updateCache: Bool = true, context: (any Sendable)? = nil)
    -> PendingWrite
  {
    perform(.remove(range), updateCache, context)
  }

  /// Moves an element.
  ///
  /// - Parameters:
  ///   - source: Its position, 0 to ``count`` - 1.
  ///   - target: Its position afterwards, 0 to ``count`` - 1.
  ///   - updateCache: Whether it is written to the store or the cache; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if a position does not
  ///   exist.
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
