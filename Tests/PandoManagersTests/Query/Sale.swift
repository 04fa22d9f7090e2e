import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore

@Embedded struct SaleLine: Equatable, Hashable {
  var product: String
  var quantity: Int
  var price: Decimal
  var sent: Date
}

@Model struct Buyer {
  @Key var id: Int
  var city: String
}

/// A model with lists, dates, decimals and a child: what questions group by and measure.
@Model struct Sale {
  @Key var id: Int
  var day: String
  @Indexed var region: String?
  var total: Decimal
  var weight: Double
  var created: Date
  var due: Date?
  var tags: [String]
  var lines: [SaleLine]
  var buyer: Buyer?
}

/// Sales in a random order; most values occur often.
struct SaleMaker {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func int(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[int(0...(values.count - 1))]
  }

  mutating func date() -> Date {
    // Around both changes of summer time, and not only whole seconds.
    let days = [Double(int(0...9)), 7_024, 7_025, 7_241, 7_242]
    return Date(timeIntervalSinceReferenceDate: pick(days) * 86_400 + Double(int(0...172_799)) / 2)
  }

  mutating func buyer() -> Buyer { Buyer(id: int(1...3), city: pick(["Rome", "Oslo"])) }

  mutating func sale(_ id: Int) -> Sale {
    let texts = ["a", "b", "caf\u{e9}", "cafe\u{301}", "z"]
    return Sale(
      id: id, day: pick(["mo", "tu", "we"]), region: int(0...4) == 0 ? nil : pick(texts),
      total: Decimal(int(-300...900)) / 100,
      weight: int(0...9) == 0 ? .nan : Double(int(-8...8)) / 4,
      created: date(), due: int(0...2) == 0 ? nil : date(),
      tags: (0..<int(0...3)).map { _ in pick(texts) },
      lines: (0..<int(0...4)).map { _ in
        SaleLine(
          product: pick(["tea", "nuts", "rice"]), quantity: int(0...5),
          price: Decimal(int(1...9)) / 10,
          sent: date())
      },
      buyer: int(0...2) == 0 ? nil : buyer())
  }

  mutating func query() -> Query<Sale> {
    switch int(0...6) {
    case 0: Query(filter: \.region == pick(["a", "b", nil]))
    case 1: Query(filter: \.total > 2)
    case 2: Query(filter: \.buyer?.city == "Rome")
    case 3: Query(filter: \.day == "mo" || \.region == "b")
    case 4: Query(order: [.descending(\.created)], offset: int(0...2), limit: int(0...9))
    default: .all
    }
  }
}

/// A question about sales, and its answer in plain Swift.
struct SaleQuestion: Sendable {
  let name: String
  let compare:
    @Sendable (_ snapshot: ModelSnapshot, _ query: Query<Sale>, _ found: [Sale]) throws -> String?
  /// Begins to follow; the function takes the next answer and compares it with the asked one.
  let follow: @Sendable (_ store: ModelStore, _ query: Query<Sale>) -> FollowedQuestion

  init<Answer: Equatable>(
    _ name: String, _ question: Question<Sale, Answer>,
    _ plain: @escaping @Sendable ([Sale]) -> Answer
  ) {
    self.name = name
    compare = { snapshot, query, found in
      let asked = try snapshot.answer(question, to: query)
      let expected = plain(found)
      if asked == expected { return nil }
      let plan = try snapshot.explain(question, to: query)
      return "\(name): \(asked), not \(expected); \(plan)"
    }
    follow = { store, query in FollowedQuestion(name, question, query, store) }
  }
}

/// A followed question.
final class FollowedQuestion: @unchecked Sendable {
  // Sendable because one task uses it.
  let name: String
  /// Takes the next answer if the asked one has changed; returns what is wrong.
  private(set) var check: () async throws -> String? = { nil }

  init<Answer: Equatable & Sendable>(
    _ name: String, _ question: Question<Sale, Answer>, _ query: Query<Sale>, _ store: ModelStore
  ) {
    self.name = name
    var iterator = store.follow(question, of: query).makeAsyncIterator()
    var last: Answer?
    check = {
      let asked = try await store.answer(question, to: query)
      if last == asked { return nil }
      last = asked
      let told = try await iterator.next()
      return told == asked ? nil : "\(name) of \(query): \(told as Any), not \(asked)"
    }
  }
}
