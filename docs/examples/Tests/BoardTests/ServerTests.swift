import Foundation
import FoundationNetworking
import Pando
import PandoFixtures
import ServiceFixtures
import Testing

@testable import board

/// The effect of many clients at once, over the network.
@Suite struct ServerTests {
  @Test func `of eight changes at once to different fields of two issues none is lost`()
    async throws
  {
    try await withServer { server in
      for round in 1...10 {
        let changes = [10, 11].flatMap { issue in
          [
            (issue, #"{"title":"Title \#(round)"}"#), (issue, #"{"priority":\#(round)}"#),
            (issue, #"{"status":"\#(round % 2 == 0 ? "open" : "closed")"}"#),
            (issue, #"{"assignee":\#(round)}"#),
          ]
        }
        try await withThrowingTaskGroup(of: String.self) { group in
          for (issue, change) in changes {
            group.addTask { try await server.ask("PATCH", "/issues/\(issue)", change) }
          }
          for try await answer in group { #expect(answer.hasPrefix("200 "), "\(answer)") }
        }
        for number in [10, 11] {
          let issue = try await server.ask("/issues/\(number)", as: IssueThread.self).issue
          #expect(issue.title == "Title \(round)" && issue.priority == round)
          #expect(issue.status == (round % 2 == 0 ? .open : .closed))
          #expect(issue.assignee == data.user(round))
        }
      }
    }
  }

  @Test func `of eight changes that expect one version one wins, and the others get an error`()
    async throws
  {
    try await withServer { server in
      for _ in 1...5 {
        let (head, _) = try await server.response("GET", "/issues/7")
        let tag = try #require(head.value(forHTTPHeaderField: "ETag"))
        let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
          for client in 1...8 {
            group.addTask {
              let answer = try await server.ask(
                "PATCH", "/issues/7",
                #"{"title":"Of \#(client), after \#(tag.filter(\.isNumber))"}"#,
                fields: ["If-Match": tag])
              return (client, answer)
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        let winners = answers.filter { $0.1.hasPrefix("200 ") }.map(\.0)
        #expect(winners.count == 1)
        #expect(answers.count { $0.1.hasPrefix("412 ") && $0.1.contains("has changed it") } == 7)
        let title = try await server.ask("/issues/7", as: IssueThread.self).issue.title
        #expect(winners.map { "Of \($0), after \(tag.filter(\.isNumber))" } == [title])
      }
    }
  }

  @Test func `a card that moves is in one column for every reader`() async throws {
    try await withServer { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        let isDone = Locked()
        for _ in 0..<3 {
          group.addTask {
            repeat {
              let board: [ColumnContent] = try await server.ask("/board")
              let cards = board.flatMap(\.cards).map(\.id)
              #expect(cards.count == data.cardCount && Set(cards).count == data.cardCount)
            } while !isDone.isSet
          }
        }
        for step in 0..<40 {
          let at = step % 3 == 0 ? "" : #","at":\#(step % 3)"#
          let answer = try await server.ask(
            "POST", "/columns/\(step % 4 + 1)/move", #"{"card":2000\#(at)}"#)
          #expect(answer.hasPrefix("200 "), "\(answer)")
        }
        isDone.set()
        try await group.waitForAll()
      }
    }
  }

  @Test func `a watching client is notified of a move, of an issue and of a user`() async throws {
    try await withServer { server in
      var seen = try await server.ask("/columns/1/watch", as: WatchedColumn.self)
      #expect(seen.column == ColumnContent(data.column(1), data.cards(ofColumn: 1)))
      let assignee = try #require(seen.column.cards.lazy.compactMap(\.assignee).first)
      for (method, path, body) in [
        ("POST", "/columns/1/move", #"{"card":1999,"at":0}"#),
        ("PATCH", "/issues/1999", #"{"title":"Seen at once"}"#),
        ("PATCH", "/users/\(assignee.id)", #"{"name":"Another"}"#),
        ("DELETE", "/issues/1999", ""),
      ] {
        let watched = "/columns/1/watch?seen=\(seen.tag)"
        async let next = server.ask(watched, as: WatchedColumn.self)
        #expect(try await server.ask(method, path, body).hasPrefix("200 "))
        let told = try await next
        #expect(told.column != seen.column)
        let board: [ColumnContent] = try await server.ask("/board")
        #expect(told.column == board[0])
        seen = told
      }
    }
  }

  @Test func `a service that ends answers a watching client, and has stored the new issue`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      try await makeBoard(in: directory)
      let server = try await ServiceProcess(store: directory)
      let seen = try await server.ask("/columns/1/watch", as: WatchedColumn.self)
      let watch = Task {
        try await server.response("GET", "/columns/1/watch?seen=\(seen.tag)")
      }
      let made = try await server.ask(
        "POST", "/issues", #"{"title":"The last one","project":1,"author":2}"#)
      #expect(made.hasPrefix("201 "))
      #expect(await server.terminate() == 0)
      // It may have come when the service was ending, or too late to be answered at all.
      if let (response, content) = try? await watch.value, response.statusCode != 503 {
        let last = try JSONDecoder().decode(WatchedColumn.self, from: Data(content.utf8))
        #expect(response.statusCode == 200 && last.tag == seen.tag)
      }
      let next = try await ServiceProcess(store: directory)
      let page = try await next.ask("/issues?limit=1", as: IssuePage.self)
      #expect(page.issues.map(\.title) == ["The last one"])
      #expect(await next.terminate() == 0)
    }
  }

  @Test func `two processes on one store show each other's changes`() async throws {
    try await withTemporaryDirectory { directory in
      try await makeBoard(in: directory)
      let one = try await ServiceProcess(store: directory)
      let other = try await ServiceProcess(store: directory)
      let seen = try await one.ask("/columns/3/watch", as: WatchedColumn.self)
      async let next = one.ask("/columns/3/watch?seen=\(seen.tag)", as: WatchedColumn.self)
      let answer = try await other.ask("POST", "/columns/3/move", #"{"card":1,"at":0}"#)
      #expect(answer.hasPrefix("200 "))
      #expect(try await next.column.cards.first?.id == 1)
      #expect(await other.terminate() == 0)
      #expect(await one.terminate() == 0)
    }
  }
}

/// Something that happens once.
private final class Locked: @unchecked Sendable {
  // Sendable because the flag is used under the lock only.
  private let lock = NSLock()
  private var flag = false

  var isSet: Bool { lock.withLock { flag } }

  func set() { lock.withLock { flag = true } }
}
