/// A table of typed keys and values in one environment.
///
/// A handle: small, `Sendable`, valid as long as the environment is open. What keys and values look
/// like in the file is up to the codecs; nothing of it is written down, so the same table is always
/// opened with the same ones.
public struct Table<Key, Value>: Sendable {
  /// The table as bytes to bytes.
  public let raw: RawTable
  /// How keys are encoded.
  public let keys: any KeyCodec<Key>
  /// How values are encoded.
  public let values: any ValueCodec<Value>

  /// Gives a table of bytes its types.
  ///
  /// - Parameters:
  ///   - raw: The table of bytes.
  ///   - keys: How keys are encoded.
  ///   - values: How values are encoded.
  public init(_ raw: RawTable, keys: any KeyCodec<Key>, values: any ValueCodec<Value>) {
    self.raw = raw
    self.keys = keys
    self.values = values
  }

  /// Runs `body` with the bytes of a key.
  @inline(__always)
  func withBytes<Result>(
    ofKey key: Key, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result {
    var buffer = EncodingBuffer()
    try keys.encode(key, into: &buffer)
    return try body(buffer.bytes)
  }
}

extension Environment {
  /// Opens a typed table, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - name: The table's name, 1 to 511 bytes; `nil` for the unnamed table.
  ///   - keys: How keys are encoded.
  ///   - values: How values are encoded.
  ///   - create: Whether to create the table if it does not exist.
  /// - Returns: The table.
  /// - Throws: ``LMDBError``, as ``rawTable(_:create:)``.
  /// - Precondition: The calling thread is not inside a write of this environment.
  public func table<Key, Value>(
    _ name: String?, keys: some KeyCodec<Key>, values: some ValueCodec<Value>, create: Bool = true
  ) throws(LMDBError) -> Table<Key, Value> {
    Table(try rawTable(name, create: create), keys: keys, values: values)
  }
}
