import PandoModels
import PandoRecords
import Testing

/// What a model is known as may change; the model may not.
@Suite struct ModelBoxesTests {
  private struct Small: Model, Codable, Equatable {
    let number: Int8
    var modelIdentifier: String? { nil }
  }

  private struct Large: Model, Codable, Equatable {
    let texts: [String]
    let name: String
    let number: Int
    var modelIdentifier: String? { name }
  }

  private final class Shared: Model, Codable, Equatable {
    let name: String

    init(_ name: String) { self.name = name }

    var modelIdentifier: String? { name }

    static func == (left: Shared, right: Shared) -> Bool { left.name == right.name }
  }

  private static var models: [any Model] {
    [
      Small(number: -3),
      Large(
        texts: ["a", "longer than any small text"], name: "an identifier of some length", number: 7),
      Shared("shared"),
    ]
  }

  @Test func `boxes have the layout that is expected of this compiler`() {
    #expect(ModelBoxes.canShare)
  }

  /// Both with one box for two protocols, where the layout allows it, and without.
  @Test(arguments: 0..<3, Set([ModelBoxes.canShare, false]))
  func `a model is the same under both protocols`(index: Int, isSharing: Bool) {
    var simple: (any SimpleModel)?
    do {
      let model = Self.models[index]
      simple = ModelBoxes.simple(model, sharing: isSharing)
      #expect(simple?.isEqual(to: model) == true)
    }
    // The first box has gone; what is left keeps the model alive.
    guard let simple, let type = type(of: simple) as? any Model.Type else {
      Issue.record("\(index) is no model")
      return
    }
    let back = ModelBoxes.model(simple, type, sharing: isSharing)
    #expect(back.isEqual(to: Self.models[index]))
    #expect(back.modelIdentifier == Self.models[index].modelIdentifier)
  }

  @Test func `a model is not taken for one of another type`() async {
    await #expect(processExitsWith: .failure) {
      _ = ModelBoxes.model(Small(number: 1), Large.self)
    }
    await #expect(processExitsWith: .failure) {
      _ = ModelBoxes.model(Small(number: 1), Large.self, sharing: false)
    }
  }
}
