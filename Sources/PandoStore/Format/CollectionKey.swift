/// The key of a collection in the `collections` table: its cache key in UTF-8.
struct CollectionKey {
  /// The longest cache key, in bytes: LMDB's limit for a key.
  static let byteCountMaximum = 511

  let bytes: [UInt8]

  init(_ cacheKey: String) throws {
    bytes = Array(cacheKey.utf8)
    guard !bytes.isEmpty else {
      throw StoreError(.emptyIdentifier, "", "the cache key of a collection is empty")
    }
    guard bytes.count <= Self.byteCountMaximum else {
      throw StoreError(
        .invalidModel, String(cacheKey.prefix(40)) + "…",
        "a cache key has at most \(Self.byteCountMaximum) bytes, this one has \(bytes.count)")
    }
  }
}
