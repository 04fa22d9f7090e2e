import Foundation
import Pando

/// The program: two customers want the last saw; or `shop serve FOLDER`, a service.
@main
struct Program {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "serve" { return try await serve(arguments[2]) }
    let store = try ModelStore.temporary()
    let shop = try Shop("north", in: store)
    let today = Date(timeIntervalSince1970: 1_800_000_000)
    let saws = Category(tenant: "north", id: 1, name: "Saws", path: "/tools/saws/")
    let saw = Product(
      tenant: "north", sku: "S-1", name: "Saw", nameKey: "saw", price: Money(rawValue: 1_990),
      category: saws.key, categoryPath: saws.path, createdAt: today)
    let customers = ["Ada", "Grace"].map { name in
      Customer(
        tenant: "north", email: "\(name.lowercased())@example.org", name: name,
        address: Address(street: "Elm Street", city: "Ulm", zip: "89073", country: "DE"))
    }
    try await store.write { transaction in
      try transaction.insert(saws)
      for customer in customers { try transaction.insert(customer) }
    }
    try await shop.add(saw, available: 1, by: "admin", at: today)
    for customer in customers {
      let request = OrderRequest(
        customer: customer.key, items: [(saw.key, 1)], idempotencyKey: customer.name)
      do {
        let order = try await shop.place(request, at: today)
        let again = try await shop.place(request, at: today)
        print("\(customer.name) has order \(order.number); asked again, order \(again.number)")
      } catch let error as ShopError {
        print("\(customer.name): \(error.subject) is \(error.code)")
      }
    }
    for entry in try await shop.history(of: saw.key) { print("\(entry.node) \(entry.what)") }
    await store.close()
  }
}
