import PandoModels

/// Changes of the list. Each shows at once, and is told to all other providers of the cache key.
///
/// Positions are those in ``data``. When a provider of another thread has meanwhile changed the list,
/// a change is made to the element that was seen at the position: what comes in goes beside it, and
/// if it has gone, an update, a removal and a move of it are dropped and reported to the manager's
/// delegate.
///
/// The change that a call returns belongs behind all that the delegate has been told and is still to
/// be told; it is in terms of that list. With a store this one lacks what others have not committed yet,
/// so positions may be other than those in ``data``.
extension CollectionDataProvider {
  /// Inserts elements.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - index: The position of the first of them afterwards, 0 to ``count``.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the position does not
  ///   exist.
  @discardableResult
  public func insert(
    _ models: [T], at index: Int, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.insert(models, at: index), context)
  }

  /// Adds elements behind all others.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed.
  @discardableResult
  public func append(_ models: [T], context: (any Sendable)? = nil) -> PendingWrite {
    perform(.append(models), context)
  }

  /// Puts another element in a place, or the same with other contents.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - index: The position, 0 to ``count`` - 1.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the position does not
  ///   exist.
  @discardableResult
  public func update(
    _ model: T, at index: Int, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.update(model, at: index), context)
  }

  /// Removes an element; the model itself stays wherever else it is.
  ///
  /// - Parameters:
  ///   - index: The position, 0 to ``count`` - 1.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the position does not
  ///   exist.
  @discardableResult
  public func remove(at index: Int, context: (any Sendable)? = nil) -> PendingWrite {
    perform(.removeOne(at: index), context)
  }

  /// Removes elements; the models themselves stay wherever else they are.
  ///
  /// - Parameters:
  ///   - range: The positions.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if a position does not
  ///   exist.
  @discardableResult
  public func remove(at range: Range<Int>, context: (any Sendable)? = nil) -> PendingWrite {
    perform(.remove(range), context)
  }

  /// Moves an element.
  ///
  /// - Parameters:
  ///   - source: Its position, 0 to ``count`` - 1.
  ///   - target: Its position afterwards, 0 to ``count`` - 1.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if a position does not
  ///   exist.
  @discardableResult
  public func move(
    from source: Int, to target: Int, context: (any Sendable)? = nil
  ) -> PendingWrite {
    perform(.move(from: source, to: target), context)
  }

  private func perform(_ request: ListRequest<T>, _ context: (any Sendable)?) -> PendingWrite {
    defer { dataHasChanged() }
    return seen { $0.edit(request, by: $1, context: context) }
  }
}
