/// One timed run of one system.
struct Measurement: Sendable {
  /// How many operations were done.
  let operationCount: Int
  /// How long they took together.
  let duration: Duration
  /// The processor time they took, of all threads of the process.
  let processorDuration: Duration
  /// The checksum of their results; the same for every system and run of a workload.
  var checksum: UInt64
  /// How long single operations took, as far as they were timed.
  var latencies = LatencyDistribution.none
  /// The bytes that reached the disk for all operations together.
  var writtenByteCount: Int?
  /// The room the database takes afterwards, in bytes.
  var fileByteCount: Int?
  /// The most memory resident at a time beyond what was resident before the run, in bytes.
  var peakMemoryByteCount: Int?
  /// How many blocks of memory an operation allocates, counted without the clock.
  var allocationCountPerOperation: Double?
  /// How often threads slept and woke up, if it was counted.
  var wakeUps: WakeUps?

  /// The rate.
  var operationsPerSecond: Double { Double(operationCount) / (duration / .seconds(1)) }

  /// Processor time of one operation; less disturbed by other programs than the rate.
  var processorNanosecondsPerOperation: Double {
    processorDuration / .nanoseconds(1) / Double(operationCount)
  }

  /// The bytes that reached the disk for one operation.
  var writtenByteCountPerOperation: Double? {
    writtenByteCount.map { Double($0) / Double(operationCount) }
  }

  /// Times `body`.
  ///
  /// - Parameters:
  ///   - operationCount: How many operations `body` does.
  ///   - stride: One operation in so many is timed by itself.
  ///   - directory: Where the database is.
  ///   - body: The work and nothing else; times operations and returns the checksum.
  ///   - settle: Writes out what the system holds back; the clock has stopped.
  ///   - checksum: Makes the checksum, if `body` does not; the clock has stopped.
  /// - Returns: The timed run.
  /// - Throws: The errors of the closures.
  static func time(
    _ operationCount: Int, stride: Int = 1, in directory: WorkingDirectory? = nil,
    _ body: (Latencies) throws -> UInt64, settle: () throws -> Void = {},
    checksum: () throws -> UInt64? = { nil }
  ) throws -> Measurement {
    try time(operationCount, stride: stride, in: directory, threadCount: 1) { latencies in
      try body(latencies[0])
    } settle: {
      try settle()
    } checksum: {
      try checksum()
    }
  }

  /// Times work of several threads, each of which counts latencies of its own.
  static func time(
    _ operationCount: Int, stride: Int, in directory: WorkingDirectory?, threadCount: Int,
    _ body: ([Latencies]) throws -> UInt64, settle: () throws -> Void,
    checksum: () throws -> UInt64?
  ) throws -> Measurement {
    let latencies = (0..<threadCount).map { _ in Latencies(stride: stride) }
    let clock = ContinuousClock()
    let writtenStart = ProcessCounters.writtenByteCount
    let processorStart = ProcessCounters.processorTime
    let start = clock.now
    let seen = try body(latencies)
    let duration = clock.now - start
    let processorDuration = ProcessCounters.processorTime - processorStart
    try settle()
    var measurement = Measurement(
      operationCount: operationCount, duration: duration, processorDuration: processorDuration,
      checksum: seen)
    if let writtenStart, let writtenEnd = ProcessCounters.writtenByteCount {
      measurement.writtenByteCount = writtenEnd - writtenStart
    }
    measurement.fileByteCount = directory.map { ProcessCounters.byteCount(ofDirectory: $0.path) }
    for histogram in latencies { measurement.latencies.add(histogram.distribution) }
    if let checksum = try checksum() { measurement.checksum = checksum }
    return measurement
  }
}
