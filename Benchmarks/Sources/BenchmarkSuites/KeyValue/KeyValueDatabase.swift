import Pando

/// An open database of keys and values; any thread.
protocol KeyValueDatabase: Sendable {
  /// Makes the session of one thread.
  func makeSession() throws -> any KeyValueSession

  /// Writes out what the system holds back.
  func settle() throws

  func close()
}

/// One thread's use of a database.
protocol KeyValueSession {
  /// Stores rows in the order given.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - order: Which of them.
  ///   - rowsPerCommit: With 1, an operation includes its commit.
  ///   - latencies: Counts a row as an operation.
  /// - Throws: The error of the system.
  func write(
    _ rows: KeyValueRows, _ order: [UInt32], rowsPerCommit: Int, _ latencies: Latencies?) throws

  /// Looks keys up, each in a read transaction of its own or all in one.
  func read(_ keys: KeyValueKeys, each: Bool, _ latencies: Latencies?) throws -> KeyValueSeen

  /// Walks over all rows in key order or backwards.
  func walk(reversed: Bool, _ latencies: Latencies?) throws -> KeyValueSeen

  /// Finds the first key not below each key and reads on for so many rows.
  func seek(_ keys: KeyValueKeys, rowCount: Int, _ latencies: Latencies?) throws -> KeyValueSeen

  /// A hash of every byte of every row in key order.
  func hash() throws -> UInt64
}

/// The number of read rows and their checksum.
struct KeyValueSeen: Equatable {
  /// Depends on the first and last 8 bytes of what was read, and on its order.
  var checksum: UInt64
  /// How much was there.
  var count: Int

  /// One number for both.
  var combined: UInt64 { checksum &* 31 &+ UInt64(count) }
}
