import Foundation
import MicroHTTP
import Pando
import PandoFixtures
import ServiceFixtures
import Testing

@testable import shop

/// The shop as its clients see it.
@Suite struct ShopServiceTests {
  private static let ada = Customer(
    tenant: "north", email: "ada@example.org", name: "Ada",
    address: Address(street: "Elm Street", city: "Ulm", zip: "89073", country: "DE"))
  private static let saw = Product(
    tenant: "north", sku: "S-1", name: "Saw", nameKey: "saw", price: Money(rawValue: 1_990),
    category: Category.key("north", 1), categoryPath: "/tools/",
    createdAt: Date(timeIntervalSince1970: 1_800_000_000))

  private func fill(_ store: ModelStore) async throws -> ShopService {
    let shop = try Shop("north", in: store)
    try await store.write { try $0.insert(Self.ada) }
    try await shop.add(Self.saw, available: 3, by: "admin", at: .now)
    return ShopService(shop: shop, patience: .seconds(86_400))
  }

  private func body(_ quantity: Int, of product: Key<Product> = saw.key) -> String {
    let item = #"{"product":"\#(product.rawValue)","quantity":\#(quantity)}"#
    return #"{"customer":"\#(Self.ada.key.rawValue)","items":[\#(item)]}"#
  }

  private func order(_ body: String, key: String?) -> HTTPRequest {
    HTTPRequest(
      method: "POST", path: ["orders"],
      fields: key.map { [HTTPField(name: "idempotency-key", value: $0)] } ?? [],
      body: Array(body.utf8))
  }

  private func orders(in response: HTTPResponse) throws -> [Order] {
    try JSONDecoder().decode([Order].self, from: Data(response.body))
  }

  @Test func `an order is placed once, and refused with a status that says why`() async throws {
    let store = try ModelStore.inMemory()
    let service = try await fill(store)
    for _ in 0..<2 {
      let response = try await service.answer(order(body(2), key: "a"))
      #expect(response.status == 201)
      #expect(String(decoding: response.body, as: UTF8.self).contains(#""number":1,"#))
    }
    let refused: [(HTTPRequest, Int)] = [
      (order(body(2), key: "b"), 409), (order(body(0), key: "c"), 400),
      (order(body(1), key: nil), 400), (order("{", key: "d"), 400),
      (order(body(1, of: Product.key("north", UUID())), key: "e"), 404),
      (HTTPRequest(method: "DELETE", path: ["orders"]), 404),
    ]
    for (request, status) in refused {
      let error = await #expect(throws: HTTPError.self) { try await service.answer(request) }
      #expect(error?.status == status, "\(request)")
    }
    #expect(try await store.get(Stock.key(Self.saw.key))?.available == 1)
    await store.close()
  }

  @Test func `a request for open orders waits until the page differs`() async throws {
    let store = try ModelStore.inMemory()
    let service = try await fill(store)
    let empty = try await service.answer(HTTPRequest(method: "GET", path: ["orders"]))
    #expect(try orders(in: empty).isEmpty)
    let seen = HTTPField(name: "seen", value: empty.tag)
    async let changed = service.answer(
      HTTPRequest(method: "GET", path: ["orders"], query: [seen]))
    _ = try await service.answer(order(body(1), key: "a"))
    #expect(try await orders(in: changed).map(\.number) == [1])
    let found = try await service.answer(
      HTTPRequest(method: "GET", path: ["products"], query: [HTTPField(name: "name", value: "s")]))
    #expect(String(decoding: found.body, as: UTF8.self).contains(#""sku":"S-1""#))
    await store.close()
  }

  @Test func `a service that is ended keeps its orders`() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/shop-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try ModelStore(path: path)
    _ = try await fill(store)
    await store.close()

    let process = try await ServiceProcess("shop", ["serve", path], until: "listens on")
    let answer = try await process.ask(
      "POST", "/orders", body(3), fields: ["Idempotency-Key": "a"])
    #expect(answer.hasPrefix("201 "), "\(answer)")
    #expect(try await process.ask("GET", "/orders").contains(#""number":1,"#))
    #expect(await process.terminate() == 0)
    #expect(process.log.contains("has closed its store in order"))

    let again = try ModelStore(path: path)
    #expect(try await again.find(try Shop("north", in: again).openOrders()).count == 1)
    #expect(try await again.get(Stock.key(Self.saw.key))?.available == 0)
    await again.close()
  }
}
