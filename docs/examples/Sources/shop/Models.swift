import Foundation
import Pando

/// An amount in cents; filters compare it and questions add it as a number.
struct Money: RawRepresentable, Codable, Hashable, Summable { var rawValue: Int }

@Embedded struct Address { var street, city, zip, country: String }

@Embedded enum OrderStatus: String { case placed, shipped, delivered, cancelled }

@Embedded enum Payment {
  case open
  case paid(at: Date, reference: String)
  case refunded(amount: Money, reason: String)
}

/// A part of an order: name and price are those of the day of the order.
@Embedded struct OrderLine {
  var product: Key<Product>
  var name: String
  var quantity: Int
  var unitPrice: Money
}

@Model struct Category {
  @Key var tenant: String
  @Key var id: Int
  var name: String
  @Indexed var parent: Key<Category>?
  /// The names from the root, as `/tools/saws/`: a prefix finds a whole branch.
  @Indexed var path: String
}

@Model(
  unique: [\.tenant, \.sku], indexed: [\.tenant, \.category, \.price], [\.tenant, \.nameKey])
struct Product {
  @Key var tenant: String
  @Key var id = UUID()
  var sku, name: String
  /// The name in lowercase, which a search compares.
  var nameKey: String
  var details: String?
  @Indexed var price: Money
  var category: Key<Category>
  var categoryPath: String
  @Indexed var tags: [String] = []
  var createdAt: Date
  var deletedAt: Date?
}

@Model struct Stock {
  @Key var product: Key<Product>
  var available: Int
}

@Model(unique: [\.tenant, \.email]) struct Customer {
  @Key var tenant: String
  @Key var id = UUID()
  var email, name: String
  var phone: String?
  var address: Address
}

@Model(
  unique: [\.tenant, \.number],
  indexed: [\.customer, \.placedAt], [\.tenant, \.status, \.placedAt], [\.lines.product],
  [\.payment.paid?.reference])
struct Order {
  @Key var tenant: String
  @Key var id = UUID()
  var number: Int
  @Restrict var customer: Customer
  var lines: [OrderLine]
  @Indexed var status: OrderStatus = .placed
  var payment: Payment = .open
  var total: Money
  @Indexed var placedAt: Date
  @Indexed var day: String
  var note: String?
}

@Model struct Counter {
  @Key var name: String
  var value = 0
}

@Model struct Idempotency {
  @Key var key: String
  var order: Key<Order>
  var at: Date
}

@Model struct AuditEntry {
  @Key var id = UUID()
  @Indexed var at: Date
  @Indexed var who: String
  var what: String
  @Indexed var node: String
  var before, after: String?
}
