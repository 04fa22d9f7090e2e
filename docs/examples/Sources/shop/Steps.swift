import Foundation
import Pando

/// The steps of the shop's transactions.
extension ModelTransaction {
  /// A node that a request names.
  func stored<M: KeyedModel & Codable>(_ key: Key<M>) throws -> M {
    guard let model = try snapshot[key] else { throw ShopError(.notThere, "\(key)") }
    return model
  }

  /// Takes items of a product from the stock.
  mutating func take(_ quantity: Int, of product: Product) throws {
    precondition(quantity > 0, "\(quantity) of \(product.name)")
    try update(Stock.key(product.key)) { stock in
      if stock.available < quantity { throw ShopError(.outOfStock, product.name) }
      stock.available -= quantity
    }
  }

  /// The next number of a sequence, from 1.
  mutating func next(_ name: String) throws -> Int {
    var counter = try snapshot[Counter.key(name)] ?? Counter(name: name)
    counter.value += 1
    try set(counter)
    return counter.value
  }

  /// Changes a node, and records the node before and after.
  @discardableResult
  mutating func change<M: KeyedModel & Codable>(
    _ key: Key<M>, _ what: String, by who: String, at date: Date,
    _ change: (inout M) throws -> Void
  ) throws -> M {
    let before = try snapshot[key]
    let after = try update(key, change)
    try audit(key, what, by: who, at: date, before: before, after: after)
    return after
  }

  /// Records a change.
  mutating func audit<M: Encodable>(
    _ key: Key<M>, _ what: String, by who: String, at date: Date, before: M? = nil, after: M? = nil
  ) throws {
    func text(_ model: M) throws -> String {
      String(decoding: try JSONEncoder().encode(model), as: UTF8.self)
    }
    try insert(
      AuditEntry(
        at: date, who: who, what: what, node: key.rawValue, before: before.map(text),
        after: after.map(text)))
  }
}
