import PandoModels
import Testing

@Suite struct ModelTypeNameTests {
  struct Named: SimpleModel, Equatable { var modelIdentifier: String? }
  struct Generic<Value: Sendable>: SimpleModel {
    var modelIdentifier: String?
    func isEqual(to other: any SimpleModel) -> Bool { false }
  }
  private struct Hidden: SimpleModel, Equatable { var modelIdentifier: String? }
  struct NamedGeneric<Value: Sendable>: SimpleModel, Equatable {
    var modelIdentifier: String?
    static var modelTypeName: String { "named" }
  }

  @Test func `types without a name of their own have to give one`() throws {
    struct Local: SimpleModel, Equatable { var modelIdentifier: String? }
    #expect(try ModelTypeName.validated(Named.self) == "Named")
    #expect(try ModelTypeName.validated(Hidden.self) == "Hidden")
    #expect(try ModelTypeName.validated(NamedGeneric<Int>.self) == "named")
    for type in [Local.self, Generic<Int>.self] as [any SimpleModel.Type] {
      let error = #expect(throws: ModelError.self) { try ModelTypeName.validated(type) }
      #expect(error?.code == .unnamedType)
    }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "n", count: 256)])
  func `names that can't be stored are refused`(name: String) {
    #expect(throws: ModelError.self) { try ModelTypeName.validate(name) }
  }
}
