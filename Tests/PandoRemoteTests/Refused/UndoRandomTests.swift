import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// Random writes, of which the server refuses some, beside a model that has never heard of these.
@Suite struct UndoRandomTests {
  private struct Person: Model, Codable, Equatable {
    static let modelTypeName = "RandomUndoPerson"
    var id: String
    var name: String
    var modelIdentifier: String? { "RandomUndoPerson:\(id)" }
  }

  private struct Task: PersistentEntity, MutableEntity {
    static let modelTypeName = "RandomUndoTask"
    static let endpoint: APIPath = "/tasks"
    var id: EntityIdentifier<Task>
    /// The last write that the server is told of.
    var mark = 0
    var title = ""
    var year = 0
    var tags: [String] = []
    var owner: Person?

    func withIdentifier(_ id: EntityIdentifier<Task>) -> Task {
      var task = self
      task.id = id
      return task
    }
  }

  /// What a write does, here and in the model.
  private struct Step: Sendable {
    let number: Int
    let task: String
    let isRefused: Bool
    /// Whom it has given another name.
    var renamed: Person?
    let change: @Sendable (inout Task?) -> Void
  }

  /// Takes what it is told, but for some writes.
  private final class Server: APIClient {
    private struct State {
      var tasks: [String: Task] = [:]
      var refusedMarks: Set<Int> = []
      var refusedRemovals: [String: [Bool]] = [:]
      var isOffline = false
      var named = 0
    }

    private let state = Locked(State())

    func refuse(mark: Int) { state.withLock { _ = $0.refusedMarks.insert(mark) } }

    func note(removalOf id: String, isRefused: Bool) {
      state.withLock { $0.refusedRemovals[id, default: []].append(isRefused) }
    }

    var isOffline: Bool {
      get { state.withLock { $0.isOffline } }
      set { state.withLock { $0.isOffline = newValue } }
    }

    var tasks: [String: Task] { state.withLock { $0.tasks } }

    func send(_ request: APIRequest) async throws -> APIResponse {
      let task = try request.body.map { try JSONDecoder().decode(Task.self, from: $0.bytes) }
      return try state.withLock { state in
        if state.isOffline { throw URLError(.notConnectedToInternet) }
        let id = String(request.target.split(separator: "/").last ?? "")
        switch request.method {
        case .delete:
          let isRefused = state.refusedRemovals[id]?.removeFirst() ?? false
          if isRefused { return APIResponse(status: 403) }
          state.tasks[id] = nil
          return APIResponse(status: 204)
        case .post:
          guard let task, !state.refusedMarks.contains(task.mark) else {
            return APIResponse(status: 409)
          }
          state.named += 1
          state.tasks["s\(state.named)"] = task.withIdentifier(.remote("s\(state.named)"))
          return APIResponse(status: 201, headers: ["Location": "/tasks/s\(state.named)"])
        default:
          guard let task, !state.refusedMarks.contains(task.mark) else {
            return APIResponse(status: 422)
          }
          state.tasks[id] = task
          return APIResponse(status: 204)
        }
      }
    }
  }

  @Test(arguments: seeds(12))
  func `after undo the store is as if refused writes had never been made`(seed: UInt64) async throws
  {
    var random = SeededGenerator(seed: seed)
    let allRemote = seed % 2 == 0
    let server = Server()
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Task.self, cacheLimit: seed % 3 == 0 ? 0 : 64, client: server,
        diskStoreConfig: .store(store))
      let tasks = container[Task.self]
      try await store.write { transaction in
        for id in ["0", "1"] { try transaction.set(Person(id: id, name: "nobody")) }
      }
      let queue = try #require(container.clientQueue)
      var steps: [Step] = []
      var names = ["1", "2", "3"]
      for number in 1...60 {
        if Int.random(in: 0..<6, using: &random) == 0 {
          server.isOffline.toggle()
          queue.flush()
        }
        let name = try #require(names.randomElement(using: &random))
        let isRefused = Int.random(in: 0..<3, using: &random) == 0
        let isLocal = !allRemote && Int.random(in: 0..<3, using: &random) == 0
        let kind = Int.random(in: 0..<12, using: &random)
        let identifier = EntityIdentifier<Task>(text: name) ?? .remote(name)
        let person = Person(id: "\(number % 2)", name: "name \(number)")
        if isRefused, !isLocal { server.refuse(mark: number) }
        let isGone = isRefused && !isLocal
        switch kind {
        case 0:
          let local = "local:n\(number)"
          guard !isLocal, let made = EntityIdentifier<Task>(text: local) else { continue }
          names.append(local)
          let task = Task(id: made, mark: number, title: "made \(number)")
          try await tasks.set(task, in: .localAndRemote)
          steps.append(Step(number: number, task: local, isRefused: isGone) { $0 = task })
        case 1:
          guard !name.hasPrefix("local:"), !isLocal else { continue }
          server.note(removalOf: name, isRefused: isGone)
          try await tasks.remove(atID: identifier, in: .localAndRemote)
          steps.append(Step(number: number, task: name, isRefused: isGone) { $0 = nil })
        case 2:
          guard !name.hasPrefix("local:"), !isLocal else { continue }
          // A server that takes a change of what it has refused to make has made it.
          let isThere = try await tasks.get(byID: identifier) != nil
          guard isThere || !isRefused else { continue }
          let task = Task(
            id: identifier, mark: number, title: "set \(number)", year: number)
          try await tasks.set(task, in: .localAndRemote)
          steps.append(Step(number: number, task: name, isRefused: isGone) { $0 = task })
        default:
          // To name the same one again is no change of the field: it goes with the write that named it first.
          if kind == 9, try await tasks.get(byID: identifier)?.owner?.id == person.id { continue }
          let change: @Sendable (inout Task) -> Void = { task in
            if !isLocal { task.mark = number }
            switch kind {
            case 3, 4: task.title = "title \(number)"
            case 5, 6: task.year = number
            case 7, 8: task.tags.append("tag \(number)")
            // One that is there comes in as it is, but for the task that had it before.
            case 9: task.owner = person
            case 10: task.owner?.name = person.name
            default: (task.title, task.year) = ("both \(number)", number)
            }
          }
          let written = try await tasks.updateIfPresent(
            byID: identifier, in: isLocal ? .local : .localAndRemote, change)
          guard let written else { continue }
          steps.append(
            Step(
              number: number, task: name, isRefused: isGone,
              renamed: written.value.owner.flatMap { $0.name == person.name ? $0 : nil }
            ) { task in
              if var changed = task {
                change(&changed)
                task = changed
              }
            })
        }
      }
      server.isOffline = false
      while try queue.requests().contains(where: { $0.state != .failed }) {
        queue.flush()
        await _Concurrency.Task.yield()
      }
      try await check(tasks, steps, store, allRemote ? server.tasks : nil, seed)
      #expect(try store.verify().problems.isEmpty)
      await container.close()
    }
  }

  private func check(
    _ tasks: CoreManager<Task>, _ steps: [Step], _ store: ModelStore, _ remote: [String: Task]?,
    _ seed: UInt64
  ) async throws {
    var model: [String: Task] = [:]
    var owners = ["0": "nobody", "1": "nobody"]
    for step in steps where !step.isRefused {
      step.change(&model[step.task])
      if let person = step.renamed, model[step.task] != nil { owners[person.id] = person.name }
    }
    var expected: [String: Task] = [:]
    for (name, var task) in model {
      // Whoever holds a person holds it as it was written last.
      if let owner = task.owner { task.owner?.name = owners[owner.id] ?? owner.name }
      let identifier = try await store.read { snapshot in
        try snapshot.currentIdentifier(of: EntityIdentifier<Task>(text: name) ?? .remote(name))
      }
      expected[identifier.text] = task.withIdentifier(identifier)
    }
    let found = try await tasks.all().entities
    for task in found {
      #expect(task == expected[task.id.text], "seed \(seed)")
      #expect(try await !store.read { try $0.hasQueuedRequests(for: task.id.modelIdentifier) })
    }
    #expect(Set(found.map(\.id.text)) == Set(expected.keys), "seed \(seed)")
    guard let remote else { return }
    // Persons are shared here, and the server has them in each task: they are looked at apart.
    func plain(_ task: Task) -> Task {
      var task = task
      task.owner = nil
      return task
    }
    #expect(remote.mapValues(plain) == expected.mapValues(plain), "seed \(seed)")
  }
}
