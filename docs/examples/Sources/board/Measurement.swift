import MicroHTTP
import Pando

/// The questions of the service, each with how long its answer takes.
struct Measurement: Sendable {
  /// How often each is asked; the middle one counts.
  static let runCount = 21
  static let user = User.key(1)

  let service: BoardService

  /// One question.
  struct Question: Sendable {
    let title: String
    /// How the store finds the answer; `nil` where it is no query.
    let plan: (@Sendable (ModelSnapshot) throws -> QueryPlan)?
    let ask: @Sendable () async throws -> Void

    init(
      _ title: String, plan: (@Sendable (ModelSnapshot) throws -> QueryPlan)? = nil,
      _ ask: @escaping @Sendable () async throws -> Void
    ) {
      self.title = title
      self.plan = plan
      self.ask = ask
    }
  }

  /// All questions; those that change something change it back and forth.
  var questions: [Question] {
    let store = service.store
    let ofAda = IssueFilter(status: .open, author: Self.user)
    let pages: [(String, IssueFilter)] = [
      ("the open issues of Ada, newest 20", ofAda),
      ("the open issues assigned to Ada, newest 20", .init(status: .open, assignee: Self.user)),
      ("all issues of Ada, newest 20", .init(author: Self.user)),
      ("the open issues, newest 20", .init(status: .open)),
      ("all issues, newest 20", .init()),
      ("the open issues of a project, newest 20", .init(status: .open, project: Project.key(1))),
      ("the open issues with a label, newest 20", .init(status: .open, label: Label.key(2))),
    ]
    let counts: [(String, IssueFilter)] = [
      ("how many open issues Ada has", ofAda), ("how many are open", .init(status: .open)),
      ("how many have a label", .init(label: Label.key(2))),
    ]
    return pages.map { title, filter in
      Question(title, plan: { try $0.explain(filter.query(limit: 20)) }) {
        _ = try store.read { try $0.page(filter, limit: 20) }
      }
    }
      + counts.map { title, filter in
        Question(title, plan: { try $0.explain(.count, to: filter.query()) }) {
          _ = try store.read { try $0.count(filter) }
        }
      }
      + [
        Question(
          "how many have each status",
          plan: { try $0.explain(.count.grouped(by: \Issue.status), to: .all) }
        ) { _ = try store.read { try $0.countsByStatus() } },
        Question("an issue with its comments") {
          _ = try store.read { try $0.thread(7) }
        },
        Question("the board") { _ = try store.read { try $0.board() } },
        Question("GET /issues?status=open&author=1, as JSON") { try await request() },
        Question("a user gets another name") {
          try await store.update(Self.user) {
            $0.name = $0.name == "Ada" ? "Ada Lovelace" : "Ada"
          }
        },
        Question("a card moves to another column") {
          try await store.write { transaction in
            let columns = try transaction.snapshot.board()
            guard let card = columns[0].cards.last else { return }
            try transaction.move(card.key, to: Column.key(columns[1].id), at: 0)
          }
        },
        Question("eight issues change, by eight clients at once") {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
              group.addTask {
                try await store.update(Issue.key(number)) { $0.priority = 5 - $0.priority }
              }
            }
            try await group.waitForAll()
          }
        },
      ]
  }

  private func request() async throws {
    let query = [
      HTTPField(name: "status", value: "open"), HTTPField(name: "author", value: "1"),
    ]
    _ = try await service.answer(HTTPRequest(method: "GET", path: ["issues"], query: query))
  }

  /// Asks all of them, and says what it found.
  ///
  /// - Parameter say: Gets a line for each.
  /// - Throws: The error of a question.
  func run(_ say: (String) -> Void) async throws {
    let clock = ContinuousClock()
    for question in questions {
      var times: [Duration] = []
      for _ in 0..<Self.runCount {
        times.append(try await clock.measure { try await question.ask() })
      }
      let middle = times.sorted()[Self.runCount / 2].components
      let microseconds = middle.seconds * 1_000_000 + middle.attoseconds / 1_000_000_000_000
      let time = "\(microseconds) µs"
      let plan = try question.plan.map { plan in try service.store.read { try plan($0) } }
      let padding = String(repeating: " ", count: max(1, 12 - time.count))
      say("\(padding)\(time)  \(question.title)\(plan.map { "; \($0.access)" } ?? "")")
    }
  }
}
