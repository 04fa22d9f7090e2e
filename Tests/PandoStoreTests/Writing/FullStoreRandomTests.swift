import Glibc
import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Random writes of several threads in a store that has hardly any room.
@Suite struct FullStoreRandomTests {
  struct Parcel: Model, Codable, Equatable {
    var id: Int
    var text: String
    var modelIdentifier: String? { "Parcel:\(id)" }
  }

  private static let threadCount = 4

  /// The writes of one thread, and the refused ones.
  private struct Ledger {
    var texts: [Int: String] = [:]
    var list: [Int] = []
    var refusals = 0
  }

  /// Each thread writes parcels of its own, so each knows what is stored of them.
  private func run(
    _ thread: Int, _ store: ModelStore, _ codes: Set<LMDBError.Code>, _ seed: UInt64
  ) throws -> Ledger {
    var random = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
    var ledger = Ledger()
    let key = "list \(thread)"
    for _ in 0..<400 {
      let id = thread * 1_000 + Int.random(in: 0..<60, using: &random)
      let text = String(repeating: "x", count: Int.random(in: 0..<9_000, using: &random))
      var after = ledger
      do {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
          after.texts[id] = text
          try store.write { try $0.set(Parcel(id: id, text: text)) }
        case 5:
          after.texts[id] = text
          after.list.append(id)
          try store.write { transaction in
            try transaction.append([Parcel(id: id, text: text)], toCollection: key)
          }
        case 6 where !after.list.isEmpty:
          after.list.removeLast()
          let end = after.list.count
          try store.write { try $0.removeElements(in: end..<(end + 1), fromCollection: key) }
        case 7:
          try store.read { _ in
            // Keeps what is freed meanwhile.
            let other = thread * 1_000 + 60
            after.texts[other] = nil
            try onThreads(1) { _ in
              _ = try store.write { try $0.deleteIfPresent("Parcel:\(other)") }
            }
          }
        default:
          after.texts[id] = nil
          after.list.removeAll { $0 == id }
          try store.write { try $0.deleteIfPresent("Parcel:\(id)") }
        }
        ledger = after
      } catch let error as LMDBError where codes.contains(error.code) {
        ledger.refusals += 1
      }
    }
    return ledger
  }

  private func check(_ store: ModelStore, _ ledgers: [Ledger]) throws {
    for (thread, ledger) in ledgers.enumerated() {
      let key = "list \(thread)"
      try store.read { snapshot in
        let list = try snapshot.collection(key, as: Parcel.self) ?? []
        #expect(list.map(\.id) == ledger.list)
        for id in thread * 1_000..<thread * 1_000 + 60 {
          #expect(try snapshot.get("Parcel:\(id)", as: Parcel.self)?.text == ledger.texts[id])
        }
      }
    }
    #expect(try store.verify().problems == [])
  }

  private func run(_ store: ModelStore, _ codes: Set<LMDBError.Code>, _ seed: UInt64) throws {
    let ledgers = Locked<[Int: Ledger]>([:])
    try onThreads(Self.threadCount) { thread in
      let ledger = try run(thread, store, codes, seed)
      ledgers.withLock { $0[thread] = ledger }
    }
    let all = ledgers.withLock { found in (0..<Self.threadCount).compactMap { found[$0] } }
    #expect(all.contains { $0.refusals > 0 })
    try check(store, all)
    // Whatever is left can go.
    for id in try store.read({ try $0.identifiers() }) {
      try store.write { try $0.deleteIfPresent(id) }
    }
    #expect(try store.read { try $0.identifiers() } == [])
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: seeds(2))
  func `random writes in a map that is full lose nothing, and all can be removed`(
    seed: UInt64
  ) throws {
    var configuration = StoreConfiguration.forTests
    configuration.mapSizeInBytes = 512 << 10
    configuration.maximumMapSizeInBytes = 512 << 10
    let store = try ModelStore.forTest(configuration)
    defer { store.close() }
    try run(store, [.mapFull], seed)
  }

  @Test(arguments: seeds(2))
  func `random writes on a disk that is full lose nothing, and all can be removed`(
    seed: UInt64
  ) throws {
    try withTemporaryDirectory { path in
      guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=1536k") == 0 else { return }
      defer { umount2(path, CInt(MNT_DETACH)) }
      let store = try ModelStore(path: "\(path)/store", configuration: .forTests)
      defer { store.close() }
      try run(store, [.diskFull], seed)
    }
  }
}
