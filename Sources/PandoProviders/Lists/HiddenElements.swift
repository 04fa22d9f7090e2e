import PandoModels
import PandoStore

/// The elements of a stored list that are not shown, because they can't be decoded.
struct HiddenElements: Sendable {
  /// The undecodable elements.
  ///
  /// An element without an identifier is recorded under the cache key.
  private(set) var records: [UndecodableRecord] = []
  /// The nodes that are or belong to these elements.
  ///
  /// An element becomes decodable only after one of its nodes has changed.
  private(set) var nodes: Set<ByteString> = []

  var isEmpty: Bool { nodes.isEmpty }

  /// Adds an element and the nodes that it contains.
  mutating func add(_ record: UndecodableRecord, holding nodes: [String]) {
    if !has(record) { records.append(record) }
    self.nodes.insert(ByteString(record.identifier))
    for node in nodes { self.nodes.insert(ByteString(node)) }
  }

  /// Adds undecodable nodes without an element.
  mutating func add(_ unread: Set<ByteString>) { nodes.formUnion(unread) }

  /// Returns true if an element was added before.
  func has(_ record: UndecodableRecord) -> Bool {
    records.contains { $0.identifier.hasSameBytes(as: record.identifier) }
  }
}

/// The decodable elements of a stored list, and the hidden ones.
struct ListContents<T: SimpleModel>: Sendable {
  /// The decodable elements; `nil` if the list does not exist.
  var models: [T]?
  var hidden = HiddenElements()
}

extension ModelSnapshot {
  /// Returns elements of a type that conforms to `Decodable` only by a check at run time.
  ///
  /// - Throws: As ``ModelSnapshot/collection(_:as:in:)``; ``DataProviderError`` `notCodable`.
  func elements<T: SimpleModel>(
    _ cacheKey: String, as type: T.Type, in range: Range<Int>? = nil
  ) throws -> [T]? {
    try read(cacheKey, try Self.decodable(type), range)
  }

  /// Returns the decodable elements, and a record of each undecodable one.
  ///
  /// - Throws: As ``elements(_:as:in:)``, except the errors of undecodable elements.
  func contents<T: SimpleModel>(
    _ cacheKey: String, as type: T.Type
  ) throws -> ListContents<T> {
    do {
      return ListContents(models: try elements(cacheKey, as: type))
    } catch is ModelError {
      var hidden = HiddenElements()
      let models = try places(cacheKey, as: type) { record, place in
        hidden.add(record, holding: (try? nodes(inElementAt: place, of: cacheKey)) ?? [])
      }
      return ListContents(models: models?.compactMap { $0 }, hidden: hidden)
    }
  }

  /// Returns one value for each element; `nil` stands for an undecodable one.
  ///
  /// - Throws: As ``elements(_:as:in:)``, except the errors of undecodable elements.
  func places<T: SimpleModel>(
    _ cacheKey: String, as type: T.Type, in range: Range<Int>? = nil,
    undecodable: (UndecodableRecord, Int) -> Void = { _, _ in }
  ) throws -> [T?]? {
    try readPlaces(cacheKey, try Self.decodable(type), range, undecodable)
  }

  private static func decodable<T: SimpleModel>(
    _ type: T.Type
  ) throws -> any (SimpleModel & Decodable).Type {
    guard let type = type as? any (SimpleModel & Decodable).Type else {
      throw DataProviderError.notCodable(type)
    }
    return type
  }

  private func read<M: SimpleModel & Decodable, T: SimpleModel>(
    _ cacheKey: String, _ type: M.Type, _ range: Range<Int>?
  ) throws -> [T]? {
    try collection(cacheKey, as: type, in: range).flatMap { $0 as? [T] }
  }

  private func readPlaces<M: SimpleModel & Decodable, T: SimpleModel>(
    _ cacheKey: String, _ type: M.Type, _ range: Range<Int>?,
    _ undecodable: (UndecodableRecord, Int) -> Void
  ) throws -> [T?]? {
    let places: [M?]? = try places(cacheKey, as: type, in: range, undecodable: undecodable)
    return places?.map { $0 as? T }
  }
}
