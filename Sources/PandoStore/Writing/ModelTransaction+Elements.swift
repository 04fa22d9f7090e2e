import PandoLMDB
import PandoModels

/// Changes of elements by the identifiers of their nodes.
extension ModelTransaction {
  /// Removes all elements of a collection that are a node; the node stays.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - cacheKey: The key of the collection.
  /// - Returns: The number of removed elements.
  /// - Throws: ``StoreError`` `noSuchCollection`.
  /// - Complexity: O(*n*) in a collection of *n*; for a single element, one row per about 20 000
  ///   elements is read.
  @discardableResult
  public mutating func removeElements(
    _ identifier: String, fromCollection cacheKey: String
  ) throws -> Int {
    try session.whole {
      let places = try session.requiredPlaces(of: identifier, inCollection: cacheKey)
      for place in places.reversed() {
        try session.removeElements(in: place..<(place + 1), fromCollection: cacheKey)
      }
      return places.count
    }
  }

  /// Moves the first element with a node to another collection, or within the same one.
  ///
  /// ```swift
  /// try store.write { try $0.moveElement("card:7", fromCollection: "open", toCollection: "done", at: 0) }
  /// ```
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - source: The key of the collection with the element.
  ///   - target: The key of the new collection; created if absent and `index` is `nil`.
  ///   - index: Its new position; `nil` for the end.
  /// - Returns: `false`, without effect, if `source` does not list the node.
  /// - Throws: ``StoreError`` `noSuchCollection` or `indexOutOfRange`.
  /// - Complexity: As ``removeElements(_:fromCollection:)``.
  @discardableResult
  public mutating func moveElement(
    _ identifier: String, fromCollection source: String, toCollection target: String,
    at index: Int? = nil
  ) throws -> Bool {
    try session.whole {
      guard let place = try session.requiredPlaces(of: identifier, inCollection: source).first
      else {
        return false
      }
      if source.hasSameBytes(as: target) {
        let last = try (session.reading { try $0.list(source)?.count(in: $0.snapshot) } ?? 1) - 1
        try session.moveElement(from: place, to: index ?? last, inCollection: source)
        return true
      }
      let range = place..<(place + 1)
      let elements = try session.reading { try $0.elements(of: source, in: range) { $0 } } ?? []
      try session.insert(elements, at: index, inCollection: target)
      try session.removeElements(in: range, fromCollection: source)
      return true
    }
  }
}

extension ModelSnapshot {
  /// Returns the positions of a node in a collection.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - cacheKey: The key of the collection.
  /// - Returns: The positions, ascending; empty if there are none, `nil` if there is no such collection.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*n*) in a collection of *n*; for a single element, one row per about 20 000
  ///   elements is read.
  public func indexes(of identifier: String, inCollection cacheKey: String) throws -> [Int]? {
    try reader.places(of: identifier, inCollection: cacheKey)
  }
}

extension StoreReader {
  /// The positions of a node in a collection; `nil` if there is no such collection.
  fileprivate func places(of identifier: String, inCollection cacheKey: String) throws -> [Int]? {
    guard let list = try list(cacheKey) else { return nil }
    guard let node = try node(identifier) else { return [] }
    do {
      let leaf = try occurrence(of: node, inCollection: list.number).leaf
      let places = try places(of: node, in: list, leaf.map { [$0] })
      // In another leaf only if the store is damaged; or it is inside a value.
      return places.isEmpty && leaf != nil ? try self.places(of: node, in: list, nil) : places
    } catch let error as CountedListError {
      throw StoreError(error, cacheKey)
    }
  }

  private func places(
    of node: UInt64, in list: CountedList, _ leaves: [UInt64]?
  ) throws -> [Int] {
    var places: [Int] = []
    try list.forEach(of: snapshot, leaves: leaves) { index, bytes in
      if CollectionElement.node(bytes) == node { places.append(index) }
      return true
    }
    return places
  }
}

extension WriteSession {
  fileprivate func requiredPlaces(
    of identifier: String, inCollection cacheKey: String
  ) throws -> [Int] {
    if let places = try reading({ try $0.places(of: identifier, inCollection: cacheKey) }) {
      return places
    }
    throw StoreError(
      .noSuchCollection, cacheKey, "there is no such collection; nothing was changed")
  }
}
