import Foundation
import Pando
import Synchronization

/// Requests that wait durably for a server: how many are queued with the write that they tell of, and
/// how many are sent, acknowledged and taken off.
///
/// The server answers at once, in this process, so that the queue is measured and no network.
struct QueueSuite {
  private let runner: Runner

  init(_ runner: Runner) { self.runner = runner }

  /// Measures everything.
  func run() throws {
    for durability in Durability.allCases {
      for writerCount in runner.options.threadCounts([1, 8, 64]) {
        try measureQueueing(writerCount, durability)
      }
      try measureDraining(durability)
    }
  }

  private func suffix(_ durability: Durability) -> String {
    durability == .full ? "" : "-\(durability.name)"
  }

  private func measureQueueing(_ writerCount: Int, _ durability: Durability) throws {
    let perWriter =
      switch writerCount {
      case 1: runner.options.scaled(smoke: 16, standard: 1_000)
      case 8: runner.options.scaled(smoke: 4, standard: 250)
      default: runner.options.scaled(smoke: 1, standard: 100)
      }
    let count = perWriter * writerCount
    try runner.measure(
      Workload(
        name: "queue-\(writerCount)\(suffix(durability))",
        operation: "a node set and its request queued, a commit each",
        parameters: ["requests": count, "writers": writerCount], durability: durability,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let requests = try QueuedRequests(directory, durability)
            return try .time(
              count, stride: 1, in: directory, threadCount: writerCount,
              { latencies in
                let shared = ThreadLatencies(latencies)
                try Threads.run(writerCount) { writer in
                  for number in writer * perWriter..<(writer + 1) * perWriter {
                    _ = try shared[writer].time { try requests.queue(number) }
                  }
                }
                return 0
              }, settle: {}, checksum: { try requests.end() })
          }
        ]))
  }

  private func measureDraining(_ durability: Durability) throws {
    let count = runner.options.scaled(smoke: 16, standard: 1_000)
    try runner.measure(
      Workload(
        name: "drain\(suffix(durability))",
        operation: "a queued request sent, answered, stored as answered, and taken off",
        parameters: ["requests": count], durability: durability,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let requests = try QueuedRequests(directory, durability)
            let tickets = try (0..<count).map { try requests.queue($0) }
            return try .time(
              count, stride: 1, in: directory,
              { latencies in
                for nanoseconds in try requests.drain(tickets) {
                  latencies.record(nanoseconds: nanoseconds)
                }
                return 0
              }, checksum: { try requests.end() })
          }
        ]))
  }
}

/// A store with a queue whose server answers at once.
private final class QueuedRequests: Sendable {
  private struct Server: APIClient {
    func send(_ request: APIRequest) async throws -> APIResponse { APIResponse(status: 200) }
  }

  private let store: ModelStore
  private let clientQueue: APIClientQueue

  init(_ directory: WorkingDirectory, _ durability: Durability) throws {
    var configuration = ModelStore.Configuration()
    configuration.durability = durability
    store = try ModelStore(path: directory.path, configuration: configuration)
    clientQueue = APIClientQueue.open(for: store, client: Server())
  }

  /// Sets a node and queues the request that tells of it, and does not send it.
  func queue(_ number: Int) throws -> QueueTicket {
    let identifier = "Book:\(number)"
    let body = try APIBody(json: ["title": "Book number \(number)", "id": "\(number)"])
    let ticket = clientQueue.ticket(
      for: APIRequest(.put, "/books/\(number)", body: body), subjects: [identifier])
    try store.write { transaction in
      try transaction.set(
        TreeNode(identifier, type: "Book", fields: ["title": .string("Book number \(number)")]))
      try ticket.enqueue(in: &transaction)
    }
    return ticket
  }

  /// Sends everything.
  ///
  /// - Returns: How long each request took since the one before was confirmed, in nanoseconds.
  func drain(_ tickets: [QueueTicket]) throws -> [UInt64] {
    let (failure, isDone) = (TaskFailure(), DispatchSemaphore(value: 0))
    let durations = Mutex<[UInt64]>([])
    let start = ContinuousClock.now
    clientQueue.start()
    Task.detached {
      var last = start
      do {
        for ticket in tickets {
          _ = try await ticket.confirmation()
          let now = ContinuousClock.now
          durations.withLock { $0.append(UInt64((now - last) / .nanoseconds(1))) }
          last = now
        }
      } catch {
        failure.keep(error)
      }
      isDone.signal()
    }
    isDone.wait()
    if let error = failure.error { throw error }
    return durations.withLock { $0 }
  }

  /// Closes the store.
  ///
  /// - Returns: How many nodes and how many requests there are, in one number.
  func end() throws -> UInt64 {
    let count = try store.read { snapshot in
      try UInt64(snapshot.count()) << 32 + UInt64(snapshot.queuedRequests().count)
    }
    let isClosed = DispatchSemaphore(value: 0)
    Task.detached { [clientQueue] in
      await clientQueue.close()
      isClosed.signal()
    }
    isClosed.wait()
    store.close()
    return count
  }
}
