import FoundationEssentials
import Pando

@Embedded struct OrderLine {
  var product: String
  var quantity: Int
  var price: Decimal
}

/// An order of a shop, without indexes: answers read the fields of its record.
@Model struct Order {
  @Key var id: Int
  var customer: String
  var day: String
  var created: Date
  var cents: Int
  var total: Decimal
  var lines: [OrderLine]
}

/// Orders of a year: the same for the same seed.
struct Shop {
  static let dayCount = 365
  static let productCount = 500

  let orders: [Order]

  init(seed: UInt64, count: Int) {
    var random = SeededGenerator(seed: seed)
    let start = Date(timeIntervalSinceReferenceDate: 757_382_400)
    orders = (0..<count).map { number in
      let day = Int.random(in: 0..<Self.dayCount, using: &random)
      let second = Int.random(in: 0..<86_400, using: &random)
      let cents = Int.random(in: 100..<100_000, using: &random)
      let lines = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        OrderLine(
          product: "product-\(Int.random(in: 0..<Self.productCount, using: &random))",
          quantity: Int.random(in: 1...9, using: &random),
          price: Decimal(Int.random(in: 100..<10_000, using: &random)) / 100)
      }
      return Order(
        id: number, customer: "customer-\(number % 1_000)", day: "day-\(1_000 + day)",
        created: start + Double(day * 86_400 + second), cents: cents,
        total: Decimal(cents) / 100, lines: lines)
    }
  }
}
