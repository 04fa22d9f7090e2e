import Foundation
import Pando

/// The shop of one tenant, over a store that has those of all tenants.
///
/// A read is one snapshot. A change is one transaction, with its entry in the audit: all of it is
/// committed, or nothing.
///
/// - Note: Any thread.
struct Shop: Sendable {
  let store: ModelStore
  let tenant: String

  /// Makes a shop, and the indexes that the store lacks.
  ///
  /// - Parameters:
  ///   - tenant: Whose shop it is.
  ///   - store: The store.
  /// - Throws: `StoreError` or `LMDBError` if an index can't be made.
  init(_ tenant: String, in store: ModelStore) throws {
    self.tenant = tenant
    self.store = store
    try store.addIndexes(of: [
      Category.self, Product.self, Customer.self, Order.self, AuditEntry.self,
    ])
  }
}

/// An order of a customer, before it is placed.
struct OrderRequest: Sendable {
  var customer: Key<Customer>
  /// How many of which product, each at least 1.
  var items: [(product: Key<Product>, quantity: Int)]
  var note: String?
  /// A text that the client repeats if it sends the request again.
  var idempotencyKey: String
}

/// A refusal that the customer can understand.
struct ShopError: Error, Equatable {
  /// The kind of refusal.
  enum Code { case emptyOrder, notThere, notForSale, outOfStock, wrongStatus, damagedCopy }

  let code: Code
  /// The subject of the refusal.
  let subject: String

  init(_ code: Code, _ subject: String) {
    self.code = code
    self.subject = subject
  }
}

/// Changes.
extension Shop {
  /// Adds a product with its stock.
  func add(_ product: Product, available: Int, by who: String, at date: Date) async throws {
    try await store.write { transaction in
      try transaction.insert(product)
      try transaction.insert(Stock(product: product.key, available: available))
      try transaction.audit(product.key, "added", by: who, at: date, after: product)
    }
  }

  /// Takes a product out of the assortment; orders keep it.
  func retire(_ key: Key<Product>, by who: String, at date: Date) async throws {
    try await store.write { transaction in
      try transaction.change(key, "retired", by: who, at: date) { $0.deletedAt = date }
    }
  }

  /// Places an order and takes its items from the stock.
  ///
  /// A request with a known idempotency key changes nothing.
  ///
  /// - Parameters:
  ///   - request: The order.
  ///   - date: When it is placed.
  /// - Returns: The order; of a repeated request the one that the first has placed.
  /// - Throws: ``ShopError``.
  func place(_ request: OrderRequest, at date: Date) async throws -> Order {
    if request.items.isEmpty { throw ShopError(.emptyOrder, request.idempotencyKey) }
    return try await store.write { transaction in
      let key = "\(request.customer.rawValue)/\(request.idempotencyKey)"
      if let done = try transaction.snapshot[Idempotency.key(key)] {
        return try transaction.stored(done.order)
      }
      let lines = try request.items.map { item in
        let product = try transaction.stored(item.product)
        if product.deletedAt != nil { throw ShopError(.notForSale, product.name) }
        try transaction.take(item.quantity, of: product)
        return OrderLine(
          product: product.key, name: product.name, quantity: item.quantity,
          unitPrice: product.price)
      }
      let order = Order(
        tenant: tenant, number: try transaction.next("\(tenant)/orders"),
        customer: try transaction.stored(request.customer), lines: lines,
        total: Money(rawValue: lines.reduce(0) { $0 + $1.quantity * $1.unitPrice.rawValue }),
        placedAt: date, day: date.formatted(.iso8601.year().month().day()), note: request.note)
      try transaction.insert(order)
      try transaction.insert(Idempotency(key: key, order: order.key, at: date))
      try transaction.audit(order.key, "placed", by: order.customer.email, at: date, after: order)
      return order
    }
  }

  /// Records that an order is paid.
  func pay(_ key: Key<Order>, reference: String, by who: String, at date: Date) async throws {
    try await store.write { transaction in
      try transaction.change(key, "paid", by: who, at: date) { order in
        guard order.payment == .open else { throw ShopError(.wrongStatus, "\(order.number)") }
        order.payment = .paid(at: date, reference: reference)
      }
    }
  }

  /// Sends an order.
  func ship(_ key: Key<Order>, by who: String, at date: Date) async throws {
    try await store.write { transaction in
      try transaction.change(key, "shipped", by: who, at: date) { order in
        guard order.status == .placed else { throw ShopError(.wrongStatus, "\(order.number)") }
        order.status = .shipped
      }
    }
  }

  /// Cancels an order that is not sent, and puts its items back into the stock.
  func cancel(_ key: Key<Order>, reason: String, by who: String, at date: Date) async throws {
    try await store.write { transaction in
      let order = try transaction.change(key, "cancelled", by: who, at: date) { order in
        guard order.status == .placed else { throw ShopError(.wrongStatus, "\(order.number)") }
        order.status = .cancelled
        if order.payment.paid != nil {
          order.payment = .refunded(amount: order.total, reason: reason)
        }
      }
      for line in order.lines {
        try transaction.updateIfPresent(Stock.key(line.product)) { $0.available += line.quantity }
      }
    }
  }
}

/// Questions.
extension Shop {
  /// The orders that wait to be sent, the oldest first; `store.follow` follows them.
  ///
  /// - Parameter limit: How many a page shows; all of them if it is `nil`.
  /// - Returns: The query.
  func openOrders(limit: Int? = nil) -> Query<Order> {
    Query(
      filter: \.tenant == tenant && \.status == .placed, order: [.ascending(\.placedAt)],
      limit: limit)
  }

  /// The orders of a customer, the newest first.
  func orders(of customer: Key<Customer>) async throws -> [Order] {
    let query = Query<Order>(filter: .holds(\.customer, customer), order: [.descending(\.placedAt)])
    return try await store.read { try $0.find(query).entities }
  }

  /// The products of a category and of those below it, the cheapest first.
  func products(below path: String) async throws -> [Product] {
    let isInBranch = Filter<Product>.hasPrefix(\.categoryPath, path)
    let query = Query(
      filter: \.tenant == tenant && isInBranch && \Product.deletedAt == nil,
      order: [.ascending(\.price)])
    return try await store.read { try $0.find(query).entities }
  }

  /// The products whose names begin with a text, in the order of their names.
  ///
  /// - Parameter start: The text that a customer has typed so far; case does not count.
  /// - Returns: The query for the first 20.
  func products(named start: String) -> Query<Product> {
    let isNamed = Filter<Product>.hasPrefix(\.nameKey, start.lowercased())
    return Query(
      filter: \.tenant == tenant && isNamed && \Product.deletedAt == nil,
      order: [.ascending(\.nameKey)], limit: 20)
  }

  /// The order that a payment is for.
  func order(paidAs reference: String) async throws -> Order? {
    let query = Query(filter: \.tenant == tenant && \Order.payment.paid?.reference == reference)
    return try await store.read { try $0.first(query) }
  }

  /// The sum of the orders of a day.
  func turnover(on day: String) async throws -> Money {
    let query = Query(
      filter: \.tenant == tenant && \Order.day == day && \Order.status != .cancelled)
    return Money(rawValue: try await store.answer(.sum(\.total), to: query))
  }

  /// The changes of a node, the oldest first.
  func history<M>(of key: Key<M>) async throws -> [AuditEntry] {
    let query = Query(filter: \AuditEntry.node == key.rawValue, order: [.ascending(\.at)])
    return try await store.read { try $0.find(query).entities }
  }
}
