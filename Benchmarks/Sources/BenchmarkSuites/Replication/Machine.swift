#if NATS
  import CPeerSupport
  import Foundation
  import Pando
  import PandoNATSLog
  import PandoReplication
  import Synchronization

  /// A store that follows a log, as a machine of its own would.
  final class Machine: Sendable {
    /// The model that machines write.
    @Model struct Reading {
      var identifier: String
      var number: Int
      var text: String
      var modelIdentifier: String { identifier }
    }

    let stream: String
    let directory: WorkingDirectory
    let replica: ReplicatedStore

    /// Opens it.
    ///
    /// - Parameters:
    ///   - cluster: The servers.
    ///   - directory: Its folder.
    ///   - other: A machine whose log it follows; else it begins one.
    /// - Throws: The reason why it can't follow.
    init(
      _ cluster: NATSCluster, _ directory: WorkingDirectory, joining other: Machine? = nil
    ) throws {
      stream = other?.stream ?? "bench-\(UInt32.random(in: 0...(.max)))"
      self.directory = directory
      var configuration = ModelStore.Configuration()
      configuration.durability = cluster.durability
      replica = try ReplicatedStore(
        path: "\(directory.path)/store", log: try cluster.log(stream),
        configuration: configuration)
    }

    static func identifier(_ number: Int, of writer: Int) -> String {
      "reading:\(writer)-\(number)"
    }

    /// Writes a node of its own.
    func write(_ number: Int, of writer: Int) throws {
      let reading = Reading(
        identifier: Self.identifier(number, of: writer), number: number,
        text: String(repeating: "x", count: 100))
      try replica.store.write { try $0.set(reading) }
    }

    /// Writes the first node of a writer again.
    func set(_ number: Int, of writer: Int) throws {
      let reading = Reading(
        identifier: Self.identifier(0, of: writer), number: number,
        text: String(repeating: "x", count: 100))
      try replica.store.write { try $0.set(reading) }
    }

    /// Counts up a number that all machines have.
    func countUp() throws {
      try replica.store.write { transaction in
        let known = try transaction.snapshot.get("reading:counter", as: Reading.self)
        try transaction.set(
          Reading(identifier: "reading:counter", number: (known?.number ?? 0) + 1, text: ""))
      }
    }

    /// How far that number is.
    func counted() throws -> Int {
      try replica.store.read { try $0.get("reading:counter", as: Reading.self)?.number ?? 0 }
    }

    /// Writes until it is sure that it has.
    func writeAgainAndAgain(_ number: Int) throws {
      while true {
        do {
          return try write(number, of: 0)
        } catch let error as StoreError where error.code == .unavailable {
          continue
        }
      }
    }

    /// Brings so many entries to the log.
    func write(entries count: Int) throws {
      for number in 0..<count { try write(number, of: 0) }
    }

    /// Writes many nodes, many a commit.
    func fill(_ count: Int) throws {
      for start in stride(from: 0, to: count, by: 1_000) {
        try replica.store.write { transaction in
          for number in start..<min(count, start + 1_000) {
            try transaction.set(
              Reading(
                identifier: Self.identifier(number, of: 0), number: number,
                text: String(repeating: "x", count: 100)))
          }
        }
      }
    }

    func count() throws -> Int { try replica.store.read { try $0.count() } }

    /// Takes in all that the log holds, as soon as its servers can be reached.
    func catchUp() throws {
      let end = ContinuousClock.now + .seconds(60)
      while true {
        do {
          return try waiting { [replica] in try await replica.caughtUp() }
        } catch let error as StoreError
          where error.code == .unavailable && ContinuousClock.now < end
        {
          continue
        }
      }
    }

    func putSnapshot() throws { try waiting { [replica] in _ = try await replica.putSnapshot() } }

    func close() { try? waiting { [replica] in await replica.close() } }

    private func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
      let outcome = Mutex<Result<Void, any Error>>(.success(()))
      waitUntilDone {
        do {
          try await body()
        } catch {
          outcome.withLock { $0 = .failure(error) }
        }
      }
      try outcome.withLock { $0 }.get()
    }
  }

  /// Which numbers of a node a provider has shown, and when.
  final class ShownNumbers: DataProviderDelegate {
    private let manager: DataModelManager
    private let provider: DataProvider<Machine.Reading>
    private let condition = NSCondition()
    private let seen = Mutex((number: 0, time: UInt64(0)))

    init(_ store: ModelStore, _ identifier: String) throws {
      manager = try DataModelManager(store: store)
      provider = DataProvider(dataModelManager: manager)
      let fetched = DispatchSemaphore(value: 0)
      provider.fetchDataFromCache(withCacheKey: identifier) { _, _ in fetched.signal() }
      fetched.wait()
      provider.delegate = self
    }

    func dataProviderHasUpdatedData<T>(
      _ dataProvider: DataProvider<T>, context: (any Sendable)?
    ) {
      let now = latency_now()
      guard let reading = dataProvider.data as? Machine.Reading else { return }
      condition.lock()
      seen.withLock { $0 = (reading.number, now) }
      condition.signal()
      condition.unlock()
    }

    /// Waits until a number is shown.
    ///
    /// - Returns: When it was.
    func wait(for number: Int) -> UInt64 {
      condition.lock()
      defer { condition.unlock() }
      while true {
        let last = seen.withLock { $0 }
        if last.number >= number { return last.time }
        condition.wait()
      }
    }

    func close() {
      let manager = manager
      waitUntilDone { await manager.close() }
    }
  }
#endif
