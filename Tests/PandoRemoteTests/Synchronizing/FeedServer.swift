import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport

@testable import PandoManagersFixtures

/// What is in step with a server that tells of changes, on disk and in memory.
protocol FeedItem: MutableEntity, LocalEntity where RemoteID == Int {
  init(_ id: EntityIdentifier<Self>, _ title: String)
  var id: EntityIdentifier<Self> { get set }
  var title: String { get set }
}

extension FeedItem {
  static var endpoint: APIPath { "/items" }

  static func request(for path: RemotePath<Self>) throws -> APIRequest? {
    switch path {
    case .get(let id): APIRequest(.get, "/items/\(id)")
    case .create(let item): APIRequest(.post, endpoint, body: try APIBody(entity: item))
    case .update(let item):
      APIRequest(.put, "/items/\(item.id)", body: try APIBody(entity: item))
    case .remove(let id): APIRequest(.delete, "/items/\(id)")
    case .changes(let cursor):
      APIRequest(.get, "/items/changes", query: cursor.map { [.init("since", $0)] } ?? [])
    case .search: APIRequest(.get, endpoint)
    case .getAll, .removeAll: nil
    }
  }

  static func payload(for path: RemotePath<Self>) -> RemotePayload<Self> {
    guard case .changes = path else { return .content }
    return .under("items").skippingMalformed.changes(
      removed: ["deleted"], cursor: ["cursor"], more: ["more"], expired: ["expired"])
  }

  func withIdentifier(_ id: EntityIdentifier<Self>) -> Self { Self(id, title) }
}

struct DiskItem: FeedItem, PersistentEntity {
  var id: EntityIdentifier<DiskItem>
  var title: String

  init(_ id: EntityIdentifier<DiskItem>, _ title: String) { (self.id, self.title) = (id, title) }
}

struct MemoryItem: FeedItem {
  var id: EntityIdentifier<MemoryItem>
  var title: String

  init(_ id: EntityIdentifier<MemoryItem>, _ title: String) {
    (self.id, self.title) = (id, title)
  }
}

extension APIClientDouble {
  /// Answers a request for changes by its cursor, which is empty for all.
  ///
  /// What has no page is gone: 410.
  func pages(_ pages: [String: String]) {
    answer(.get, "/items/changes") { request in
      guard let json = pages[request.query.first?.value ?? ""] else {
        return APIResponse(status: 410)
      }
      return APIResponse(status: 200, body: Data(json.utf8))
    }
  }

  /// The targets of the requests, in order.
  var targets: [String] { requests.map { "\($0.method) \($0.target)" } }
}

extension CoreManager where E: FeedItem {
  /// What is here, as `1:title`, in order.
  var shown: [String] {
    get async throws {
      try await all().entities.map { "\($0.id.text):\($0.title)" }.sorted()
    }
  }
}

/// A server in this process that keeps a log of changes: delays, loses, forgets its log, and lets others
/// change its items, as chance wants it.
final class FeedServer: APIClient {
  struct State {
    var titles: [Int: String] = [:]
    /// The number of the last change of each item, of removed ones too.
    var changes: [Int: Int] = [:]
    var lastChange = 0
    /// Cursors before this change are not known any more.
    var oldest = 0
    var answers: [String: APIResponse] = [:]
    var nextID = 100
    var random: SeededGenerator
    var isCalm = false
    var expiryCount = 0

    mutating func set(_ id: Int, _ title: String?) {
      lastChange += 1
      changes[id] = lastChange
      titles[id] = title
    }

    /// What others do meanwhile.
    mutating func live() {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: set(Int.random(in: 1...8, using: &random), "theirs \(lastChange)")
      case 1:
        if let id = titles.keys.sorted().randomElement(using: &random) { set(id, nil) }
      case 2:
        nextID += 1
        set(nextID, "new \(nextID)")
      case 3 where Int.random(in: 0..<4, using: &random) == 0: oldest = lastChange
      default: break
      }
    }
  }

  let state: Locked<State>

  init(seed: UInt64) {
    var state = State(random: SeededGenerator(seed: seed))
    for id in 1...8 { state.set(id, "first") }
    self.state = Locked(state)
  }

  func send(_ request: APIRequest) async throws -> APIResponse {
    let (before, fault) = state.withLock { state in
      if state.isCalm { return (0, 9) }
      state.live()
      return (
        Int.random(in: 0..<20, using: &state.random), Int.random(in: 0..<16, using: &state.random)
      )
    }
    for _ in 0..<before { await Task.yield() }
    if fault == 0 { throw APIError(.connectionLost, request, "it never came") }
    let response = carryOut(request)
    state.withLock { if !$0.isCalm { $0.live() } }
    for _ in 0..<before { await Task.yield() }
    if fault == 1 { throw APIError(.connectionLost, request, "its answer never came") }
    return response
  }

  private func carryOut(_ request: APIRequest) -> APIResponse {
    let last = request.path.text.split(separator: "/").last.map(String.init) ?? ""
    let key = request.headers["Idempotency-Key"] ?? UUID().uuidString
    return state.withLock { state in
      if request.method == .get, last == "changes" {
        let parts = request.query.first?.value.split(separator: "-").compactMap { Int($0) } ?? []
        return parts.count == 1 ? Self.changes(parts[0], &state) : Self.all(parts, &state)
      }
      if request.method == .get {
        guard let id = Int(last), let title = state.titles[id] else {
          return APIResponse(status: 404)
        }
        return Self.ok(Self.json(id, title))
      }
      if let answer = state.answers[key] { return answer }
      let answer = Self.change(request, Int(last), &state)
      state.answers[key] = answer
      return answer
    }
  }

  private static func change(
    _ request: APIRequest, _ id: Int?, _ state: inout State
  ) -> APIResponse {
    if request.method == .delete {
      if let id, state.titles[id] != nil { state.set(id, nil) }
      return APIResponse(status: 204)
    }
    let body = try? TreeValue(json: String(decoding: request.body?.bytes ?? Data(), as: UTF8.self))
    guard let title = body?["title"]?.stringValue else { return APIResponse(status: 400) }
    if id == nil { state.nextID += 1 }
    let number = id ?? state.nextID
    state.set(number, title)
    return ok(json(number, title))
  }

  /// A page of all: behind an item, as of a change.
  private static func all(_ place: [Int], _ state: inout State) -> APIResponse {
    let (change, last) = place.count == 2 ? (place[0], place[1]) : (state.lastChange, 0)
    if change < state.oldest { return gone(&state) }
    let left = state.titles.filter { $0.key > last }.sorted { $0.key < $1.key }
    let page = left.prefix(3)
    return answer(
      page.map { json($0.key, $0.value) }, [],
      page.count < left.count ? "\(change)-\(page.last?.key ?? 0)" : "\(change)",
      page.count < left.count)
  }

  private static func changes(_ since: Int, _ state: inout State) -> APIResponse {
    if since < state.oldest { return gone(&state) }
    let changed = state.changes.filter { $0.value > since }.sorted { $0.value < $1.value }
    let page = changed.prefix(3)
    let hasMore = page.count < changed.count
    return answer(
      page.compactMap { entry in state.titles[entry.key].map { json(entry.key, $0) } },
      page.filter { state.titles[$0.key] == nil }.map { "\($0.key)" },
      "\(hasMore ? page.last?.value ?? 0 : state.lastChange)", hasMore)
  }

  private static func gone(_ state: inout State) -> APIResponse {
    state.expiryCount += 1
    return APIResponse(status: 410)
  }

  private static func answer(
    _ items: [String], _ deleted: [String], _ cursor: String, _ hasMore: Bool
  ) -> APIResponse {
    ok(
      #"{"items":[\#(items.joined(separator: ","))],"deleted":[\#(deleted.joined(separator: ","))],"#
        + #""cursor":"\#(cursor)","more":\#(hasMore)}"#)
  }

  private static func json(_ id: Int, _ title: String) -> String {
    #"{"id":\#(id),"title":"\#(title)"}"#
  }

  private static func ok(_ body: String) -> APIResponse {
    APIResponse(status: 200, body: Data(body.utf8))
  }
}
