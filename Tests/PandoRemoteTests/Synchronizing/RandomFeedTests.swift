import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Tasks write and synchronize without waiting for one another, while others change the server's items,
/// and it delays, loses and forgets.
@Suite struct RandomFeedTests {
  private static func run<E: FeedItem>(
    _ items: CoreManager<E>, _ server: FeedServer, _ queue: APIClientQueue, seed: UInt64,
    creates: Bool
  ) async throws {
    let written = Locked<[Written<E>]>([])
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<5 {
        group.addTask {
          var random = SeededGenerator(seed: seed << 8 + UInt64(task))
          for step in 0..<30 {
            let id = EntityIdentifier<E>.remote(Int.random(in: 1...8, using: &random))
            let item = E(id, "\(task)-\(step)")
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
              if let done = try? await items.set(item, in: .localAndRemote) {
                written.withLock { $0.append(done) }
              }
            case 3: _ = try? await items.remove(atID: id, in: .localAndRemote)
            case 4 where creates:
              _ = try? await items.set(
                E(.local("\(task)-\(step)"), item.title), in: .localAndRemote)
            case 5: _ = try? await items.get(byID: id, in: .remote())
            default: _ = try? await items.synchronize()
            }
          }
        }
      }
    }
    server.state.withLock { $0.isCalm = true }
    queue.flush()
    while try queue.requests().contains(where: { $0.state != .failed }) { await Task.yield() }
    for done in written.withLock({ $0 }) { _ = try? await done.confirmed() }
    // The first one may end a reading of all that was cut off, the second asks for what was newer then.
    for _ in 0..<2 { try await items.synchronize() }
    let here = try await items.all().entities
    let mine = Dictionary(here.map { ($0.id.remoteID ?? 0, $0.title) }) { $1 }
    let theirs = server.state.withLock { $0.titles }
    #expect(mine == theirs)
    #expect(here.count == theirs.count)
  }

  private static var configuration: QueueConfiguration {
    var configuration = QueueConfiguration()
    configuration.retryInterval = .zero
    configuration.firstBackOff = .zero
    return configuration
  }

  @Test(arguments: seeds(6))
  func `when all is quiet, disk and server agree`(seed: UInt64) async throws {
    let server = FeedServer(seed: seed)
    let store = try ModelStore.temporary()
    let queue = APIClientQueue.open(
      for: store, client: server, configuration: Self.configuration)
    let container = try CoreManagerContainer(
      entities: DiskItem.self, cacheLimit: seed % 2 == 0 ? 0 : 4, client: server,
      diskStoreConfig: .store(store))
    try await Self.run(container[DiskItem.self], server, queue, seed: seed, creates: true)
    await container.close()
    await queue.close()
    await store.close()
  }

  @Test(arguments: seeds(4))
  func `when all is quiet, memory and server agree`(seed: UInt64) async throws {
    let server = FeedServer(seed: seed)
    let queue = APIClientQueue(client: server, configuration: Self.configuration)
    let manager = CoreManager<MemoryItem>(stores: [
      InMemoryStore(), RemoteStore<MemoryItem>(clientQueue: queue),
    ])
    try await Self.run(manager, server, queue, seed: seed, creates: false)
    await queue.close()
  }
}
