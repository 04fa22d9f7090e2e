import Pando

/// Commits whose result is known beforehand: several tasks, each with trees of its own, and a few
/// things that all of them change.
///
/// Commit `step` of task `task` does the same in every run with the same seed, so a store can be
/// compared with what it must show after so many steps of each task. Each commit also counts in a
/// node that all share and appends to one list, so that half a commit shows.
struct Workload: Sendable {
  static let journal = "journal"
  static let shared = "shared"
  /// The type of nodes that only fill the store.
  static let ballast = "Ballast"
  private static let partMaximum = 8
  /// The list is cut to half when it is this long.
  static let journalMaximum = 400
  /// The list of a task's own parts, too.
  static let partListMaximum = 40
  /// By how much commit numbers go on behind a power cut.
  static let numbersPerCut = 1 << 24

  let seed: UInt64
  let taskCount: Int
  /// The types of the nodes that others commit to the same store; empty if there are no others.
  var otherTypes: [String] = []
  /// Whether the store may drop the older part of its change log, as it does on a full disk.
  var mayForgetChanges = false

  private struct Undone: Error {}

  /// Makes one commit.
  func perform(task: Int, step: Int, in transaction: inout ModelTransaction) throws {
    try transaction.set(tree(task: task, step: step))
    for part in partCount(task: task, step: step)..<Self.partMaximum {
      try transaction.deleteIfPresent("part:\(task):\(part + 1)")
    }
    // A node that comes and goes, held to another one by an edge that is required.
    try transaction.set(guest(task: task, step: step))
    try transaction.deleteIfPresent("guest:\(task):\(step - 1)")
    if step % 5 == 0 { try transaction.set(badge(task: task, step: step)) }
    if step % 4 == 0 { try undo(task: task, step: step, in: &transaction) }
    if step % 7 == 0 { try cascade(task: task, in: &transaction) }
    try transaction.append([.string("\(task):\(step)")], toCollection: Self.journal)
    if step % 6 == 0 {
      try transaction.append(
        [.reference(identifier: "part:\(task):0", typeName: "Part")],
        toCollection: Self.partList(task))
      try cut(Self.partList(task), at: Self.partListMaximum, in: &transaction)
    }
    try count(in: &transaction)
  }

  /// A tree with children of all kinds of edges, and texts that need pages of their own at times.
  func tree(task: Int, step: Int) -> TreeNode {
    let parts = (0..<partCount(task: task, step: step)).map { part in
      TreeValue.node(self.part(part + 1, task: task, step: step))
    }
    return TreeNode(
      "task:\(task)", type: "Task",
      fields: [
        "id": .string("task:\(task)"), "version": .integer(Int64(step)),
        "text": .string(text(task, step, 0, isLong: true)),
        "first": .required(.node(part(0, task: task, step: step))),
        "extra": step % 3 == 0 ? .node(extra(task: task, step: step)) : .null,
        "parts": .array(parts),
      ])
  }

  func partCount(task: Int, step: Int) -> Int {
    var random = SeededGenerator(seed: seed, task, step, -1)
    return Int.random(in: 0...Self.partMaximum, using: &random)
  }

  private func part(_ part: Int, task: Int, step: Int) -> TreeNode {
    TreeNode(
      "part:\(task):\(part)", type: "Part",
      fields: [
        "id": .string("part:\(task):\(part)"), "version": .integer(Int64(step)),
        "text": .string(text(task, step, part, isLong: false)),
      ])
  }

  func extra(task: Int, step: Int) -> TreeNode {
    TreeNode(
      "extra:\(task)", type: "Extra",
      fields: ["id": .string("extra:\(task)"), "version": .integer(Int64(step))])
  }

  func guest(task: Int, step: Int) -> TreeNode {
    TreeNode(
      "guest:\(task):\(step)", type: "Guest",
      fields: ["of": .required(.reference(identifier: "part:\(task):0", typeName: "Part"))])
  }

  /// Another type of the first part, which follows its version from then on.
  private func badge(task: Int, step: Int) -> TreeNode {
    TreeNode(
      "part:\(task):0", type: "Badge",
      fields: [
        "id": .string("part:\(task):0"), "version": .integer(Int64(step)),
        "badge": .integer(Int64(step)),
      ])
  }

  private func text(_ task: Int, _ step: Int, _ part: Int, isLong: Bool) -> String {
    var random = SeededGenerator(seed: seed, task, step, part)
    let count =
      isLong && random.chance(15)
      ? Int.random(in: 2_000..<12_000, using: &random) : Int.random(in: 5..<200, using: &random)
    let letters = Array("abcdefghijklmnopqrstuvwxyz äé𝄞")
    let piece = (0..<16).map { _ in letters.randomElement(using: &random) ?? "x" }
    return String(String(repeating: String(piece), count: count / 16 + 1).prefix(count))
  }

  private func undo(task: Int, step: Int, in transaction: inout ModelTransaction) throws {
    do {
      try transaction.nested { inner in
        try inner.set(TreeNode("undone:\(task)", type: "Part", fields: ["version": 0]))
        try inner.deleteIfPresent("task:\(task)")
        throw Undone()
      }
    } catch is Undone {}
  }

  private func cascade(task: Int, in transaction: inout ModelTransaction) throws {
    try transaction.set(
      TreeNode(
        "chain:\(task)", type: "Chain",
        fields: ["of": .required(.node(TreeNode("link:\(task)", type: "Link")))]))
    try transaction.deleteIfPresent("link:\(task)")
  }

  private func count(in transaction: inout ModelTransaction) throws {
    let last = try transaction.snapshot.tree(Self.shared)?["count"]?.integerValue ?? 0
    try transaction.set(
      TreeNode(
        Self.shared, type: "Shared",
        fields: ["id": .string(Self.shared), "count": .integer(last + 1)]))
    try cut(Self.journal, at: Self.journalMaximum, in: &transaction)
  }

  private func cut(
    _ list: String, at maximum: Int, in transaction: inout ModelTransaction
  ) throws {
    guard try transaction.snapshot.collectionCount(list) ?? 0 >= maximum else { return }
    try transaction.removeElements(in: 0..<(maximum / 2), fromCollection: list)
  }

  /// The list in which a task's first part stands again and again.
  static func partList(_ task: Int) -> String { "parts:\(task)" }

  /// How long a list is that so many elements were appended to.
  static func length(appended count: Int, maximum: Int) -> Int {
    let half = maximum / 2
    return count < maximum ? count : half + (count - half) % half
  }

  /// How long the list of a task's parts is after a step.
  static func partListLength(step: Int) -> Int {
    length(appended: step / 6, maximum: partListMaximum)
  }
}
