import PandoLMDB

extension ModelSnapshot {
  /// Calls a closure with the properties whose names begin with a prefix, in the order of the names'
  /// bytes.
  ///
  /// - Parameters:
  ///   - prefix: What the names begin with.
  ///   - body: Gets a name and its bytes; returns false to stop.
  /// - Throws: What `body` throws; ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n* + *m*) for *m* such properties.
  package func forEachProperty(
    withPrefix prefix: String, _ body: (String, [UInt8]) throws -> Bool
  ) throws {
    let start = PropertyKey.prefix + Array(prefix.utf8)
    let skipped = PropertyKey.prefix.count
    try reader.snapshot.scan(reader.tables.meta, prefix: start) { key, value in
      let name = try StoreReader.text(key.extracting(skipped..<key.count), "a property's name")
      return try body(name, Array(copying: value))
    }
  }
}
