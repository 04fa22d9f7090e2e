import PandoFixtures
import PandoModels
import PandoStore

/// A write of a simulation: it leaves its mark at one place, and does something to trees and lists beside.
struct SimulatedWork: Sendable {
  private enum Place {
    /// A node that others write too.
    case tally(Int)
    /// A node of its own.
    case own
    /// The end, or the beginning, of a list that others edit too.
    case list(String, atEnd: Bool)
  }

  let mark: Int
  private let place: Place
  /// Random numbers that choose the rest, the same in each run of the write.
  private let seed: UInt64
  private let throwsAtEnd: Bool

  init(mark: Int, using random: inout SeededGenerator) {
    self.mark = mark
    place =
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: .tally(Int.random(in: 0..<3, using: &random))
      case 2: .list("marks \(Int.random(in: 0..<2, using: &random))", atEnd: true)
      case 3: .list("marks \(Int.random(in: 0..<2, using: &random))", atEnd: false)
      default: .own
      }
    seed = random.next()
    throwsAtEnd = Int.random(in: 0..<16, using: &random) == 0
  }

  func run(_ transaction: inout ModelTransaction) throws {
    var random = SeededGenerator(seed: seed)
    if Int.random(in: 0..<2, using: &random) == 0 { try changeTrees(&transaction, &random) }
    switch place {
    case .tally(let id):
      var tally = try transaction.snapshot.get("Tally:\(id)", as: Tally.self) ?? Tally(id: id)
      tally.marks.append(mark)
      try transaction.set(tally)
    case .own: try transaction.set(Tally(id: 1000 + mark, marks: [mark]))
    case .list(let key, let atEnd):
      if try !atEnd && transaction.snapshot.collectionCount(key) != nil {
        try transaction.insert([Mark(number: mark)], at: 0, inCollection: key)
      } else {
        try transaction.append([Mark(number: mark)], toCollection: key)
      }
    }
    if throwsAtEnd { throw Simulation.Stop() }
  }

  /// All marks that a store has, each as often as it is there.
  static func marks(in store: ModelStore) throws -> [Int] {
    try store.read { snapshot in
      var marks: [Int] = []
      try snapshot.forEachModel(of: Tally.self) { tally in
        marks += tally.marks
        return true
      }
      for key in ["marks 0", "marks 1"] {
        marks += try snapshot.collection(key, as: Mark.self)?.map(\.number) ?? []
      }
      return marks
    }
  }

  private func changeTrees(
    _ transaction: inout ModelTransaction, _ random: inout SeededGenerator
  ) throws {
    let (leaf, other) = (
      Leaf(id: "\(Int.random(in: 0..<5, using: &random))", text: "\(mark)"),
      Leaf(id: "\(Int.random(in: 5..<8, using: &random))")
    )
    let id = "\(Int.random(in: 0..<3, using: &random))"
    let count = try transaction.snapshot.collectionCount("leaves") ?? 0
    switch Int.random(in: 0..<14, using: &random) {
    case 0: try transaction.set(leaf)
    case 1:
      try transaction.set(
        Card(id: id, text: "\(mark)", required: leaf, leaves: [leaf, other]))
    case 2:
      guard var card = try transaction.snapshot.get("Card:\(id)", as: Card.self) else { return }
      card.optional = leaf
      try transaction.set(card)
    case 3: try transaction.set(Frame(id: id, leaf: leaf))
    case 4: try transaction.deleteIfPresent(leaf.modelIdentifier ?? "")
    case 5: try transaction.deleteIfPresent("Card:\(id)")
    case 6:
      try transaction.deleteIfPresent(leaf.modelIdentifier ?? "")
      try transaction.set(Frame(id: id, leaf: leaf))
    case 7: try transaction.set(CardTitle(id: id, text: "\(mark)", color: "red"))
    case 8: try transaction.append([leaf, other], toCollection: "leaves")
    case 9 where count > 1:
      try transaction.moveElement(from: 0, to: count - 1, inCollection: "leaves")
    case 10 where count > 0: try transaction.removeElements(in: 0..<1, fromCollection: "leaves")
    case 11 where count > 0: try transaction.update(other, at: count / 2, inCollection: "leaves")
    case 12:
      // Taken back: the numbers that it took are free again, or are told.
      try? transaction.nested { inner in
        try inner.set(Card(id: "nested", leaves: [Leaf(id: "nested")]))
        throw Simulation.Stop()
      }
    default:
      try transaction.set(Leaf(id: "passing"))
      try transaction.deleteIfPresent("Leaf:passing")
    }
  }
}
