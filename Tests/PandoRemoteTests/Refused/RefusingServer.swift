import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoSystem

@testable import PandoManagersFixtures

/// A server of jobs in this process: delays, loses, repeats and refuses, as chance wants it.
///
/// What it has been asked with a key once, it answers the same way again.
final class RefusingServer: APIClient {
  /// What it was asked, and what it said first.
  struct Call {
    var text: String
    var status: Int
  }

  private struct State {
    var jobs: [String: RandomJob] = [:]
    var answers: [String: APIResponse] = [:]
    var calls: [Call] = []
    var named = 0
    var random: SeededGenerator
    var isCalm = false
  }

  private let state: Locked<State>

  init(seed: UInt64) { state = Locked(State(random: SeededGenerator(seed: seed))) }

  var jobs: [String: RandomJob] { state.withLock { $0.jobs } }
  var calls: [Call] { state.withLock { $0.calls } }

  /// Lets it lose and delay nothing any more.
  func calm() { state.withLock { $0.isCalm = true } }

  func send(_ request: APIRequest) async throws -> APIResponse {
    let (delay, fault) = state.withLock { state in
      state.isCalm
        ? (0, 9)
        : (
          Int.random(in: 0..<30, using: &state.random), Int.random(in: 0..<20, using: &state.random)
        )
    }
    for _ in 0..<delay { await Task.yield() }
    if fault == 0 { throw APIError(.connectionLost, request, "it never came") }
    if fault == 1 { return APIResponse(status: 503) }
    let job = try request.body.map { try JSONDecoder().decode(RandomJob.self, from: $0.bytes) }
    let response = state.withLock { answer(request, job, &$0) }
    for _ in 0..<delay { await Task.yield() }
    if fault == 2 { throw APIError(.connectionLost, request, "its answer never came") }
    return response
  }

  private func answer(
    _ request: APIRequest, _ job: RandomJob?, _ state: inout State
  ) -> APIResponse {
    let parts = request.path.text.split(separator: "/").map(String.init)
    let id = parts.count > 1 ? parts[1] : nil
    if request.method == .get {
      guard let id else {
        return Self.ok(state.jobs.values.sorted { $0.id.text < $1.id.text })
      }
      return state.jobs[id].map { Self.ok($0) } ?? APIResponse(status: 404)
    }
    let key = request.headers["Idempotency-Key"] ?? UUID().uuidString
    if let answer = state.answers[key] { return answer }
    let answer = change(request, id, job, &state)
    state.answers[key] = answer
    let content = request.body.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    state.calls.append(
      Call(text: "\(request.method) \(request.path.text) \(content)", status: answer.status))
    return answer
  }

  private func change(
    _ request: APIRequest, _ id: String?, _ job: RandomJob?, _ state: inout State
  ) -> APIResponse {
    if Int.random(in: 0..<3, using: &state.random) == 0 { return APIResponse(status: 422) }
    let isTold = Bool.random(using: &state.random)
    switch (request.method, job, id) {
    case (.delete, _, let id?):
      state.jobs[id] = nil
      return APIResponse(status: 204)
    case (.post, let job?, _):
      state.named += 1
      let name = "s\(state.named)"
      state.jobs[name] = job.withIdentifier(.remote(name))
      return isTold
        ? Self.ok(state.jobs[name])
        : APIResponse(status: 201, headers: ["Location": "/randomjobs/\(name)"])
    case (.put, let job?, let id?):
      state.jobs[id] = job.withIdentifier(.remote(id))
      return isTold ? Self.ok(state.jobs[id]) : APIResponse(status: 204)
    default: return APIResponse(status: 400)
    }
  }

  private static func ok(_ content: some Encodable) -> APIResponse {
    APIResponse(status: 200, body: (try? JSONEncoder().encode(content)) ?? Data())
  }
}

/// A node inside a job, and of that job alone.
struct RandomPart: Model, Codable, Equatable {
  static let modelTypeName = "RandomPart"
  var id: String
  var text: String
  var modelIdentifier: String? { "RandomPart:\(id)" }
}

/// An entity with fields, a list and nodes.
struct RandomJob: PersistentEntity, MutableEntity, Equatable {
  static let modelTypeName = "RandomJob"
  static let endpoint: APIPath = "/randomjobs"
  var id: EntityIdentifier<RandomJob>
  var title = ""
  var step = 0
  var tags: [String] = []
  var part: RandomPart?
  var parts: [RandomPart] = []

  func withIdentifier(_ id: EntityIdentifier<RandomJob>) -> RandomJob {
    var job = self
    job.id = id
    return job
  }
}
