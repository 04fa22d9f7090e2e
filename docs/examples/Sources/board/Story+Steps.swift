import Foundation
import MicroHTTP
import Pando

/// The steps of the story.
extension Story {
  /// Questions: pages, counts, and how the store finds the answers.
  func ask() async throws {
    log.step("A store is made, and asked")
    try Self.data.make(in: service.store)
    let counts = try service.store.statistics().recordCounts
    try log.tell(
      ["Issue", "Comment", "User"].map { "\(counts[$0] ?? 0) \($0)s" }.joined(separator: ", "),
      "2000 Issues, 4118 Comments, 100 Users")
    try await tell("GET /stats", expecting: "200  1209 closed, 597 open, 194 waiting") {
      (stats: [String: [String: Int]]) in
      (stats["byStatus"] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        .joined(separator: ", ")
    }
    try await tell(
      "GET /issues/count?status=open&author=1", expecting: "200  58 are open and Ada's"
    ) { (answer: [String: Int]) in
      "\(answer["count"] ?? 0) are open and Ada's"
    }
    try await tell(
      "GET /issues?status=open&author=1&limit=2",
      expecting:
        "200  1957 The cache waits too long (Ada Lovelace); "
        + "1877 A cursor waits too long (Ada Lovelace); next after 1877",
      Self.page)
    try await tell(
      "GET /issues?status=open&author=1&limit=2&after=1877",
      expecting:
        "200  1867 The writer is not documented (Ada Lovelace); "
        + "1863 The list is slow on large stores (Ada Lovelace); next after 1863",
      Self.page)
    let ofAda = IssueFilter(status: .open, author: User.key(1))
    try log.tell(
      "\(await service.store.read { try $0.explain(ofAda.query(limit: 2)) })",
      "Issue: index on author, status, id, in order (2000 in all)")
  }

  /// Edits: a name that is everywhere, edits that meet, and one that is refused.
  func edit() async throws {
    log.step("Ada gets another name: one record is written, and all that holds her shows it")
    let before = try await service.store.read { try $0.commitNumber }
    try await tell("PATCH /users/1", body: #"{"name": "Ada King"}"#, expecting: "200  Ada King") {
      (answer: User) in answer.name
    }
    let changes = try await service.store.read { try $0.changes(since: before) }
    try log.tell("updated \(changes.flatMap(\.updated).joined(separator: ", "))", "updated User:1")
    try await tell(
      "GET /issues?author=1&limit=1",
      expecting: "200  1998 The cache is not documented (Ada King); next after 1998", Self.page)

    log.step("Two people edit one issue at the same time: nothing of it is lost")
    try await tell(
      "GET /issues/1957",
      expecting: "200  The cache waits too long, open, Ken Hopper, 2 comments", Self.thread)
    let service = service
    async let one = service.send("PATCH /issues/1957", #"{"title": "Crash at start"}"#)
    async let other = service.send(
      "PATCH /issues/1957", #"{"status": "closed", "assignee": null}"#)
    _ = try await (one, other)
    try await tell(
      "GET /issues/1957", expecting: "200  Crash at start, closed, unassigned, 2 comments",
      Self.thread)

    log.step("A third one says what she has seen: it has changed, and she gets an error")
    let seen = try await service.send("GET /issues/1957").fields.first { $0.name == "ETag" }?.value
    try await tell(
      "POST /issues/1957/comments", body: #"{"author": 2, "text": "Still there."}"#,
      expecting: "201  Crash at start, closed, unassigned, 3 comments", Self.thread)
    try await tell(
      "PATCH /issues/1957", body: #"{"status": "open"}"#, ifMatch: seen,
      expecting:
        "412  Issue:1957: commit 7 was expected to be its last, but commit 8 has changed it",
      Self.thread)
  }

  /// The board: a list of cards, and who watches it.
  func move() async throws {
    log.step("A card moves while a client watches the column: one commit, and the client gets it")
    let first = try await service.send("GET /columns/2/watch")
    let seen = try JSONDecoder().decode(WatchedColumn.self, from: Data(first.body))
    let service = service
    async let watched = service.send("GET /columns/2/watch?seen=\(seen.tag)")
    try await tell(
      "POST /columns/2/move", body: #"{"card": 2000, "at": 0}"#,
      expecting: "200  Next 49, Doing 51, Review 50, Shipped 50", Self.board)
    let told = try await JSONDecoder().decode(WatchedColumn.self, from: Data(watched.body))
    try log.tell(
      "the watcher sees \(told.column.cards.count) cards, first \(told.column.cards[0].key)",
      "the watcher sees 51 cards, first Issue:2000")
    try await tell(
      "PATCH /issues/2000", body: #"{"title": "The board is slow"}"#,
      expecting: "200  The board is slow, open, unassigned, 0 comments", Self.thread)
    try await tell("GET /board", expecting: "200  Doing: The board is slow") {
      (answer: [ColumnContent]) in "\(answer[1].name): \(answer[1].cards[0].title)"
    }
  }

  /// Deletes: what is held stays, what is owned goes.
  func delete() async throws {
    log.step("A user of an issue can't be deleted; an issue takes its comments with it")
    try await tell(
      "DELETE /users/1",
      expecting:
        "409  User:1: can't be deleted: Issue:15 holds it as author, and 712 more do; "
        + "delete or change them first"
    ) { (answer: [String: [String]]) in "\(answer)" }
    try await tell(
      "DELETE /issues/1957", expecting: "200  Issue:1957, Comment:7825, Comment:7826, Comment:8001"
    ) { (answer: [String: [String]]) in (answer["deleted"] ?? []).joined(separator: ", ") }
    try await tell(
      "GET /board", expecting: "200  Next 49, Doing 51, Review 50, Shipped 49", Self.board)
    try await tell(
      "POST /users", body: #"{"name": "Margaret", "email": "user1@example.org"}"#,
      expecting:
        #"409  User:101: email of a User is unique, and "user1@example.org" is that of User:1; "#
        + "nothing of the write is kept"
    ) { (answer: User) in answer.name }
    try await tell("GET /issues/1957", expecting: "404  there is no Issue:1957", Self.thread)
  }

  private static func board(_ columns: [ColumnContent]) -> String {
    columns.map { "\($0.name) \($0.cards.count)" }.joined(separator: ", ")
  }

  private static func page(_ page: IssuePage) -> String {
    page.issues.map { "\($0.id) \($0.title) (\($0.author.name))" }.joined(separator: "; ")
      + (page.next.map { "; next after \($0)" } ?? "")
  }

  private static func thread(_ thread: IssueThread) -> String {
    let issue = thread.issue
    return "\(issue.title), \(issue.status.rawValue), \(issue.assignee?.name ?? "unassigned"), "
      + "\(thread.comments.count) comments"
  }
}
