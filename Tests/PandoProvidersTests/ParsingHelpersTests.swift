import Foundation
import PandoModels
import PandoProviders
import Testing

@Suite struct ParsingHelpersTests {
  private class Record: SimpleModel, @unchecked Sendable {
    let id: Int
    required init(id: Int) { self.id = id }
    var modelIdentifier: String? { "Record:\(id)" }
    func isEqual(to other: any SimpleModel) -> Bool { (other as? Record)?.id == id }
  }

  private final class Invoice: Record, @unchecked Sendable {}
  private final class Receipt: Record, @unchecked Sendable {}
  private struct Unreadable: Error {}

  private let ada = Person(id: 1, name: "Ada")

  private func code(_ error: (any Error)?) -> DataProviderError.Code? {
    (error as? DataProviderError)?.code
  }

  @Test func `a model is decoded as the type that is asked for`() throws {
    let data = try JSONEncoder().encode(ada)
    let decoded: Person = try ParsingHelpers.decodeModel {
      try JSONDecoder().decode($0, from: data)
    }
    #expect(decoded == ada)
    let list: [Person] = try ParsingHelpers.decodeCollection([data, data]) {
      try JSONDecoder().decode($0, from: $1)
    }
    #expect(list == [ada, ada])
  }

  @Test func `a type that is not decodable, or another one than is made, is an error`() {
    let notCodable = #expect(throws: DataProviderError.self) {
      try ParsingHelpers.decodeModel(as: Sketch.self) { _ in Sketch(id: 1) }
    }
    #expect(notCodable?.code == .notCodable)
    let wrong = #expect(throws: DataProviderError.self) {
      try ParsingHelpers.decodeCollection([1], as: FullProfile.self) { _, _ in ada }
    }
    #expect(wrong?.code == .wrongType)
    #expect(throws: Unreadable.self) {
      try ParsingHelpers.decodeModel(as: Person.self) { _ in throw Unreadable() }
    }
  }

  @Test func `a model is made through the class that all have in common`() {
    let one: (Invoice?, (any Error)?) = ParsingHelpers.parseModel { (type: Record.Type) in
      type.init(id: 7)
    }
    #expect(one.0?.id == 7)
    #expect(one.1 == nil)
    let none: (Invoice?, (any Error)?) = ParsingHelpers.parseModel { (_: Record.Type) in
      nil as Record?
    }
    #expect(none.0 == nil)
    #expect(none.1 == nil)
    let several: ([Invoice]?, (any Error)?) = ParsingHelpers.parseCollection {
      (type: Record.Type) in [type.init(id: 1), type.init(id: 2)]
    }
    #expect(several.0?.map(\.id) == [1, 2])
    #expect(several.1 == nil)
  }

  @Test func `the error of the closure is returned`() {
    let thrown: (Invoice?, (any Error)?) = ParsingHelpers.parseModel {
      (_: Record.Type) -> Record? in throw Unreadable()
    }
    #expect(thrown.0 == nil)
    #expect(thrown.1 is Unreadable)
    let list: ([Invoice]?, (any Error)?) = ParsingHelpers.parseCollection {
      (_: Record.Type) -> [Record]? in throw Unreadable()
    }
    #expect(list.0 == nil)
    #expect(list.1 is Unreadable)
  }

  @Test func `a type of another class, or an instance of one, is an error`() {
    let other: (Person?, (any Error)?) = ParsingHelpers.parseModel { (type: Record.Type) in
      type.init(id: 1)
    }
    #expect(other.0 == nil)
    #expect(code(other.1) == .wrongType)
    let sibling: ([Invoice]?, (any Error)?) = ParsingHelpers.parseCollection {
      (_: Record.Type) in [Receipt(id: 1)]
    }
    #expect(sibling.0 == nil)
    #expect(code(sibling.1) == .wrongType)
  }
}
