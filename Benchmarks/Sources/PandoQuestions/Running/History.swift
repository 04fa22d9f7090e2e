/// The worlds of a sequence, commit by commit.
struct History {
  struct Step {
    let number: Int
    let calls: [Call]
    /// Whether a unique index refuses it.
    let isRefused: Bool
    let isUndo: Bool
    let isLast: Bool
  }

  let plan: Plan
  private(set) var world = World()
  /// How many commits there were.
  private(set) var count = 0
  private var former = World()
  private let commits: [[Change]]
  private let isUnique: Bool

  init(_ plan: Plan) {
    self.plan = plan
    commits = [plan.start.map { Change.set($0) }] + plan.commits
    isUnique = plan.indexes.contains { $0.isUnique }
  }

  /// Applies the next commit.
  ///
  /// - Returns: Its calls; `nil` at the end.
  mutating func next() -> Step? {
    if count == commits.count { return nil }
    let changes = commits[count]
    var next = world
    let calls = changes.flatMap { next.apply($0, after: former) }
    let isRefused = isUnique && next.hasEqualCodes
    if !isRefused { (former, world) = (world, next) }
    defer { count += 1 }
    return Step(
      number: count, calls: calls, isRefused: isRefused,
      isUndo: changes.contains { if case .undo = $0 { true } else { false } },
      isLast: count == commits.count - 1)
  }
}
