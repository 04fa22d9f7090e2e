import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures

/// Several tasks write without waiting for one another, and the server refuses a third of it.
@Suite struct RefusedRandomTests {
  /// Whether the process ends and begins anew while requests wait.
  enum Kind: CaseIterable { case plain, reopened }

  @Test(arguments: Kind.allCases, seeds(2))
  func `when all is quiet, client and server have the same`(
    kind: Kind, seed: UInt64
  ) async throws {
    let server = RefusingServer(seed: seed)
    let store = try ModelStore.temporary()
    for phase in 0..<(kind == .plain ? 1 : 3) {
      let isLast = kind == .plain || phase == 2
      var configuration = QueueConfiguration()
      configuration.retryInterval = .zero
      configuration.firstBackOff = .zero
      let queue = APIClientQueue.open(for: store, client: server, configuration: configuration)
      let container = try CoreManagerContainer(
        entities: RandomJob.self, cacheLimit: seed % 3 == 0 ? 0 : 8, client: server,
        diskStoreConfig: .store(store))
      let jobs = container[RandomJob.self]
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            await write(jobs, task, SeededGenerator(seed: seed << 8 + UInt64(phase * 8 + task)))
          }
        }
      }
      if isLast {
        server.calm()
        queue.flush()
        while try queue.requests().contains(where: { $0.state != .failed }) {
          await Task.yield()
        }
        try await check(jobs, server, store, "\(kind) \(seed)")
      }
      await container.close()
      await queue.close()
    }
    #expect(try store.verify().problems.isEmpty)
    await store.close()
  }

  /// What one task does.
  private func write(
    _ jobs: CoreManager<RandomJob>, _ task: Int, _ generator: SeededGenerator
  ) async {
    var random = generator
    var made: [EntityIdentifier<RandomJob>] = []
    for number in 0..<15 {
      let mark = "\(task)-\(number)"
      var id = EntityIdentifier<RandomJob>.remote("\(Int.random(in: 1...2, using: &random))")
      if Int.random(in: 0..<4, using: &random) == 0, let own = made.randomElement(using: &random) {
        id = own
      }
      let kind = Int.random(in: 0..<20, using: &random)
      let place = Int.random(in: 0..<3, using: &random)
      switch kind {
      case 0...1:
        id = EntityIdentifier()
        made.append(id)
        _ = try? await jobs.set(RandomJob(id: id, title: mark), in: .localAndRemote)
      case 2...4: _ = try? await jobs.remove(atID: id, in: .localAndRemote)
      case 5...6:
        guard id.remoteID != nil else { continue }
        var job = RandomJob(
          id: id, title: mark, tags: kind == 5 ? ["first \(mark)"] : [])
        if Bool.random(using: &random) { job.part = part(0, of: id, mark) }
        _ = try? await jobs.set(job, in: .localAndRemote)
      case 7: _ = try? await jobs.get(byID: id, in: .remote())
      case 8: _ = try? await jobs.search(withQuery: .all, in: .remote())
      default:
        _ = try? await jobs.updateIfPresent(byID: id, in: .localAndRemote) { job in
          switch kind {
          case 9...10: job.title = mark
          case 11: job.step += 1
          case 12...13: job.tags.append(mark)
          case 14...15: (job.step, job.tags) = (0, Array(job.tags.dropFirst()))
          case 16: job.part = job.part == nil ? part(place, of: job.id, mark) : nil
          case 17: job.part?.text = mark
          case 18: job.parts.append(part(place + 3 * task, of: job.id, mark))
          default:
            if !job.parts.isEmpty { job.parts[0].text = mark }
          }
        }
      }
    }
  }

  private func part(
    _ number: Int, of id: EntityIdentifier<RandomJob>, _ text: String
  ) -> RandomPart { RandomPart(id: "\(id.text)-\(number)", text: text) }

  private func check(
    _ jobs: CoreManager<RandomJob>, _ server: RefusingServer, _ store: ModelStore,
    _ run: String
  ) async throws {
    let found = try await jobs.all().entities
    let mine = Dictionary(found.map { ($0.id.text, $0) }) { _, last in last }
    let theirs = server.jobs
    for name in Set(mine.keys).union(theirs.keys).sorted() where mine[name] != theirs[name] {
      let calls = server.calls.filter {
        $0.text.contains("/\(name) ") || $0.text.contains("post")
      }
      let told = calls.map { "\($0.status) \($0.text)" }.joined(separator: "\n")
      let (here, there) = (String(describing: mine[name]), String(describing: theirs[name]))
      Issue.record("\(run): \(here) here, \(there) there\n\(told)")
    }
    for job in found {
      #expect(try await store.read { try $0.synchronizationState(of: job.id) } == .synced, "\(run)")
    }
  }
}
