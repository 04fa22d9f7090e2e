public import PandoModels

/// Ordered collections, each under a cache key; docs/design.md, "The store on disk".
///
/// An element with an identifier is stored as a node with its tree and listed by reference. An
/// element without one is stored in the list. Positions count from 0.
extension ModelTransaction {
  /// Replaces all elements of a collection; creates it if absent.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection, not empty.
  ///   - models: The elements in order.
  /// - Throws: As `set(_:)` for each element; ``StoreError`` for a bad key.
  /// - Complexity: O(*n*) for *n* elements, old and new.
  public mutating func setCollection<M: SimpleModel & Encodable>(
    _ cacheKey: String, to models: [M]
  ) throws {
    try session.whole { try session.setCollection(cacheKey, to: session.elements(models)) }
  }

  /// Appends elements to a collection; creates it if absent.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key of the collection, not empty.
  /// - Throws: As `setCollection(_:to:)`.
  /// - Complexity: O(log *n*) for each element, in a collection of *n*.
  public mutating func append<M: SimpleModel & Encodable>(
    _ models: [M], toCollection cacheKey: String
  ) throws {
    try session.whole {
      try session.insert(session.elements(models), at: nil, inCollection: cacheKey)
    }
  }

  /// Inserts elements before a position.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - index: The position of the first new element, 0 to count.
  ///   - cacheKey: The key of the collection.
  /// - Throws: ``StoreError`` `noSuchCollection` or `indexOutOfRange`; else as
  ///   `setCollection(_:to:)`.
  /// - Complexity: O(log *n*) for each element, in a collection of *n*.
  public mutating func insert<M: SimpleModel & Encodable>(
    _ models: [M], at index: Int, inCollection cacheKey: String
  ) throws {
    try session.whole {
      try session.insert(session.elements(models), at: index, inCollection: cacheKey)
    }
  }

  /// Replaces the element at a position.
  ///
  /// - Parameters:
  ///   - model: The new element.
  ///   - index: The position, 0 to count - 1.
  ///   - cacheKey: The key of the collection.
  /// - Throws: As `insert(_:at:inCollection:)`.
  /// - Complexity: O(log *n*) in a collection of *n*.
  public mutating func update<M: SimpleModel & Encodable>(
    _ model: M, at index: Int, inCollection cacheKey: String
  ) throws {
    try session.whole {
      try session.update(session.elements([model])[0], at: index, inCollection: cacheKey)
    }
  }

  /// Moves an element to another position.
  ///
  /// - Parameters:
  ///   - source: The present position.
  ///   - target: The new position.
  ///   - cacheKey: The key of the collection.
  /// - Throws: ``StoreError`` `noSuchCollection` or `indexOutOfRange`.
  /// - Complexity: O(log *n*) in a collection of *n*.
  public mutating func moveElement(
    from source: Int, to target: Int, inCollection cacheKey: String
  ) throws {
    try session.whole { try session.moveElement(from: source, to: target, inCollection: cacheKey) }
  }

  /// Removes elements; their nodes stay.
  ///
  /// - Parameters:
  ///   - range: The positions.
  ///   - cacheKey: The key of the collection.
  /// - Throws: ``StoreError`` `noSuchCollection` or `indexOutOfRange`.
  /// - Complexity: O(*k* log *n*) for *k* elements in a collection of *n*.
  public mutating func removeElements(
    in range: Range<Int>, fromCollection cacheKey: String
  ) throws {
    try session.whole { try session.removeElements(in: range, fromCollection: cacheKey) }
  }

  /// Removes a collection with its key; its nodes stay.
  ///
  /// - Parameter cacheKey: The key of the collection.
  /// - Returns: Whether there was one.
  /// - Throws: `LMDBError` if the disk fails.
  /// - Complexity: O(*n*) for *n* elements.
  @discardableResult
  public mutating func removeCollection(_ cacheKey: String) throws -> Bool {
    try session.whole { try session.removeCollection(cacheKey) }
  }
}

/// The same with untyped elements: a `.node` with its tree, a `.reference` to a stored node, or any
/// other value.
extension ModelTransaction {
  /// Replaces all elements of a collection; creates it if absent.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection, not empty.
  ///   - values: The elements in order.
  /// - Throws: As the typed form; ``StoreError`` `noSuchNode` for an unknown reference.
  /// - Complexity: As the typed form.
  public mutating func setCollection(_ cacheKey: String, to values: [TreeValue]) throws {
    try session.whole { try session.setCollection(cacheKey, to: session.elements(values)) }
  }

  /// Appends elements to a collection; creates it if absent.
  ///
  /// - Parameters:
  ///   - values: The elements in order.
  ///   - cacheKey: The key of the collection, not empty.
  /// - Throws: As the typed form; ``StoreError`` `noSuchNode` for an unknown reference.
  /// - Complexity: As the typed form.
  public mutating func append(_ values: [TreeValue], toCollection cacheKey: String) throws {
    try session.whole {
      try session.insert(session.elements(values), at: nil, inCollection: cacheKey)
    }
  }

  /// Inserts elements before a position.
  ///
  /// - Parameters:
  ///   - values: The elements in order.
  ///   - index: The position of the first new element, 0 to count.
  ///   - cacheKey: The key of the collection.
  /// - Throws: As the typed form; ``StoreError`` `noSuchNode` for an unknown reference.
  /// - Complexity: As the typed form.
  public mutating func insert(
    _ values: [TreeValue], at index: Int, inCollection cacheKey: String
  ) throws {
    try session.whole {
      try session.insert(session.elements(values), at: index, inCollection: cacheKey)
    }
  }

  /// Replaces the element at a position.
  ///
  /// - Parameters:
  ///   - value: The new element.
  ///   - index: The position, 0 to count - 1.
  ///   - cacheKey: The key of the collection.
  /// - Throws: As the typed form; ``StoreError`` `noSuchNode` for an unknown reference.
  /// - Complexity: As the typed form.
  public mutating func update(
    _ value: TreeValue, at index: Int, inCollection cacheKey: String
  ) throws {
    try session.whole {
      try session.update(session.elements([value])[0], at: index, inCollection: cacheKey)
    }
  }
}
