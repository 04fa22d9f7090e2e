import Foundation
import MicroHTTP
import Pando

/// The service: a store, and the answers to its clients.
///
/// Any number of requests run at the same time. A read is one snapshot and waits for no change; a change is
/// one transaction, and those that queue share a flush.
final class BoardService: Sendable {
  let store: ModelStore
  /// Follows the columns that clients watch.
  private let live: DataModelManager

  /// Takes over a store, and makes the indexes that it lacks.
  ///
  /// - Parameter store: The store.
  /// - Throws: `StoreError` or `LMDBError` when an index can't be made.
  init(_ store: ModelStore) throws {
    self.store = store
    try store.addIndexes(of: [User.self, Issue.self])
    live = try DataModelManager(store: store)
  }

  /// Ends the requests that wait for a change; others go on.
  func endWatching() async { await live.close() }

  /// Closes the store.
  func close() async {
    await live.close()
    await store.close()
  }

  /// Answers a request; an ``HTTPError`` is an answer too.
  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    do {
      let path = request.path
      switch (path.first, path.count, path.last) {
      case (nil, 0, _): return try await answer(request, ["GET": { _ in .init(Self.routes) }])
      case ("issues", 1, _):
        return try await answer(request, ["GET": issues, "POST": addIssue])
      case ("issues", 2, "count"): return try await answer(request, ["GET": countIssues])
      case ("issues", 2, _):
        return try await answer(
          request, ["GET": issue, "PATCH": changeIssue, "DELETE": deleteIssue])
      case ("issues", 3, "comments"): return try await answer(request, ["POST": addComment])
      case ("users", 1, _): return try await answer(request, ["POST": addUser])
      case ("users", 2, _):
        return try await answer(request, ["GET": user, "PATCH": changeUser, "DELETE": deleteUser])
      case ("board", 1, _): return try await answer(request, ["GET": board])
      case ("columns", 3, "move"): return try await answer(request, ["POST": move])
      case ("columns", 3, "watch"): return try await answer(request, ["GET": watch])
      case ("stats", 1, _): return try await answer(request, ["GET": stats])
      default: throw HTTPError(404, "there is nothing here; GET / lists what there is")
      }
    } catch let error as StoreError {
      throw HTTPError(error) ?? error
    } catch let error as DataProviderError where error.code == .closed {
      throw HTTPError(503, "the service is ending")
    }
  }

  private static let routes = [
    "GET /issues?status=&project=&author=&assignee=&label=&after=&limit=",
    "GET /issues/count?status=&project=&author=&assignee=&label=", "POST /issues",
    "GET /issues/ID", "PATCH /issues/ID", "DELETE /issues/ID", "POST /issues/ID/comments",
    "POST /users", "GET /users/ID", "PATCH /users/ID", "DELETE /users/ID", "GET /board",
    "POST /columns/ID/move", "GET /columns/ID/watch?seen=", "GET /stats",
  ]

  private typealias Handler = (HTTPRequest) async throws -> HTTPResponse

  private func answer(
    _ request: HTTPRequest, _ handlers: [String: Handler]
  ) async throws -> HTTPResponse {
    let method = request.method == "HEAD" ? "GET" : request.method
    if let handler = handlers[method] { return try await handler(request) }
    throw HTTPError(
      405, "\(request.method) is not for this path",
      allowed: handlers.keys.sorted().joined(separator: ", "))
  }
}

/// Issues.
extension BoardService {
  private func issues(_ request: HTTPRequest) async throws -> HTTPResponse {
    try request.allow("status", "project", "author", "assignee", "label", "after", "limit")
    let filter = try request.filter
    let last = try request.number("after")
    let limit = try request.number("limit", in: 1...100) ?? 20
    return HTTPResponse(
      try await store.read { try $0.page(filter, after: last, limit: limit) })
  }

  private func countIssues(_ request: HTTPRequest) async throws -> HTTPResponse {
    try request.allow("status", "project", "author", "assignee", "label")
    let filter = try request.filter
    return HTTPResponse(["count": try await store.read { try $0.count(filter) }])
  }

  private func issue(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await response(request.number)
  }

  /// An issue with its comments; its tag is for `If-Match`.
  private func response(_ number: Int, status: Int = 200) async throws -> HTTPResponse {
    guard let thread = try await store.read({ try $0.thread(number) }) else {
      throw HTTPError.missing(Issue.key(number))
    }
    var response = HTTPResponse(thread, status: status)
    response.fields = [HTTPField(name: "ETag", value: "\"\(thread.commit)\"")]
    return response
  }

  private func addIssue(_ request: HTTPRequest) async throws -> HTTPResponse {
    let issue = try request.decoded(as: NewIssue.self)
    return try await response(store.write { try $0.add(issue, at: Self.now) }, status: 201)
  }

  private func changeIssue(_ request: HTTPRequest) async throws -> HTTPResponse {
    let number = try request.number
    let key = Issue.key(number)
    let patch = try request.decoded(as: IssuePatch.self)
    if let commit = try request.expectedCommit {
      try await store.write(expecting: [key.rawValue: commit]) { try $0.change(key, patch) }
    } else {
      try await store.write { try $0.change(key, patch) }
    }
    return try await response(number)
  }

  private func deleteIssue(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await delete(Issue.key(request.number))
  }

  private func delete<M>(_ key: Key<M>) async throws -> HTTPResponse {
    HTTPResponse(["deleted": try await store.write { try $0.delete(key).deleted }])
  }

  private func addComment(_ request: HTTPRequest) async throws -> HTTPResponse {
    let number = try request.number
    let comment = try request.decoded(as: NewComment.self)
    try await store.write { try $0.comment(on: number, comment, at: Self.now) }
    return try await response(number, status: 201)
  }

  private func stats(_ request: HTTPRequest) async throws -> HTTPResponse {
    HTTPResponse(["byStatus": try await store.read { try $0.countsByStatus() }])
  }

  private static var now: Int { Int(Date().timeIntervalSince1970) }
}

/// Users.
extension BoardService {
  private func user(_ request: HTTPRequest) async throws -> HTTPResponse {
    let key = User.key(try request.number)
    guard let user = try await store.get(key) else { throw HTTPError.missing(key) }
    return HTTPResponse(user)
  }

  private func addUser(_ request: HTTPRequest) async throws -> HTTPResponse {
    let user = try request.decoded(as: NewUser.self)
    return HTTPResponse(try await store.write { try $0.add(user) }, status: 201)
  }

  /// One record is written, and every issue, comment and card shows it.
  private func changeUser(_ request: HTTPRequest) async throws -> HTTPResponse {
    let patch = try request.decoded(as: UserPatch.self)
    let user = try await store.update(User.key(request.number)) { user in
      if let name = patch.name { user.name = name }
      if let email = patch.email { user.email = email }
    }
    return HTTPResponse(user)
  }

  /// A user who has to do with an issue stays; the answer names some of those who hold her.
  private func deleteUser(_ request: HTTPRequest) async throws -> HTTPResponse {
    let key = User.key(try request.number)
    do {
      return try await delete(key)
    } catch let error as StoreError where error.code == .restricted {
      let holders = try await store.read { try $0.parents(of: key) }
      return HTTPResponse(
        Refusal(error: "\(error)", holders: Array(holders.prefix(Self.holderMaximum))), status: 409)
    }
  }

  /// How many of those who hold a user are named.
  private static let holderMaximum = 10
}

/// Why something was not deleted.
private struct Refusal: Encodable {
  let error: String
  let holders: [String]
}

/// The board.
extension BoardService {
  private func board(_ request: HTTPRequest) async throws -> HTTPResponse {
    HTTPResponse(try await store.read { try $0.board() })
  }

  /// The card is in one column, before and after; no reader sees it in both or in none.
  private func move(_ request: HTTPRequest) async throws -> HTTPResponse {
    let column = Column.key(try request.number)
    let move = try request.decoded(as: Move.self)
    try await store.write { try $0.move(IssueCard.key(move.card), to: column, at: move.at) }
    return try await board(request)
  }

  /// Waits until a column shows something else than the client has seen, or for a while.
  private func watch(_ request: HTTPRequest) async throws -> HTTPResponse {
    try request.allow("seen")
    let key = Column.key(try request.number)
    let seen = request.query.first { $0.name == "seen" }?.value
    guard let column = try await store.get(key) else { throw HTTPError.missing(key) }
    return HTTPResponse(try await ColumnWatch(column, live).next(after: seen))
  }
}
