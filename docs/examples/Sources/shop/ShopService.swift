import Foundation
import MicroHTTP
import Pando

/// The shop over HTTP.
///
/// - Note: Any thread; requests run at the same time.
struct ShopService: Sendable {
  let shop: Shop
  /// How long a request waits for a change of the page that its client has.
  var patience = Duration.seconds(10)

  /// Answers a request.
  ///
  /// - Parameter request: A request that the server has understood.
  /// - Returns: The answer.
  /// - Throws: `HTTPError`, which is an answer too.
  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    do {
      switch (request.method, request.path) {
      case ("GET", ["products"]): return try await products(request)
      case ("POST", ["orders"]): return try await place(request)
      case ("GET", ["orders"]): return try await openOrders(request)
      default: throw HTTPError(404, "there is GET /products, GET /orders, POST /orders")
      }
    } catch let error as ShopError {
      throw HTTPError(error)
    }
  }

  private func products(_ request: HTTPRequest) async throws -> HTTPResponse {
    let start = request.value("name") ?? ""
    return HTTPResponse(try await shop.store.find(shop.products(named: start)).entities)
  }

  /// A client that gets no answer sends its order again, with the same key.
  private func place(_ request: HTTPRequest) async throws -> HTTPResponse {
    let order = try request.decoded(as: NewOrder.self)
    guard let key = request.values(of: "idempotency-key").first else {
      throw HTTPError(400, "the field Idempotency-Key is missing")
    }
    guard order.items.allSatisfy({ 1...1_000 ~= $0.quantity }) else {
      throw HTTPError(400, "a quantity is 1 to 1000")
    }
    let items = order.items.map { (product: $0.product, quantity: $0.quantity) }
    let placed = try await shop.place(
      OrderRequest(
        customer: order.customer, items: items, note: order.note, idempotencyKey: key),
      at: .now)
    return HTTPResponse(placed, status: 201)
  }

  /// The page of open orders: at once, or when it differs from the one that the client has.
  private func openOrders(_ request: HTTPRequest) async throws -> HTTPResponse {
    let (seen, query) = (request.value("seen"), shop.openOrders(limit: 20))
    return try await withThrowingTaskGroup(of: HTTPResponse?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        for try await result in shop.store.follow(query) {
          let page = HTTPResponse(page: result.entities)
          if page.tag != seen { return page }
        }
        return nil
      }
      group.addTask {
        try? await Task.sleep(for: patience)
        return nil
      }
      if let page = try await group.next().flatMap(\.self) { return page }
      return HTTPResponse(page: try await shop.store.find(query).entities)
    }
  }
}

extension HTTPResponse {
  /// A page of orders; its tag is for `seen`.
  fileprivate init(page orders: [Order]) {
    self.init(orders)
    fields = [HTTPField(name: "ETag", value: tag)]
  }
}

/// An order as a client sends it.
struct NewOrder: Codable {
  struct Item: Codable {
    var product: Key<Product>
    var quantity: Int
  }

  var customer: Key<Customer>
  var items: [Item]
  var note: String?
}

extension HTTPRequest {
  /// The value of a field behind the question mark.
  fileprivate func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

extension HTTPError {
  fileprivate init(_ error: ShopError) {
    let status =
      switch error.code {
      case .emptyOrder: 400
      case .notThere: 404
      case .notForSale, .outOfStock, .wrongStatus: 409
      case .damagedCopy: 500
      }
    self.init(status, "\(error.subject): \(error.code)")
  }
}
