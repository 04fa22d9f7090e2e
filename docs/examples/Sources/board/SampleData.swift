import Pando

/// The data of a board, made up: the same for the same size, piece by piece, in whatever order.
struct SampleData: Sendable {
  let issueCount: Int

  /// A few of them make most of the issues; number 1, Ada, makes most.
  var userCount: Int { max(20, issueCount / 20) }
  let labelCount = 12
  let projectCount = 8
  let columnCount = 4
  /// How many cards are on the board: of the newest issues.
  var cardCount: Int { min(200, issueCount / 10) }

  /// The user with a number from 1.
  func user(_ number: Int) -> User {
    let first = Self.firstNames[(number - 1) % Self.firstNames.count]
    let last = Self.lastNames[(number - 1) / Self.firstNames.count % Self.lastNames.count]
    return User(
      id: number, name: "\(first) \(last)", email: "user\(number)@example.org")
  }

  /// The label with a number from 1.
  func label(_ number: Int) -> Label {
    Label(id: number, name: Self.labelNames[number - 1])
  }

  /// The project with a number from 1.
  func project(_ number: Int) -> Project {
    Project(id: number, name: Self.projectNames[number - 1])
  }

  /// The column with a number from 1.
  func column(_ number: Int) -> Column {
    Column(id: number, name: ["Next", "Doing", "Review", "Shipped"][number - 1])
  }

  /// The issue with a number from 1; the highest one is the newest.
  func issue(_ number: Int) -> Issue {
    var random = Randomness(issue: number)
    let part = Self.parts[random.number(below: Self.parts.count)]
    let trouble = Self.troubles[random.number(below: Self.troubles.count)]
    let label = random.number(below: labelCount) + 1
    let labels = [label, label % labelCount + 1].prefix(random.number(below: 3))
    let dice = random.number(below: 10)
    return Issue(
      id: number, title: "\(part) \(trouble)",
      status: dice < 3 ? .open : dice == 3 ? .waiting : .closed,
      priority: random.number(below: 4) + 1, created: 1_700_000_000 + number * 60,
      project: Project.key(random.number(below: projectCount) + 1), author: user(person(&random)),
      assignee: random.number(below: 3) == 0 ? nil : user(person(&random)),
      labels: labels.map(self.label))
  }

  /// The comments on an issue: two on average.
  func comments(onIssue number: Int) -> [Comment] {
    var random = Randomness(issue: number)
    random.skip(100)
    return (0..<random.number(below: 5)).map { index in
      Comment(
        id: (number - 1) * 4 + index + 1,
        text: Self.remarks[random.number(below: Self.remarks.count)],
        created: 1_700_000_000 + number * 60 + index * 600, author: user(person(&random)))
    }
  }

  /// The cards of a column, from the top: the newest issues, in turns.
  func cards(ofColumn number: Int) -> [IssueCard] {
    (0..<cardCount).filter { $0 % columnCount == number - 1 }.map { index in
      let issue = issue(issueCount - index)
      return IssueCard(
        id: issueCount - index, title: issue.title, status: issue.status,
        assignee: issue.assignee)
    }
  }

  /// Low numbers are more frequent than high ones.
  private func person(_ random: inout Randomness) -> Int {
    let share = Double(random.number(below: 1 << 20)) / Double(1 << 20)
    return Int(share * share * Double(userCount)) + 1
  }

  private static let firstNames = [
    "Ada", "Grace", "Alan", "Linus", "Barbara", "Edsger", "Frances", "Ken", "Radia", "Tony",
  ]
  private static let lastNames = ["Lovelace", "Hopper", "Turing", "Liskov", "Dijkstra", "Allen"]
  private static let labelNames = [
    "bug", "crash", "slow", "docs", "build", "linux", "format", "idea", "question", "test",
    "error", "release",
  ]
  private static let projectNames = [
    "store", "engine", "models", "managers", "command", "examples", "benchmarks", "website",
  ]
  private static let parts = [
    "The reader", "An index", "The writer", "A cursor", "The list", "The cache", "A migration",
  ]
  private static let troubles = [
    "waits too long", "is not documented", "loses a row", "prints too much",
    "can't be closed twice", "is slow on large stores", "has no example",
  ]
  private static let remarks = [
    "I can see it too.", "Not on my machine.", "Which version?", "Fixed in the next one.",
  ]
}

/// Numbers that look random and are the same for the same issue (SplitMix64).
private struct Randomness {
  private var state: UInt64

  init(issue number: Int) { state = UInt64(number) &* 0x1000 }

  mutating func skip(_ count: UInt64) { state &+= count &* 0x9e37_79b9_7f4a_7c15 }

  mutating func number(below limit: Int) -> Int {
    skip(1)
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
  }
}
