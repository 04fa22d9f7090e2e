import MicroHTTP
import Pando
import Testing

@testable import board

// Testing has one, too.
private typealias Issue = board.Issue

@Suite struct QuestionTests {
  /// A question as clients ask it, and whether an issue is one of those that are asked for.
  private struct Asked: Sendable {
    let text: String
    let matches: @Sendable (Issue) -> Bool

    init(_ text: String, _ matches: @escaping @Sendable (Issue) -> Bool) {
      self.text = text
      self.matches = matches
    }
  }

  private static let ada = 1
  private static let questions: [Asked] = [
    Asked("") { _ in true },
    Asked("&status=open") { $0.status == .open },
    Asked("&author=1") { $0.author.id == ada },
    Asked("&status=open&author=1") { $0.status == .open && $0.author.id == ada },
    Asked("&author=1&status=waiting") { $0.status == .waiting && $0.author.id == ada },
    Asked("&assignee=2&status=open") { $0.status == .open && $0.assignee == data.user(2) },
    Asked("&project=3") { $0.project == Project.key(3) },
    Asked("&project=3&author=1") { $0.project == Project.key(3) && $0.author.id == ada },
    Asked("&label=4") { $0.labels.contains(data.label(4)) },
    Asked("&label=4&status=open&author=1") {
      $0.status == .open && $0.author.id == ada && $0.labels.contains(data.label(4))
    },
    Asked("&author=100&assignee=99&status=open&label=1") { _ in false },
  ]

  @Test func `pages give all issues that are asked for, newest first, and counts count them`()
    async throws
  {
    try await withBoard { service in
      for asked in Self.questions {
        let question = asked.text
        let expected = allIssues.filter(asked.matches)
        var found: [Issue] = []
        var after = ""
        while true {
          let page: IssuePage = try await service.ask("GET /issues?limit=20\(question)\(after)")
          found += page.issues
          #expect(page.issues.count == 20 || page.next == nil)
          guard let next = page.next else { break }
          after = "&after=\(next)"
        }
        #expect(found == expected, "\(question)")
        let count: [String: Int] = try await service.ask(
          "GET /issues/count?\(question.dropFirst())")
        #expect(count == ["count": expected.count], "\(question)")
      }
    }
  }

  @Test func `a page goes on behind an issue that has been deleted meanwhile`() async throws {
    try await withBoard { service in
      let first: IssuePage = try await service.ask("GET /issues?author=1&limit=3")
      let last = try #require(first.next)
      _ = try await service.ask("DELETE /issues/\(last)", as: [String: [String]].self)
      let second: IssuePage = try await service.ask("GET /issues?author=1&after=\(last)")
      let ofAda = allIssues.filter { $0.author.id == Self.ada }
      #expect(first.issues + second.issues == Array(ofAda.prefix(23)))
    }
  }

  @Test func `an index answers what is asked most`() async throws {
    try await withBoard { service in
      var plans: [String: QueryPlan] = [:]
      for question in Measurement(service: service).questions {
        plans[question.title] = try question.plan.map { plan in try service.store.read(plan) }
      }
      #expect(
        plans.mapValues { "\($0.access)" } == [
          "the open issues of Ada, newest 20": "index on author, status, id, in order",
          "the open issues assigned to Ada, newest 20":
            "index on assignee, status, id, in order",
          "all issues of Ada, newest 20": "index on id, in order",
          "the open issues, newest 20": "index on status, id, in order",
          "all issues, newest 20": "index on id, in order",
          "the open issues of a project, newest 20": "index on project, status, id, in order",
          "the open issues with a label, newest 20": "index on labels[], status, id, in order",
          "how many open issues Ada has": "index on author, status, id",
          "how many are open": "index on status, id",
          "how many have a label": "index on labels[], status, id",
          "how many have each status": "index on status, id, in order",
        ])
      for title in [
        "how many open issues Ada has", "how many are open", "how many have each status",
      ] {
        #expect(plans[title]?.reading == .indexRows, "\(title)")
      }
    }
  }

  @Test func `statistics, threads and columns are those of the data`() async throws {
    try await withBoard { service in
      let stats: [String: [String: Int]] = try await service.ask("GET /stats")
      let counts = Dictionary(grouping: allIssues) { $0.status.rawValue }.mapValues(\.count)
      #expect(stats == ["byStatus": counts])
      for number in [1, 7, 1_000, 2_000] {
        let thread: IssueThread = try await service.ask("GET /issues/\(number)")
        #expect(thread.issue == data.issue(number))
        #expect(thread.comments == data.comments(onIssue: number))
      }
      let board: [ColumnContent] = try await service.ask("GET /board")
      let columns = (1...data.columnCount).map {
        ColumnContent(data.column($0), data.cards(ofColumn: $0))
      }
      #expect(board == columns)
      #expect(board.map(\.cards.count) == [50, 50, 50, 50])
    }
  }
}
