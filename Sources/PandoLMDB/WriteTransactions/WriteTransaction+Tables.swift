extension WriteTransaction {
  /// Returns the value of a key, with the changes of this transaction.
  ///
  /// - Parameters:
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: The value, or `nil` if the key has none.
  /// - Throws: ``LMDBError`` with code `badKeySize` or `undecodable`, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table, and the decoding.
  public func value<Key, Value>(
    forKey key: Key, in table: Table<Key, Value>
  ) throws -> Value? {
    try snapshot.value(forKey: key, in: table)
  }

  /// Tells whether a key has a value.
  ///
  /// - Parameters:
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `true` if the key has a value.
  /// - Throws: ``LMDBError`` with code `badKeySize`, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table; the value is not decoded.
  public func contains<Key, Value>(key: Key, in table: Table<Key, Value>) throws -> Bool {
    try snapshot.contains(key: key, in: table)
  }

  /// Returns how many keys a table has.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: The number of keys.
  /// - Throws: ``LMDBError`` if the table is unknown to this transaction.
  /// - Complexity: O(1).
  public func count<Key, Value>(of table: Table<Key, Value>) throws(LMDBError) -> Int {
    try snapshot.count(of: table.raw)
  }

  /// Stores a value under a key; replaces an existing value.
  ///
  /// - Parameters:
  ///   - value: The value; its encoding has less than 4 GiB.
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Throws: ``LMDBError`` as for bytes, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table, and the encoding.
  public mutating func put<Key, Value>(
    _ value: Value, forKey key: Key, in table: Table<Key, Value>
  ) throws {
    var keyBuffer = EncodingBuffer()
    var valueBuffer = EncodingBuffer()
    try table.keys.encode(key, &keyBuffer)
    try table.values.encode(value, &valueBuffer)
    try put(valueBuffer.bytes, forKey: keyBuffer.bytes, in: table.raw)
  }

  /// Stores a value under a key that has none.
  ///
  /// - Parameters:
  ///   - value: The value; its encoding has less than 4 GiB.
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `false` if the key already has a value, which stays.
  /// - Throws: ``LMDBError`` as for bytes, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table, and the encoding.
  public mutating func insert<Key, Value>(
    _ value: Value, forKey key: Key, in table: Table<Key, Value>
  ) throws -> Bool {
    var keyBuffer = EncodingBuffer()
    var valueBuffer = EncodingBuffer()
    try table.keys.encode(key, &keyBuffer)
    try table.values.encode(value, &valueBuffer)
    return try insert(valueBuffer.bytes, forKey: keyBuffer.bytes, in: table.raw)
  }

  /// Stores a value under a key above all others.
  ///
  /// - Parameters:
  ///   - value: The value; its encoding has less than 4 GiB.
  ///   - key: The key, above the last one of the table.
  ///   - table: A table opened in this environment.
  /// - Throws: ``LMDBError`` with code `keyExists` if the key is not above the last one.
  /// - Complexity: O(log *n*) for *n* keys in the table, without a search, and the encoding.
  public mutating func append<Key, Value>(
    _ value: Value, forKey key: Key, in table: Table<Key, Value>
  ) throws {
    var keyBuffer = EncodingBuffer()
    var valueBuffer = EncodingBuffer()
    try table.keys.encode(key, &keyBuffer)
    try table.values.encode(value, &valueBuffer)
    try append(valueBuffer.bytes, forKey: keyBuffer.bytes, in: table.raw)
  }

  /// Removes a key and its value.
  ///
  /// - Parameters:
  ///   - key: The key; its encoding has 1 to 511 bytes.
  ///   - table: A table opened in this environment.
  /// - Returns: `false` if the key had no value.
  /// - Throws: ``LMDBError`` as for bytes, or the error of a codec.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @discardableResult
  public mutating func delete<Key, Value>(
    key: Key, in table: Table<Key, Value>
  ) throws -> Bool {
    var buffer = EncodingBuffer()
    try table.keys.encode(key, &buffer)
    return try delete(key: buffer.bytes, in: table.raw)
  }

  /// Removes the keys of a range.
  ///
  /// - Parameters:
  ///   - range: The range of keys.
  ///   - table: A table opened in this environment.
  /// - Returns: The number of removed keys.
  /// - Throws: ``LMDBError`` as for bytes, or the error of a codec.
  /// - Complexity: O(log *n* + *m*) for *m* removed keys.
  @discardableResult
  public mutating func delete<Key, Value>(
    in range: KeyRange<Key>, of table: Table<Key, Value>
  ) throws -> Int {
    let bytes = try range.encoded(with: table.keys)
    return try delete(from: bytes.lower, upTo: bytes.upper, in: table.raw)
  }

  /// Removes every key of a table; the table stays.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Throws: ``LMDBError`` if the pages cannot be freed.
  /// - Complexity: O(*p*) for *p* pages of the table.
  public mutating func removeAll<Key, Value>(
    in table: Table<Key, Value>
  ) throws(LMDBError) {
    try removeAll(in: table.raw)
  }
}
