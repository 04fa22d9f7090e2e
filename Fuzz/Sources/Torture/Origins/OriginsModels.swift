import Pando

/// The models of the processes of `torture origins`.
enum OriginsModels {
  /// Counts the writes that have come to it; each reads it, and sets it to one more.
  @Model struct Counter {
    @Key var id: String
    var count = 0
  }

  /// The mark of a write.
  @Model struct Mark {
    @Key var id: String
    var counter: String
    /// The value of its counter after it: no two writes of a counter have the same.
    var value: Int
  }

  /// A content that makes an entry so large that it goes in parts.
  @Model struct Ballast {
    @Key var id: String
    var text: String
  }
}

/// A write that no other is equal to.
///
/// Its effect shows how often it was done: it counts in one of a few nodes, sets a mark of its own,
/// and appends that to a list. One that is lost, made twice, made by half or overwritten shows, too.
struct OriginsWrite: Hashable, Sendable {
  /// Counters in which all machines count, beside one of each machine.
  static let sharedCounters = ["a", "b"]

  let machine: Int
  let life: Int
  let task: Int
  let step: Int

  var mark: String { "\(machine):\(life):\(task):\(step)" }

  static func journal(_ counter: String) -> String { "journal:\(counter)" }

  /// Makes the write, in an entry that goes in parts if it is to be large.
  func perform(in transaction: inout ModelTransaction, seed: UInt64, isLarge: Bool) throws {
    var random = SeededGenerator(seed: seed, machine, life, task, step)
    let id =
      random.chance(40)
      ? Self.sharedCounters.randomElement(using: &random) ?? "a" : "of \(machine)"
    var counter =
      try transaction.snapshot[OriginsModels.Counter.key(id)]
      ?? OriginsModels.Counter(id: id)
    counter.count += 1
    try transaction.set(counter)
    try transaction.append(
      [OriginsModels.Mark(id: mark, counter: id, value: counter.count)],
      toCollection: Self.journal(id))
    if isLarge {
      let count = Int.random(in: 530_000..<1_100_000, using: &random)
      let text = String(repeating: mark, count: count / mark.utf8.count)
      try transaction.set(OriginsModels.Ballast(id: "\(machine)", text: text))
    }
  }
}
