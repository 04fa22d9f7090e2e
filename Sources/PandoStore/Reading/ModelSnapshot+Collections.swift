import PandoLMDB
public import PandoModels
import PandoSystem

extension ModelSnapshot {
  /// Returns the cache keys of all collections.
  ///
  /// - Returns: The keys, sorted by their bytes.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(*c*) for *c* collections; O(*c* log *c*) if one has a key of more than 510 bytes.
  public func collectionKeys() throws -> [String] {
    var keys: [String] = []
    var hasLong = false
    try reader.snapshot.scan(reader.tables.collections) { key, value in
      if key.count > IdentifierKey.shortByteCountMaximum { hasLong = true }
      keys.append(try reader.cacheKey(ofRow: key, value))
      return true
    }
    // Long keys with the same prefix are sorted by their hashes.
    return hasLong ? keys.ordered { $0.hasBytes(before: $1) } : keys
  }

  /// Returns the number of elements of a collection.
  ///
  /// - Parameter cacheKey: The key of the collection.
  /// - Returns: The count, or `nil` if there is no such collection.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  /// - Complexity: O(log *c*) for *c* collections.
  public func collectionCount(_ cacheKey: String) throws -> Int? {
    guard let list = try reader.list(cacheKey) else { return nil }
    do {
      return try list.count(in: reader.snapshot)
    } catch let error as CountedListError {
      throw StoreError(error, cacheKey)
    }
  }

  /// Returns elements of a collection, in order.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - type: The type to read the elements as.
  ///   - range: The positions to read; `nil` for all.
  ///   - undecodable: Receives an undecodable element, which is then omitted; a value without
  ///     identifier is named by the cache key.
  /// - Returns: The elements, or `nil` if there is no such collection.
  /// - Throws: ``StoreError`` `indexOutOfRange` if the range is outside the collection;
  ///   `ModelError` for an undecodable element without `undecodable`.
  /// - Complexity: O(log *n* + *k*) to find *k* elements, and the reading of each.
  public func collection<M: SimpleModel & Decodable>(
    _ cacheKey: String, as type: M.Type = M.self, in range: Range<Int>? = nil,
    undecodable: ((UndecodableRecord) -> Void)? = nil
  ) throws -> [M]? {
    if let undecodable {
      return try places(cacheKey, as: type, in: range) { record, _ in undecodable(record) }?
        .compactMap { $0 }
    }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    return try reader.elementBytes(of: cacheKey, in: range) { bytes in
      do {
        return try element(bytes, of: cacheKey, as: type, source)
      } catch let record as UndecodableRecord {
        throw record.error
      }
    }
  }

  /// Returns one value per element of a collection, `nil` for an undecodable one.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - type: The type to read the elements as.
  ///   - range: The positions to read; `nil` for all.
  ///   - undecodable: Receives an undecodable element, and its position.
  /// - Returns: The values, or `nil` if there is no such collection.
  /// - Throws: As ``collection(_:as:in:undecodable:)``.
  package func places<M: SimpleModel & Decodable>(
    _ cacheKey: String, as type: M.Type, in range: Range<Int>? = nil,
    undecodable: (UndecodableRecord, Int) -> Void
  ) throws -> [M?]? {
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    var place = range?.lowerBound ?? 0
    return try reader.elementBytes(of: cacheKey, in: range) { bytes in
      defer { place += 1 }
      do {
        return try element(bytes, of: cacheKey, as: type, source)
      } catch let record as UndecodableRecord {
        undecodable(record, place)
        return nil
      }
    }
  }

  /// Returns the identifiers of all nodes in an element of a collection.
  package func nodes(inElementAt place: Int, of cacheKey: String) throws -> [String] {
    let elements = try reader.elements(of: cacheKey, in: place..<(place + 1)) { $0 } ?? []
    var found: Set<UInt64> = []
    for element in elements { found.formUnion(try element.children()) }
    return try nodes(beneath: found)
  }

  /// Returns the identifiers of a node, if it exists, and of its descendants.
  package func nodes(beneath identifier: String) throws -> [String] {
    try nodes(beneath: try reader.node(identifier).map { [$0] } ?? [])
  }

  private func nodes(beneath found: Set<UInt64>) throws -> [String] {
    var found = found
    var rest = Array(found)
    while let node = rest.popLast() {
      for child in try reader.children(of: node) where found.insert(child).inserted {
        rest.append(child)
      }
    }
    return try found.map { try reader.identifier(of: $0) }
  }

  /// Decodes an element.
  private func element<M: SimpleModel & Decodable>(
    _ bytes: Span<UInt8>, of cacheKey: String, as type: M.Type, _ source: SnapshotSource
  ) throws -> M {
    if let body = CollectionElement.body(bytes) {
      do {
        // The bytes lie in the map.
        return try unsafe body.withUnsafeBytes { try unsafe source.decode(type, from: $0) }
      } catch let error as ModelError {
        throw UndecodableRecord(cacheKey, error)
      }
    }
    guard case .node(let reference) = try CollectionElement(bytes, of: cacheKey) else {
      preconditionFailure("an element without a body is a node")
    }
    do {
      return try source.model(reference.node, as: type)
    } catch let error as ModelError {
      let identifier = try reader.identifier(of: reference.node)
      throw UndecodableRecord(
        identifier,
        error.about(identifier: identifier, typeName: try reader.directory.name(of: type)))
    }
  }

  /// Returns elements of a collection as untyped values, in order.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the collection.
  ///   - range: The positions to read; `nil` for all.
  ///   - depth: How many levels of children to read; deeper ones are references, and 0 returns
  ///     references only.
  /// - Returns: A `.node` or `.reference` for each element with an identifier, the value of each
  ///   other element; `nil` if there is no such collection.
  /// - Throws: ``StoreError`` `indexOutOfRange` if the range is outside the collection.
  /// - Complexity: O(log *n* + *k*) to find *k* elements, and the reading of each.
  public func collectionTrees(
    _ cacheKey: String, in range: Range<Int>? = nil, depth: Int = .max
  ) throws -> [TreeValue]? {
    try reader.elements(of: cacheKey, in: range) { element in
      switch element {
      case .node(let reference): try reader.treeValue(reference, depth: depth)
      case .value(let body): try reader.treeValue(body.span, depth: depth)
      }
    }
  }
}

extension StoreReader {
  func list(_ cacheKey: String) throws -> CountedList? {
    try collection(cacheKey).map { CountedList(table: tables.elements, number: $0) }
  }

  /// Reads elements one after the other; `nil` if there is no such collection.
  func elements<Element>(
    of cacheKey: String, in range: Range<Int>?, _ read: (CollectionElement) throws -> Element
  ) throws -> [Element]? {
    try elementBytes(of: cacheKey, in: range) { try read(CollectionElement($0, of: cacheKey)) }
  }

  /// Reads the bytes of elements one after the other; `nil` if there is no such collection.
  func elementBytes<Element>(
    of cacheKey: String, in range: Range<Int>?, _ read: (Span<UInt8>) throws -> Element
  ) throws -> [Element]? {
    guard let list = try list(cacheKey) else { return nil }
    do {
      let count = try list.count(in: snapshot)
      let range = range ?? 0..<count
      guard range.lowerBound >= 0, range.upperBound <= count else {
        throw StoreError.outOfRange("\(range)", of: cacheKey, count: count)
      }
      var elements: [Element] = []
      elements.reserveCapacity(range.count)
      try list.forEach(in: range, of: snapshot) { _, bytes in
        elements.append(try read(bytes))
        return true
      }
      return elements
    } catch let error as CountedListError {
      throw StoreError(error, cacheKey)
    }
  }
}

extension StoreError {
  init(_ error: CountedListError, _ subject: String) {
    switch error {
    case .damaged: self = .damaged(subject, error.description)
    case .elementTooLarge: self.init(.invalidModel, subject, error.description)
    }
  }

  static func outOfRange(_ position: String, of cacheKey: String, count: Int) -> StoreError {
    StoreError(
      .indexOutOfRange, cacheKey,
      "position \(position) is outside the collection, which has "
        + "\(count) elements; nothing was changed")
  }
}
