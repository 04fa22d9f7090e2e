import Foundation
import Pando
import Synchronization

extension FanoutSuite {
  /// The delay of a delegate beside a followed query that every write affects.
  func measureBeside() throws {
    let count = runner.options.scaled(smoke: 500, standard: 50_000)
    try runner.measure([
      beside("beside-0", isFollowed: false), beside("beside-\(count)", isFollowed: true),
    ])
    guard let with = runner.entry(.pando, in: "beside-\(count)"),
      let without = runner.entry(.pando, in: "beside-0")
    else { return }
    let latencies = [with, without].map { Double($0.latencies.nanoseconds(atShare: 0.99)) }
    runner.add(
      Comparison(
        name: "fanout/beside-\(count):beside-0",
        title:
          "fanout, milliseconds by which a delegate is called later beside a followed query, p99",
        value: (latencies[0] - latencies[1]) / 1_000_000, goal: .atMost(5)))
  }

  private func beside(_ name: String, isFollowed: Bool) -> Workload {
    let durability = runner.options.durability(default: .unsynchronized)
    let entityCount = runner.options.scaled(smoke: 500, standard: 50_000)
    let count = runner.options.scaled(smoke: 20, standard: 1_000)
    return Workload(
      name: name,
      operation: "change of a model until a delegate is called, beside a thread that writes "
        + "every 0.5 ms; each write changes an entity of \(entityCount)",
      parameters: ["operations": count, "queries": isFollowed ? 1 : 0, "entities": entityCount],
      durability: durability,
      contenders: [
        Workload.Contender(.pando) {
          let directory = try runner.makeDirectory()
          let models = try PandoModels(directory, durability)
          try models.put((0..<entityCount).map { Self.sensor($0, degrees: $0) })
          let follower = isFollowed ? try QueryFollower(models.store) : nil
          let told = try ToldProvider(models.store)
          let writes = Mutex(true)
          let threads = Threads()
          threads.start {
            var number = 0
            while writes.withLock({ $0 }) {
              number += 1
              let sensor = Self.sensor(number % entityCount, degrees: number * 7 % entityCount)
              try models.store.write { try $0.set(sensor) }
              Thread.sleep(forTimeInterval: 0.0005)
            }
          }
          return try .time(
            count, stride: 1, in: directory, threadCount: 1,
            { latencies in
              for number in 1...count {
                try latencies[0].time {
                  try told.change {
                    try models.store.write { transaction in
                      try transaction.set(LiveAuthor(identifier: "author:0", number: number))
                      try transaction.set(Self.sensor(number % entityCount, degrees: -number))
                    }
                  }
                }
              }
              return UInt64(count)
            },
            settle: {
              writes.withLock { $0 = false }
              try threads.wait()
              try follower?.finish()
            }, checksum: { UInt64(told.number) })
        }
      ])
  }

  private static func sensor(_ number: Int, degrees: Int) -> Sensor {
    Sensor(id: .remote(number), room: number % 100, degrees: degrees)
  }
}

/// Follows a query over all sensors, in the order of their degrees.
private final class QueryFollower: Sendable {
  private let manager: CoreManager<Sensor>
  private let task: Task<Int, any Error>

  init(_ store: ModelStore) throws {
    let manager = CoreManager<Sensor>(stores: [DiskStore(modelStore: store)])
    self.manager = manager
    let (begun, begin) = AsyncStream<Void>.makeStream()
    task = Task {
      var count = 0
      let query = Query<Sensor>(order: [.ascending(\.degrees)])
      for try await _ in manager.follow(query) {
        count += 1
        begin.finish()
      }
      return count
    }
    waitUntilDone { for await _ in begun {} }
  }

  func finish() throws {
    task.cancel()
    waitUntilDone { [task] in _ = try? await task.value }
  }
}

/// A provider whose delegate is waited for.
private final class ToldProvider: Sendable {
  private let manager: DataModelManager
  private let provider: DataProvider<LiveAuthor>
  private let counter = CallCounter()

  init(_ store: ModelStore) throws {
    let manager = try DataModelManager(store: store)
    let provider = DataProvider<LiveAuthor>(dataModelManager: manager)
    (self.manager, self.provider) = (manager, provider)
    let outcome = TaskOutcome<Void>()
    waitUntilDone {
      await outcome.run {
        _ = try await provider.setData(LiveAuthor(identifier: "author:0", number: 0)).committed()
      }
    }
    try outcome.value()
    provider.delegate = counter
  }

  deinit { waitUntilDone { [manager] in await manager.close() } }

  var number: Int { provider.data?.number ?? 0 }

  /// Makes a change and waits until the delegate has been called.
  func change(_ body: () throws -> Void) rethrows {
    counter.expect(1)
    try body()
    counter.wait()
  }
}
