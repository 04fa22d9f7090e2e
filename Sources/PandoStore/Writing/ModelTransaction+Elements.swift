import PandoLMDB
import PandoModels

/// Elements of collections by the identifiers of their nodes.
extension ModelTransaction {
  /// Removes a node from a collection, at all its places; the node stays.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - cacheKey: The key of the collection.
  /// - Returns: At how many places it was.
  /// - Throws: ``StoreError`` `noSuchCollection`.
  /// - Complexity: O(*n*) in a collection of *n*; where it is at one place, one row for some 20 000 elements is
  ///   read.
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

  /// Moves a node from its first place in a collection to a place in another one, or in the same.
  ///
  /// ```swift
  /// try store.write { try $0.moveElement("card:7", fromCollection: "open", toCollection: "done", at: 0) }
  /// ```
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - source: The key of the collection that has it.
  ///   - target: The key of the collection that gets it; it is created where there is none and `index` is `nil`.
  ///   - index: Its position afterwards; `nil` for the end.
  /// - Returns: `false` if `source` does not have it; then nothing is done.
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
  /// Returns where a collection has a node.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the node.
  ///   - cacheKey: The key of the collection.
  /// - Returns: The positions, ascending; empty if there are none, `nil` if there is no such collection.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*n*) in a collection of *n*; where it is at one place, one row for some 20 000 elements is
  ///   read.
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
      // Only in a damaged store is it elsewhere, or it is in a value.
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
