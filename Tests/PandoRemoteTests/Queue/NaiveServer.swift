import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem

@testable import PandoManagersFixtures

/// A server of books in this process: delays, loses and repeats, as chance wants it, and remembers what
/// it has done.
final class NaiveServer: APIClient {
  struct State {
    var titles: [Int: String] = [:]
    var nextID = 100
    var answers: [String: APIResponse] = [:]
    /// What was done, in order: the key of the request and the book.
    var done: [(key: String, id: Int)] = []
    var attemptCount = 0
    var random: SeededGenerator
    var isCalm = false
  }

  let state: Locked<State>

  init(seed: UInt64) { state = Locked(State(random: SeededGenerator(seed: seed))) }

  func send(_ request: APIRequest) async throws -> APIResponse {
    let (before, fault) = state.withLock { state in
      state.attemptCount += 1
      if state.isCalm { return (0, 9) }
      return (
        Int.random(in: 0..<20, using: &state.random), Int.random(in: 0..<24, using: &state.random)
      )
    }
    for _ in 0..<before { await Task.yield() }
    if fault == 0 { throw APIError(.connectionLost, request, "it never came") }
    if fault == 1 { return APIResponse(status: 503) }
    let response = carryOut(request)
    for _ in 0..<before { await Task.yield() }
    if fault == 2 { throw APIError(.connectionLost, request, "its answer never came") }
    return response
  }

  private func carryOut(_ request: APIRequest) -> APIResponse {
    let key = request.headers["Idempotency-Key"] ?? UUID().uuidString
    let parts = request.path.text.split(separator: "/")
    let id = parts.count > 1 ? Int(parts[1]) : nil
    return state.withLock { state in
      if request.method == .get {
        guard let id else {
          let books = state.titles.sorted { $0.key < $1.key }.map { Self.json($0.key, $0.value) }
          return Self.ok("[" + books.joined(separator: ",") + "]")
        }
        guard let title = state.titles[id] else { return APIResponse(status: 404) }
        return Self.ok(Self.json(id, title))
      }
      if let answer = state.answers[key] { return answer }
      let answer = change(request, id, key, &state)
      state.answers[key] = answer
      return answer
    }
  }

  private func change(
    _ request: APIRequest, _ id: Int?, _ key: String, _ state: inout State
  ) -> APIResponse {
    if request.method == .delete {
      guard let id, state.titles.removeValue(forKey: id) != nil else {
        return APIResponse(status: 404)
      }
      state.done.append((key, id))
      return APIResponse(status: 204)
    }
    let body =
      (try? TreeValue(json: String(decoding: request.body?.bytes ?? Data(), as: UTF8.self)))
    guard case .string(let title)? = body?["title"] else { return APIResponse(status: 400) }
    if request.method == .put, id == nil || state.titles[id ?? 0] == nil {
      return APIResponse(status: 404)
    }
    let number = id ?? state.nextID
    if id == nil { state.nextID += 1 }
    state.titles[number] = title
    state.done.append((key, number))
    return Self.ok(Self.json(number, title))
  }

  private static func json(_ id: Int, _ title: String) -> String {
    #"{"id":\#(id),"title":"\#(title)"}"#
  }

  private static func ok(_ body: String) -> APIResponse {
    APIResponse(status: 200, body: Data(body.utf8))
  }
}
