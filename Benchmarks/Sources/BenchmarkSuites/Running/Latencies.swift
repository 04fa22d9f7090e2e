import CPeerSupport

/// Counts how long operations take, in C and in Swift alike.
///
/// One thread at a time.
final class Latencies {
  /// The counters of the C peers.
  let counters: UnsafeMutablePointer<latencies>

  private static let bucketCount = Int(LATENCY_BUCKETS)

  /// Makes an empty histogram.
  ///
  /// - Parameter stride: One operation in so many is timed; 1 times all.
  init(stride: Int) {
    counters = .allocate(capacity: 1)
    let buckets = UnsafeMutablePointer<UInt64>.allocate(capacity: Self.bucketCount)
    buckets.initialize(repeating: 0, count: Self.bucketCount)
    counters.initialize(
      to: latencies(
        stride: UInt32(stride), until: UInt32(stride), count: 0, max: 0, buckets: buckets))
  }

  deinit {
    counters.pointee.buckets.deallocate()
    counters.deallocate()
  }

  /// Times an operation, if its turn has come.
  @inline(__always)
  func time<Result>(_ operation: () throws -> Result) rethrows -> Result {
    let start = latency_begin(counters)
    let result = try operation()
    latency_end(counters, start)
    return result
  }

  /// Times an operation that waits without blocking a thread, if its turn has come.
  func timeWaiting<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
    let start = latency_begin(counters)
    let result = try await operation()
    latency_end(counters, start)
    return result
  }

  /// Counts a duration that was measured elsewhere.
  func record(nanoseconds: UInt64) { latency_record(counters, nanoseconds) }

  /// Begins several operations that can't be timed one by one.
  func start() -> UInt64 { latency_now() }

  /// Ends what ``start()`` began, and counts its share for each of the operations once.
  func end(_ start: UInt64, sharedBy count: Int) {
    record(nanoseconds: (latency_now() - start) / UInt64(max(1, count)))
  }

  /// The distribution of the latencies counted so far.
  var distribution: LatencyDistribution {
    var counts: [UInt64: Int] = [:]
    for bucket in 0..<Self.bucketCount {
      let count = counters.pointee.buckets[bucket]
      if count > 0 { counts[latency_bucket_end(bucket)] = Int(count) }
    }
    return LatencyDistribution(counts: counts, maximum: counters.pointee.max)
  }
}
