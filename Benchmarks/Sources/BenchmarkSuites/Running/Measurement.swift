import Glibc

/// One timed run of one system.
struct Measurement: Sendable {
  /// How many operations were done.
  let operationCount: Int
  /// How long they took together.
  let duration: Duration
  /// The processor time they took, of all threads of the process.
  let processorDuration: Duration
  /// What they saw; the same for every system and run of a workload.
  var checksum: UInt64

  /// The rate.
  var operationsPerSecond: Double { Double(operationCount) / (duration / .seconds(1)) }

  /// Processor time of one operation; less disturbed by other programs than the rate.
  var processorNanosecondsPerOperation: Double {
    processorDuration / .nanoseconds(1) / Double(operationCount)
  }

  /// Times `body`.
  ///
  /// - Parameters:
  ///   - operationCount: How many operations `body` does.
  ///   - body: The work and nothing else; returns its checksum.
  /// - Returns: The timed run.
  static func time(_ operationCount: Int, _ body: () throws -> UInt64) rethrows -> Measurement {
    let clock = ContinuousClock()
    let processorStart = processorTime()
    let start = clock.now
    let checksum = try body()
    let duration = clock.now - start
    return Measurement(
      operationCount: operationCount, duration: duration,
      processorDuration: processorTime() - processorStart, checksum: checksum)
  }

  /// Times work whose checksum is made when the clock has stopped.
  static func time(
    _ operationCount: Int, _ body: () throws -> Void, thenChecksum checksum: () throws -> UInt64
  ) throws -> Measurement {
    var measurement = try time(operationCount) {
      try body()
      return 0
    }
    measurement.checksum = try checksum()
    return measurement
  }

  /// The processor time of this process so far.
  private static func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
