import CPandoLMDB

/// A table of typed keys and values in one environment.
///
/// ```swift
/// let ages = try environment.table("ages", keys: .string, values: .int64)
/// try environment.write { try $0.put(36, forKey: "Ada", in: ages) }
/// let age = try environment.read { try $0.value(forKey: "Ada", in: ages) }
/// ```
///
/// A handle: small, `Sendable`, valid as long as the environment is open. The codecs define the
/// bytes of keys and values. The file does not record the codecs, so open a table with the same
/// ones each time.
public struct Table<Key, Value>: Sendable {
  /// The table as bytes to bytes.
  public let raw: RawTable
  let keys: TableCodec<Key>
  let values: TableCodec<Value>

  /// Gives a table of bytes its types.
  ///
  /// - Parameters:
  ///   - raw: The table of bytes.
  ///   - keys: The codec of the keys.
  ///   - values: The codec of the values.
  public init(_ raw: RawTable, keys: TableCodec<Key>, values: TableCodec<Value>) {
    self.raw = raw
    self.keys = keys
    self.values = values
  }

  /// Runs `body` with the encoded key.
  @inline(__always)
  func withBytes<Result>(
    ofKey key: Key, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result {
    var buffer = EncodingBuffer()
    try keys.encode(key, &buffer)
    return try body(buffer.bytes)
  }
}

/// A table of byte keys and byte values in one environment.
///
/// ```swift
/// let table = try environment.rawTable("bytes")
/// try environment.write { try $0.put([36].span, forKey: [1].span, in: table) }
/// let byte = try environment.read { try $0.bytes(forKey: [1].span, in: table)?[0] }
/// ```
///
/// Keys are ordered byte by byte; a prefix sorts before its extensions. A handle is a small value,
/// valid as long as its environment is open.
public struct RawTable: Sendable, Hashable {
  /// LMDB's number of the table.
  let number: MDB_dbi
  /// The environment that opened it.
  let environment: EnvironmentNumber

  /// Stops the process unless the table belongs to the environment.
  @inline(__always)
  func checkBelongs(to other: EnvironmentNumber) {
    precondition(environment == other, "the table was opened in another environment")
  }
}

/// A number that is unique in this process for all time.
struct EnvironmentNumber: Sendable, Hashable {
  let rawValue: UInt32
}

/// Sizes of a table in one version.
///
/// ```swift
/// let statistics = try environment.read { try $0.statistics(of: ages.raw) }
/// print(statistics.count, "entries in", statistics.sizeInBytes, "bytes")
/// ```
public struct TableStatistics: Sendable, Hashable {
  /// The number of keys.
  public let count: Int
  /// The number of pages that a lookup visits.
  public let depth: Int
  /// Pages with keys and page numbers.
  public let branchPageCount: Int
  /// Pages with keys and values.
  public let leafPageCount: Int
  /// Pages with one long value, or a part of it.
  public let overflowPageCount: Int
  /// The size of all pages, in bytes.
  public let sizeInBytes: Int
}
