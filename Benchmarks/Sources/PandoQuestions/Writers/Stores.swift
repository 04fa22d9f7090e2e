import Foundation
import Pando
import PandoReplication

/// The writer of every second commit, beside the store whose answers are compared.
enum Writer: String, Sendable {
  case none
  /// None; the store is on disk.
  case disk
  case otherProcess
  /// Another store of the same log.
  case replica
}

/// The stores that sequences share, for one task at a time.
final class Stores {
  let sqlite: SQLiteItems
  private let folder: URL
  private var memory: ModelStore
  private var disk: ModelStore?
  private var other: OtherWriter?
  private var replicas: (shown: ReplicatedStore, other: ReplicatedStore)?
  private var useCount = 0
  private var openedCount = 0

  init() throws {
    sqlite = try SQLiteItems()
    memory = try ModelStore.inMemory()
    folder = FileManager.default.temporaryDirectory.appending(
      path: "pando-questions-\(ProcessInfo.processInfo.processIdentifier)")
  }

  /// An empty store.
  func store(for writer: Writer) async throws -> ModelStore {
    useCount += 1
    if useCount.isMultiple(of: 500) {
      await memory.close()
      memory = try ModelStore.inMemory()
    }
    switch writer {
    case .none: return memory
    case .disk, .otherProcess: return try diskStore()
    case .replica: return try replicatedStores().shown.store
    }
  }

  /// Has the other writer commit calls, and waits until the store has them.
  func write(_ calls: [Call], by writer: Writer, _ plan: Plan, commit: Int) async throws {
    switch writer {
    case .none, .disk: try await store(for: writer).commitQueued(calls)
    case .otherProcess:
      let path = try path("disk")
      let other = try self.other ?? OtherWriter(path)
      self.other = other
      try other.commit(plan.seed, commit)
    case .replica:
      let (shown, other) = try replicatedStores()
      try await other.caughtUp()
      try await other.store.commitQueued(calls)
      try await shown.caughtUp()
    }
  }

  /// Takes other stores for the next sequences, after a failure.
  func renew() async throws {
    try await close()
    memory = try ModelStore.inMemory()
  }

  /// Closes all stores, and deletes the files.
  func close() async throws {
    other?.end()
    other = nil
    await memory.close()
    await disk?.close()
    disk = nil
    if let (shown, other) = replicas {
      await shown.close()
      await other.close()
      replicas = nil
    }
    try? FileManager.default.removeItem(at: folder)
    openedCount += 1
  }

  private func path(_ name: String) throws -> String {
    let path = folder.appending(path: "\(name)-\(openedCount)").path
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return path
  }

  private func diskStore() throws -> ModelStore {
    if let disk { return disk }
    let made = try ModelStore(path: path("disk"), configuration: .questions)
    disk = made
    return made
  }

  private func replicatedStores() throws -> (shown: ReplicatedStore, other: ReplicatedStore) {
    if let replicas { return replicas }
    let log = MemoryLog()
    let shown = try ReplicatedStore(
      path: path("shown"), log: MemoryConnection(log), configuration: .questions)
    let other = try ReplicatedStore(
      path: path("other"), log: MemoryConnection(log), configuration: .questions)
    replicas = (shown, other)
    return (shown, other)
  }
}

extension ModelStore.Configuration {
  /// Nothing waits for the disk.
  static var questions: Self {
    var configuration = Self()
    configuration.durability = .unsynchronized
    return configuration
  }
}

extension ModelStore {
  func commit(_ calls: [Call]) throws {
    try write { transaction in
      for call in calls { try call.make(&transaction) }
    }
  }

  /// The same without a blocked thread.
  func commitQueued(_ calls: [Call]) async throws {
    try await write { transaction in
      for call in calls { try call.make(&transaction) }
    }
  }
}
