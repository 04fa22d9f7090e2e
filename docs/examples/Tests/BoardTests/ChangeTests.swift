import MicroHTTP
import Pando
import Testing

@testable import board

@Suite struct ChangeTests {
  @Test func `a user with another name has it in every issue, comment and card`() async throws {
    try await withBoard { service in
      let before = try await service.store.read { try $0.commitNumber }
      _ = try await service.ask("PATCH /users/1", #"{"name":"Ada King"}"#, as: User.self)
      let changes = try await service.store.read { try $0.changes(since: before) }
      #expect(changes.flatMap(\.updated) == ["User:1"])
      var king = data.user(1)
      king.name = "Ada King"
      let shown = try await service.store.read { snapshot in
        var users: [User?] = []
        for issue in try snapshot.page(IssueFilter(), limit: data.issueCount).issues {
          users += [issue.author, issue.assignee]
          users += try snapshot.thread(issue.id)?.comments.map(\.author) ?? []
        }
        return users + (try snapshot.board().flatMap(\.cards).map(\.assignee))
      }
      let places = shown.filter { $0?.id == king.id }
      #expect(places.allSatisfy { $0 == king })
      #expect(places.count > 500)
    }
  }

  @Test func `a new issue is the newest of its author, and what is said of it stays with it`()
    async throws
  {
    try await withBoard { service in
      let made: IssueThread = try await service.ask(
        "POST /issues",
        #"{"title":"No page 404","project":2,"author":1,"assignee":3,"labels":[1,2]}"#)
      #expect(made.issue.id == 2_001 && made.comments.isEmpty)
      #expect(made.issue.labels.map(\.name) == ["bug", "crash"])
      let page: IssuePage = try await service.ask("GET /issues?status=open&author=1&limit=1")
      #expect(page.issues == [made.issue])
      let assigned: IssuePage = try await service.ask("GET /issues?assignee=3&limit=1")
      #expect(assigned.issues == [made.issue])
      let said: IssueThread = try await service.ask(
        "POST /issues/2001/comments", #"{"text":"Me too.","author":4}"#)
      #expect(said.comments.map(\.text) == ["Me too."] && said.commit > made.commit)
      let closed: IssueThread = try await service.ask(
        "PATCH /issues/2001", #"{"status":"closed","assignee":null}"#)
      #expect(closed.issue.assignee == nil && closed.comments == said.comments)
      #expect(
        try await service.store.read { try $0.count(.init(assignee: User.key(3))) }
          == allIssues.count { $0.assignee?.id == 3 })
    }
  }

  @Test func `an issue takes its comments and its card with it, and nothing else`() async throws {
    try await withBoard { service in
      let comments = data.comments(onIssue: 1_999).map(\.modelIdentifier)
      #expect(comments.count == 4)
      let before = try service.store.statistics()
      let answer: [String: [String]] = try await service.ask("DELETE /issues/1999")
      #expect(Set(answer["deleted"] ?? []) == Set(["Issue:1999"] + comments))
      let after = try service.store.statistics()
      #expect(after.recordCounts["Comment"] == (before.recordCounts["Comment"] ?? 0) - 4)
      #expect(after.nodeCount == before.nodeCount - 5)
      let board: [ColumnContent] = try await service.ask("GET /board")
      #expect(board.map(\.cards.count).reduce(0, +) == data.cardCount - 1)
      #expect(try service.store.verify().isClean)
    }
  }

  @Test func `a user of an issue can't be deleted, and others can`()
    async throws
  {
    try await withBoard { service in
      let user: User = try await service.ask(
        "POST /users", #"{"name":"M","email":"m@example.org"}"#)
      let path = "/users/\(user.id)"
      let number = user.id
      for (change, undo) in [
        (
          ("POST /issues", #"{"title":"A","project":1,"author":\#(number)}"#),
          ("DELETE /issues/2001", "")
        ),
        (
          ("PATCH /issues/5", #"{"assignee":\#(number)}"#),
          ("PATCH /issues/5", #"{"assignee":null}"#)
        ),
        (
          ("POST /issues/6/comments", #"{"text":"A","author":\#(number)}"#),
          ("DELETE /issues/6", "")
        ),
      ] {
        #expect(try await service.send(change.0, change.1).status < 300)
        let refused = try await service.send("DELETE \(path)")
        let body = String(decoding: refused.body, as: UTF8.self)
        #expect(refused.status == 409 && body.contains("holds it as a"), "\(body)")
        #expect(body.contains(#""holders":[""#), "\(body)")
        #expect(try await service.send(undo.0, undo.1).status == 200)
      }
      #expect(try await service.send("DELETE \(path)").status == 200)
      #expect(try await service.send("DELETE \(path)").status == 404)
    }
  }

  @Test func `when the service ends, waiting clients get an answer, and the rest is answered`()
    async throws
  {
    try await withBoard { service in
      let seen: WatchedColumn = try await service.ask("GET /columns/1/watch")
      let path = "GET /columns/1/watch?seen=\(seen.tag)"
      async let watched = service.send(path)
      await service.endWatching()
      // Which one it is depends on who was first.
      #expect(try await [200, 503].contains(watched.status))
      #expect(try await service.send(path).status == 503)
      #expect(try await service.send("PATCH /issues/7", #"{"priority":1}"#).status == 200)
    }
  }

  @Test func `a request that fails changes nothing, and the answer says why`() async throws {
    try await withBoard { service in
      let before = try await service.store.read { try $0.commitNumber }
      for (request, body, status, reason) in [
        ("GET /nothing", "", 404, "there is nothing here; GET / lists what there is"),
        ("GET /issues/2001", "", 404, "there is no Issue:2001"),
        ("GET /issues/first", "", 404, "“first” is no number"),
        ("GET /issues?status=done", "", 400, "status=done: there is open, waiting, closed"),
        ("GET /issues?autor=1", "", 400, "“autor” is not asked for here; there is status,"),
        (
          "GET /issues?limit=1000", "", 400,
          "limit=1000: it is a number, at least 1 and at most 100"
        ),
        ("GET /issues?after=x", "", 400, "after=x: it is a number, at least 1"),
        ("PUT /issues/7", "{}", 405, "PUT is not for this path"),
        ("PATCH /issues/7", "{", 400, "the content is not JSON"),
        ("PATCH /issues/7", #"{"status":"done"}"#, 400, "status can't be read"),
        ("PATCH /issues/7", #"{"title":"A","assignee":1000}"#, 404, "there is no User:1000"),
        ("PATCH /issues/2001", #"{"title":"A"}"#, 404, "there is no Issue:2001"),
        ("DELETE /issues/2001", "", 404, "there is no Issue:2001"),
        ("POST /issues", #"{"title":"A"}"#, 400, "project is missing"),
        ("POST /issues", #"{"title":"A","project":9,"author":1}"#, 404, "there is no Project:9"),
        ("POST /issues/7/comments", #"{"text":"A","author":1000}"#, 404, "there is no User:1000"),
        ("PATCH /users/2", #"{"email":"user1@example.org"}"#, 409, "User:2: email of a User"),
        ("PATCH /users/1000", #"{"name":"A"}"#, 404, "there is no User:1000"),
        ("POST /columns/5/move", #"{"card":2000}"#, 404, "there is no Column:5"),
        ("POST /columns/2/move", #"{"card":2001}"#, 404, "there is no Issue:2001"),
        ("POST /columns/2/move", #"{"card":2000,"at":51}"#, 400, "Column:2: "),
        ("GET /columns/5/watch", "", 404, "there is no Column:5"),
      ] {
        let response = try await service.send(request, body)
        let content = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == status, "\(request): \(content)")
        #expect(content.hasPrefix(#"{"error":"\#(reason)"#), "\(request): \(content)")
      }
      #expect(try await service.store.read { try $0.commitNumber } == before)
    }
  }
}
