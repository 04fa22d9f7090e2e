import Pando

/// An entity with an index of three fields and two of one.
@Model(indexed: [\.status, \.author, \.created]) struct Issue: PersistentEntity {
  var id: EntityIdentifier<Issue>
  var title: String
  var author: String
  var status: Int
  var created: Int
  @Indexed var label: Int
  @Indexed var milestone: Int
}

/// A question about issues that all systems are asked.
enum IssueQuery: Sendable {
  /// The newest twenty of an author with a status.
  case newest(status: Int, author: String)
  case countOfLabel(Int)
  case countOfBoth(label: Int, milestone: Int)

  /// How many issues are asked for.
  static let limit = 20
}

/// Issues in an order of their own: the same for the same seed.
struct IssueTracker {
  static let authorCount = 50
  static let labelCount = 20
  static let milestoneCount = 10

  let issues: [Issue]

  init(seed: UInt64, count: Int) {
    var random = SeededGenerator(seed: seed)
    // No two of one time, so that the newest are the same in all systems.
    let times = (0..<count).shuffled(using: &random)
    issues = (0..<count).map { number in
      Issue(
        id: .remote("i\(number)"), title: "The issue \(random.next() % 1_000_000) of a long list",
        author: Self.author(Int.random(in: 0..<Self.authorCount, using: &random)),
        status: Int.random(in: 0..<3, using: &random), created: times[number],
        label: Int.random(in: 0..<Self.labelCount, using: &random),
        milestone: Int.random(in: 0..<Self.milestoneCount, using: &random))
    }
  }

  static func author(_ number: Int) -> String { "author-\(number)" }
}
