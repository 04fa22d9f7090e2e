import Foundation
import Pando
import PandoRemote
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
      try measureDraining(durability, count: nil)
    }
    // The cost of a request must not depend on the number of waiting ones.
    for (smoke, standard) in [(16, 100), (32, 10_000), (64, 100_000)] {
      let count = runner.options.scaled(smoke: smoke, standard: standard)
      try measureFilling(count)
      try measureDraining(.unsynchronized, count: count)
    }
    try measureLanes()
    try measureReadsBeside()
    try measureRefusals()
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

  private func measureFilling(_ count: Int) throws {
    try runner.measure(
      Workload(
        name: "fill-to-\(count)",
        operation: "a node set and its request queued, until so many wait",
        parameters: ["requests": count], durability: .unsynchronized,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let requests = try QueuedRequests(directory, .unsynchronized)
            return try .time(
              count, stride: 1, in: directory,
              { latencies in
                for number in 0..<count { _ = try latencies.time { try requests.queue(number) } }
                return 0
              }, checksum: { try requests.end() })
          }
        ]))
  }

  private func measureDraining(_ durability: Durability, count given: Int?) throws {
    let count = given ?? runner.options.scaled(smoke: 16, standard: 1_000)
    try runner.measure(
      Workload(
        name: given.map { "drain-of-\($0)" } ?? "drain\(suffix(durability))",
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

extension QueueSuite {
  /// Requests about different entities to a server that takes 20 milliseconds for each.
  private func measureLanes() throws {
    let count = runner.options.scaled(smoke: 16, standard: 100)
    try runner.measure(
      Workload(
        name: "lanes", operation: "a request of 20 ms, four at a time",
        parameters: ["requests": count], durability: .consistent,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let requests = try QueuedRequests(directory, .consistent, delay: .milliseconds(20))
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

  /// Writes that are taken back while others wait behind them.
  private func measureRefusals() throws {
    let count = runner.options.scaled(smoke: 1, standard: 10)
    let refused = RefusedWrite(
      laterCount: runner.options.scaled(smoke: 20, standard: 1_000),
      sameCount: runner.options.scaled(smoke: 2, standard: 100))
    try runner.measure(
      Workload(
        name: "refused",
        operation: "a write taken back, 1 000 later ones behind it, 100 to the same entity",
        parameters: ["later": refused.laterCount], durability: .consistent,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            return try .time(
              count, stride: 1, in: directory,
              { latencies in
                for _ in 0..<count {
                  let took = try refused.measure(in: runner.makeDirectory())
                  latencies.record(nanoseconds: UInt64(took / .nanoseconds(1)))
                }
                return 0
              }, checksum: { 1 })
          }
        ]))
  }

  /// Reads that a write has nothing to do with, while the server takes its time for that.
  private func measureReadsBeside() throws {
    let count = runner.options.scaled(smoke: 4, standard: 50)
    try runner.measure(
      Workload(
        name: "read-beside", operation: "a read answered at once, while a write takes 3 s",
        parameters: ["reads": count], durability: .consistent,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let requests = try QueuedRequests(directory, .consistent, delay: .seconds(3))
            let ticket = try requests.queue(0)
            return try .time(
              count, stride: 1, in: directory,
              { latencies in
                for nanoseconds in try requests.read(count, beside: ticket) {
                  latencies.record(nanoseconds: nanoseconds)
                }
                return 0
              }, checksum: { try requests.end() })
          }
        ]))
  }
}

/// A store with a queue whose server answers at once, or after a while.
private final class QueuedRequests: Sendable {
  private struct Server: APIClient {
    let delay: Duration?

    func send(_ request: APIRequest) async throws -> APIResponse {
      guard request.method != .get else { return APIResponse(status: 404) }
      if let delay { try await Task.sleep(for: delay) }
      return APIResponse(status: 200)
    }
  }

  @Model fileprivate struct Book: PersistentEntity, MutableEntity {
    var id: EntityIdentifier<Book>
    var title: String
  }

  private let store: ModelStore
  private let clientQueue: APIClientQueue

  init(
    _ directory: WorkingDirectory, _ durability: Durability, delay: Duration? = nil
  ) throws {
    var configuration = ModelStore.Configuration()
    configuration.durability = durability
    store = try ModelStore(path: directory.path, configuration: configuration)
    clientQueue = APIClientQueue.open(for: store, client: Server(delay: delay))
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

  /// Reads entities one after another while a request is not yet answered.
  ///
  /// - Returns: How long each took, in nanoseconds.
  func read(_ count: Int, beside ticket: QueueTicket) throws -> [UInt64] {
    let (failure, isDone) = (TaskFailure(), DispatchSemaphore(value: 0))
    let durations = Mutex<[UInt64]>([])
    let books = RemoteStore<Book>(clientQueue: clientQueue)
    ticket.committed()
    Task.detached {
      do {
        for number in 1...count {
          let start = ContinuousClock.now
          _ = try await books.get(
            withQuery: Query(ids: [.remote("\(number)")]), in: .remote())
          let took = ContinuousClock.now - start
          durations.withLock { $0.append(UInt64(took / .nanoseconds(1))) }
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
