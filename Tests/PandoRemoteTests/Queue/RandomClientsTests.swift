import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Several tasks write and read without waiting for one another, and the server delays and loses.
@Suite struct RandomClientsTests {
  /// Which numbers the requests had, by their keys.
  private final class Numbers: Sendable {
    private let numbers = Locked<[String: UInt64]>([:])

    @Sendable func note(_ event: QueueEvent) {
      guard case .sending(let entry) = event else { return }
      numbers.withLock { $0[entry.token] = entry.id }
    }

    subscript(key: String) -> UInt64? { numbers.withLock { $0[key] } }
  }

  @Test(arguments: seeds(4))
  func `when all is quiet, client and server agree, and nothing was done twice`(seed: UInt64)
    async throws
  {
    let server = NaiveServer(seed: seed)
    server.state.withLock { state in for id in 1...4 { state.titles[id] = "old" } }
    let store = try ModelStore.temporary()
    let numbers = Numbers()
    var configuration = QueueConfiguration()
    configuration.retryInterval = .zero
    configuration.firstBackOff = .zero
    configuration.onEvent = numbers.note
    let queue = APIClientQueue.open(for: store, client: server, configuration: configuration)
    let container = try CoreManagerContainer(
      entities: Volume.self, Writer.self, cacheLimit: seed % 2 == 0 ? 0 : 8, client: server,
      diskStoreConfig: .store(store))
    let volumes = container[Volume.self]
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<6 {
        group.addTask {
          var random = SeededGenerator(seed: seed << 8 + UInt64(task))
          var created: [EntityIdentifier<Volume>] = []
          for step in 0..<25 {
            let title = "\(task)-\(step)"
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
              let id = EntityIdentifier<Volume>.remote(Int.random(in: 1...4, using: &random))
              _ = try? await volumes.set(Volume(id: id, title: title), in: .localAndRemote)
            case 4:
              let id = EntityIdentifier<Volume>()
              created.append(id)
              _ = try? await volumes.set(Volume(id: id, title: title), in: .localAndRemote)
            case 5...6:
              guard let id = created.randomElement(using: &random) else { continue }
              _ = try? await volumes.updateIfPresent(byID: id, in: .localAndRemote) {
                $0.title = title
              }
            case 7:
              guard let id = created.popLast() else { continue }
              _ = try? await volumes.remove(atID: id, in: .localAndRemote)
            case 8:
              let id = EntityIdentifier<Volume>.remote(Int.random(in: 1...4, using: &random))
              _ = try? await volumes.get(byID: id, in: .remote())
            default: _ = try? await volumes.search(withQuery: .all, in: .remote())
            }
          }
        }
      }
    }
    server.state.withLock { $0.isCalm = true }
    queue.flush()
    while try queue.requests().contains(where: { $0.state != .failed }) { await Task.yield() }
    #expect(try queue.requests().isEmpty)
    _ = try await volumes.search(withQuery: .all, in: .remote())
    let stored = try await store.read { snapshot in
      try snapshot.identifiers(ofType: "Volume").compactMap {
        try snapshot.get($0, as: Volume.self)
      }
    }
    let (titles, done) = server.state.withLock { ($0.titles, $0.done) }
    let mine = Dictionary(stored.map { ($0.id.remoteID ?? 0, $0.title) }) { _, last in last }
    #expect(mine == titles)
    #expect(Set(done.map(\.key)).count == done.count, "nothing was done twice")
    for (id, done) in Dictionary(grouping: done, by: \.id) {
      let order = done.compactMap { numbers[$0.key] }
      #expect(order == order.sorted(), "the requests about \(id) were in order")
    }
    await container.close()
    await queue.close()
    await store.close()
  }
}
