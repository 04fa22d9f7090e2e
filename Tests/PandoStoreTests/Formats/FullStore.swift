import Foundation
import PandoModels
import PandoStore

/// A store with a row of every kind that a program can write without a server or a log.
///
/// Its contents depend on nothing but this code, so a store that an earlier build wrote has the dump of one that is
/// written now.
enum FullStore {
  @Embedded enum State: String { case open, shipped }

  @Embedded enum Payment {
    case open
    case paid(at: Date, reference: String)
  }

  @Embedded struct Line {
    var product: String
    var quantity: Int
  }

  @Model("Customer") struct Customer {
    @Key var id: Int
    @Unique var email: String
    var former: [String: Customer] = [:]
  }

  @Model("Note") struct Note {
    @Key var id: UUID
    var text: String
  }

  @Model(
    "Order", unique: [\.shop, \.number],
    indexed: [\.state, \.placed], [\.lines.product], [\.payment.paid?.reference])
  struct Order {
    @Key var shop: String
    @Key var number: Int
    @Restrict var customer: Customer
    @Owned var notes: [Note] = []
    var successor: Key<Order>?
    var lines: [Line]
    var payment: Payment = .open
    var state: State = .open
    @Indexed var placed: Date
    @Indexed var total: Decimal
    @Indexed var tags: [String] = []
    var large: UInt128
    var took: Duration
    var bytes: Data
    @Renamed(from: "remark") var comment: String = "none"
  }

  @Model("Sale", indexed: [\.day], sums: [\.total, \.weight]) struct Sale: SchemaVersioned {
    @Key var id: Int
    var day: Int
    var total: Decimal
    var weight: Double

    static let schemaVersion = 3
  }

  @Model("OrderCard", of: Order.self) struct OrderCard {
    @Key var shop: String
    @Key var number: Int
    var state: State
  }

  static let types: [any SimpleModel.Type] = [Customer.self, Order.self, Sale.self]
  static let property = Array("kept".utf8)
  static let listCount = 700

  static func order(_ number: Int) -> Order {
    let note = UUID(uuid: (0, 0, 0, 0, 0, 0, 64, 0, 128, 0, 0, 0, 0, 0, 0, UInt8(number)))
    return Order(
      shop: number % 2 == 0 ? "north/1" : "süd", number: number,
      customer: Customer(id: number % 7, email: "c\(number % 7)@example.org"),
      notes: number % 3 == 0 ? [Note(id: note, text: "note \(number)")] : [],
      successor: number % 5 == 0 ? Order.key("süd", number + 1) : nil,
      lines: (0..<number % 4).map { Line(product: "p\($0)", quantity: $0 + 1) },
      payment: number % 4 == 0
        ? .paid(at: Date(timeIntervalSince1970: Double(number) + 0.5), reference: "R-\(number)")
        : .open,
      state: number % 6 == 0 ? .shipped : .open,
      placed: Date(timeIntervalSince1970: 1_800_000_000 + Double(number) * 3_600),
      total: Decimal(number) + Decimal(number % 90 + 10) / 100,
      tags: number % 8 == 0 ? [] : ["t\(number % 8)", "tag"],
      large: UInt128(UInt64.max) + UInt128(number), took: .milliseconds(number),
      bytes: Data([UInt8(number & 255), 0]),
      comment: number == 3 ? String(repeating: "long ", count: 2_000) : "none")
  }

  /// Writes everything, in 40 commits and more.
  static func fill(_ store: ModelStore) throws {
    for start in stride(from: 1, through: 120, by: 10) {
      try store.write { transaction in
        for number in start..<start + 10 { try transaction.set(order(number)) }
      }
    }
    for start in stride(from: 0, to: 400, by: 20) {
      try store.write { transaction in
        for id in start..<start + 20 {
          try transaction.set(
            Sale(id: id, day: id / 9, total: Decimal(id) / 4, weight: Double(id) / 3))
        }
      }
    }
    try store.write { transaction in
      try transaction.set(OrderCard(shop: "süd", number: 7, state: .shipped))
      let values = (0..<listCount).map { TreeValue.string("value \($0)") }
      try transaction.setCollection("values", to: values)
      try transaction.setCollection("orders", to: (1...60).map(order))
      try transaction.setCollection(String(repeating: "long key ", count: 80), to: [order(1)])
      try transaction.setProperty("fixture", to: property)
    }
    try store.write { transaction in
      try transaction.insert([.string("inserted")], at: 350, inCollection: "values")
      try transaction.moveElement(
        Order.key("süd", 1), fromCollection: "orders", toCollection: "orders")
      try transaction.delete(Order.key("süd", 9))
    }
    try store.write { transaction in
      try transaction.set(TreeNode("Tree:1", type: "Tree", fields: ["a": [1, 2.5, .null, "x"]]))
      try transaction.set(
        TreeNode(
          String(repeating: "long identifier ", count: 60), type: "Tree",
          fields: ["to": .required(.reference(identifier: "Tree:1", typeName: "Tree"))]))
    }
    _ = try store.cursor(named: "fixture", startingAfter: CommitNumber(value: 30))
  }
}
