import PandoLMDB
import PandoModels

/// Collections by their cache keys.
extension StoreReader {
  /// The number of the collection with a cache key.
  func collection(_ cacheKey: String) throws -> UInt64? {
    guard cacheKey.utf8.count <= IdentifierKey.shortByteCountMaximum else {
      return try longCollection(cacheKey)?.number
    }
    if cacheKey.isEmpty { return nil }
    return try collection(atKey: cacheKey.utf8Span.span, cacheKey)
  }

  /// The key of a collection in `collections`.
  func collectionKey(_ cacheKey: String) throws -> [UInt8] {
    guard cacheKey.utf8.count <= IdentifierKey.shortByteCountMaximum else {
      return try longCollection(cacheKey)?.key ?? CollectionKey(cacheKey).bytes
    }
    return try CollectionKey(cacheKey).bytes
  }

  /// Finds a collection whose cache key is too long for the table, and its key there.
  private func longCollection(_ cacheKey: String) throws -> (number: UInt64, key: [UInt8])? {
    let key = try CollectionKey(cacheKey).bytes
    if let number = try collection(atKey: key.span, cacheKey) {
      guard try self.cacheKey(ofCollection: number).hasSameBytes(as: cacheKey) else {
        throw StoreError(
          .invalidModel, String(cacheKey.prefix(40)) + "…",
          "has the same first 495 bytes and the same 128-bit hash as another cache key")
      }
      return (number, key)
    }
    // Earlier versions stored a cache key of 511 bytes in plain form.
    let text = Array(cacheKey.utf8)
    guard text.count == key.count, let number = try collection(atKey: text.span, cacheKey),
      try self.cacheKey(ofCollection: number).hasSameBytes(as: cacheKey)
    else { return nil }
    return (number, text)
  }

  private func collection(atKey key: Span<UInt8>, _ cacheKey: String) throws -> UInt64? {
    guard let bytes = try snapshot.bytes(forKey: key, in: tables.collections) else { return nil }
    guard let number = bytes.littleEndian(at: 0) else {
      throw StoreError.damaged(cacheKey, "its collection row is malformed")
    }
    return number
  }

  /// The cache key of a collection number.
  func cacheKey(ofCollection number: UInt64) throws -> String {
    let key = IntegerKey(number)
    guard let bytes = try snapshot.bytes(forKey: key.bytes.span, in: tables.collectionNames) else {
      throw StoreError.damaged("collection \(number)", "it has no cache key")
    }
    return try bytes.text("the cache key of collection \(number)")
  }

  /// The cache key of a row of `collections`.
  func cacheKey(ofRow key: Span<UInt8>, _ value: Span<UInt8>) throws -> String {
    guard key.count > IdentifierKey.shortByteCountMaximum else {
      return try key.text("a cache key")
    }
    guard let number = value.littleEndian(at: 0) else {
      throw StoreError.damaged("collections", "a row is malformed")
    }
    return try cacheKey(ofCollection: number)
  }
}
