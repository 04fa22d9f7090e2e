import CPandoLMDB

/// A table of typed keys and values in one environment.
///
/// ```swift
/// let ages = try environment.table("ages", keys: .string, values: .int64)
/// try environment.write { try $0.put(36, forKey: "Ada", in: ages) }
/// let age = try environment.read { try $0.value(forKey: "Ada", in: ages) }
/// ```
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

/// A table of byte keys and byte values in one environment.
///
/// ```swift
/// let table = try environment.rawTable("bytes")
/// try environment.write { try $0.put([36].span, forKey: [1].span, in: table) }
/// let byte = try environment.read { try $0.bytes(forKey: [1].span, in: table)?[0] }
/// ```
///
/// Keys are ordered byte by byte; a key that is the beginning of another comes before it. A handle
/// is a small value that stays valid as long as its environment is open.
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

/// A number that no other environment of this process has, now or later.
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
  /// How many keys it has.
  public let count: Int
  /// How many pages a lookup visits.
  public let depth: Int
  /// Pages that hold keys and page numbers.
  public let branchPageCount: Int
  /// Pages that hold keys and values.
  public let leafPageCount: Int
  /// Pages that hold one long value, or a part of it.
  public let overflowPageCount: Int
  /// All pages together, in bytes.
  public let sizeInBytes: Int
}
