import PandoModels
import PandoStore

/// Elements of a stored list that are left out of what is shown, because they can't be decoded.
struct HiddenElements: Sendable {
  /// What can't be decoded; a value without identifier goes by the cache key.
  private(set) var records: [UndecodableRecord] = []
  /// All nodes that they are or hold: one of them has to change before an element can be decoded.
  private(set) var nodes: Set<ByteString> = []

  var isEmpty: Bool { nodes.isEmpty }

  /// Adds an element that holds some nodes.
  mutating func add(_ record: UndecodableRecord, holding nodes: [String]) {
    if !has(record) { records.append(record) }
    self.nodes.insert(ByteString(record.identifier))
    for node in nodes { self.nodes.insert(ByteString(node)) }
  }

  /// Adds nodes that can't be decoded, whatever holds them.
  mutating func add(_ unread: Set<ByteString>) { nodes.formUnion(unread) }

  /// Whether an element is among them.
  func has(_ record: UndecodableRecord) -> Bool {
    records.contains { $0.identifier.hasSameBytes(as: record.identifier) }
  }
}

/// The elements of a stored list that can be decoded, and those that can't.
struct ListContents<T: SimpleModel>: Sendable {
  /// `nil` if there is no such list.
  var models: [T]?
  var hidden = HiddenElements()
}

extension ModelSnapshot {
  /// Returns elements of a type that is known at run time only to be codable.
  ///
  /// - Throws: As ``ModelSnapshot/collection(_:as:in:)``; ``DataProviderError`` `notCodable`.
  func elements<T: SimpleModel>(
    _ cacheKey: String, as type: T.Type, in range: Range<Int>? = nil
  ) throws -> [T]? {
    try read(cacheKey, try Self.decodable(type), range)
  }

  /// Returns the elements that can be decoded, and which can't.
  ///
  /// - Throws: As ``elements(_:as:in:)``, but for elements.
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

  /// Returns one value for each element, `nil` where it can't be decoded.
  ///
  /// - Throws: As ``elements(_:as:in:)``, but for elements.
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
