/// Sizes and readers of an environment at one moment.
public struct EnvironmentStatistics: Sendable, Hashable {
  /// The address space that is mapped, in bytes; the file can grow up to it without a new map.
  public let mapSizeInBytes: Int
  /// The bytes up to the last page ever used; free pages among them are used again.
  public let usedSizeInBytes: Int
  /// The length of the data file in bytes.
  public let fileSizeInBytes: Int
  /// The size of a page in bytes.
  public let pageSizeInBytes: Int
  /// The number of the last commit.
  public let lastTransactionID: UInt64
  /// How many read transactions can be open in all processes together.
  public let readersMax: Int
  /// How many read transactions are open in all processes, stale ones included.
  public let readersInUse: Int
  /// The version that the oldest open read transaction of all processes shows.
  ///
  /// Pages freed since then can't be used again. `nil` if nobody reads.
  public let oldestReaderTransactionID: UInt64?
  /// How long the oldest open read transaction of this process has been open, in seconds.
  ///
  /// Exact to a few milliseconds. `nil` if nobody reads.
  public let oldestReaderAgeInSeconds: Double?
}
