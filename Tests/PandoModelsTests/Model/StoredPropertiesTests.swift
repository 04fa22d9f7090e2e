import PandoModels
import Testing

@Suite struct StoredPropertiesTests {
  final class Shared {}
  struct Person { var name: String }

  @Test func `stored properties are those of structures, and nothing else has any`() {
    enum Payment { case cash(Int), card(String) }
    struct Holder {
      var payment: Payment
      var anything: any Encodable
      var shared: Shared?
      var pair: (Int, String)
      var list: [Person?]
      var named: [String: Person]
    }
    func type(_ name: String) -> Any.Type? { StoredProperties.type(of: name, in: Holder.self) }
    #expect(type("payment") == Payment.self && type("shared") == Shared.self)
    #expect(type("other") == nil)
    #expect(StoredProperties.element(of: [Person?].self) == Person.self)
    #expect(StoredProperties.element(of: [String: Person].self) == Person.self)
    #expect(StoredProperties.type(of: "name", in: Person?.self) == String.self)
    let others: [Any.Type] = [
      Payment.self, (any Encodable).self, Shared.self, (Int, String).self, Any.self,
      (() -> Void).self, Payment?.self, AnyObject.self, (any Encodable)?.self,
    ]
    for other in others {
      #expect(StoredProperties.type(of: "cash", in: other) == nil, "\(other)")
    }
  }
}
