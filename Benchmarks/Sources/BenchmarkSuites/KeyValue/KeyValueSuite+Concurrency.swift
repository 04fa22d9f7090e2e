import Foundation
import Synchronization

extension KeyValueSuite {
  /// Readers while one writer commits batches of 100 rows for as long as they read.
  func measureReadingWhileWriting() throws {
    let perReader = runner.options.scaled(smoke: 2_000, standard: 100_000)
    for readerCount in runner.options.threadCounts([1, 2, 4, 8]) {
      try runner.measure(
        workload(
          "readwhilewriting-\(readerCount)",
          "get in random order, a read transaction each, beside a writer",
          ["rows": data.count, "readers": readerCount, "operations": perReader * readerCount]
        ) { system in
          let directory = try filled(system)
          return try with(system, directory) { database, session in
            _ = try session.walk(reversed: false, nil)
            let keys = (0..<readerCount).map { keysOfReader($0, perReader) }
            return try .time(
              perReader * readerCount, stride: 4, in: directory, threadCount: readerCount,
              { try readWhileWriting(database, keys, $0) }, settle: {}, checksum: { nil })
          }
        })
    }
  }

  private func keysOfReader(_ number: Int, _ count: Int) -> KeyValueKeys {
    data.keys(of: (0..<count).map { data.randomOrder[($0 * 7 + number) % data.count] })
  }

  private func readWhileWriting(
    _ database: any KeyValueDatabase, _ keys: [KeyValueKeys], _ latencies: [Latencies]
  ) throws -> UInt64 {
    let (data, overwrittenCount) = (data, overwrittenCount)
    let shared = ThreadLatencies(latencies)
    let writer = BatchWriter()
    let writing = Threads()
    writing.start { try writer.run(database, data, overwrittenCount) }
    defer { writer.stop() }
    let checksum = Mutex<UInt64>(0)
    try Threads.run(latencies.count) { number in
      let seen = try database.makeSession().read(keys[number], each: true, shared[number])
      checksum.withLock { $0 = $0 &+ seen.combined }
    }
    writer.stop()
    try writing.wait()
    return checksum.withLock { $0 }
  }
}

/// Writes rows again and again until it is stopped.
private final class BatchWriter: Sendable {
  private let isStopped = Mutex(false)

  func stop() { isStopped.withLock { $0 = true } }

  func run(
    _ database: any KeyValueDatabase, _ data: KeyValueData, _ overwrittenCount: Int
  ) throws {
    let session = try database.makeSession()
    var round = 0
    while !isStopped.withLock({ $0 }) {
      let start = round * 100 % overwrittenCount
      let order = Array(data.randomOrder[start..<min(start + 100, overwrittenCount)])
      let rows = round % 2 == 0 ? data.otherRows : data.rows
      try session.write(rows, order, rowsPerCommit: order.count, nil)
      round += 1
    }
  }
}

/// Histograms that go to one thread each.
struct ThreadLatencies: @unchecked Sendable {
  // Each thread uses the one with its number, and no other thread does until it has ended.
  private let latencies: [Latencies]

  init(_ latencies: [Latencies]) { self.latencies = latencies }

  subscript(number: Int) -> Latencies { latencies[number] }
}
