import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore
import Testing

/// The code of `@Model` and `@Embedded` encodes and decodes as synthesized `Codable` does.
@Suite struct ShapeTests {
  static let shapes: [any Shape.Type] = [
    Shapes.Payment.self, Shapes.Point.self, Shapes.Signed.self, Shapes.Unsigned.self,
    Shapes.Wide.self, Shapes.Optionals.self,
    Shapes.Foundational.self, Shapes.OptionalFoundational.self, Shapes.Lists.self, Shapes.Maps.self,
    Shapes.Sets.self, Shapes.Enums.self,
    Shapes.Payments.self, Shapes.Inner.self, Shapes.Outer.self, Shapes.Renamed.self,
    Shapes.Transients.self, Shapes.Constants.self,
    Shapes.Defaults.self, Shapes.One.self, Shapes.Words.self, Shapes.Observed.self,
    Shapes.Several.self, Shapes.Aliased.self, Shapes.Many.self,
    Shapes.Writer.self, Shapes.Sheet.self, Shapes.Folder.self, Shapes.Holder.self,
    Shapes.Cover.self, Shapes.Versioned.self,
  ]

  @Test(arguments: 0..<UInt64(20))
  func `each form reads what the other has written`(seed: UInt64) throws {
    #expect(Self.shapes.count > 30)
    let dice = Dice(seed)
    for shape in Self.shapes { for _ in 0..<5 { try check(shape, dice) } }
  }

  private func check<S: Shape>(_ type: S.Type, _ dice: Dice) throws { try check(S(dice)) }

  private func check<S: Shape>(_ value: S) throws {
    let plain = try RecordEncoder.encodeValue(value, usingFields: false).body
    let generated = try RecordEncoder.encodeValue(value).body
    #expect(plain == generated, "\(value)")
    // Children are not decoded without a store, so a value with some is compared in a store below.
    guard !(S.self is any Model.Type), S.self != Shapes.Holder.self else { return }
    let here = try unsafe generated.withUnsafeBytes { bytes in
      try unsafe (
        RecordDecoder.decodeValue(S.self, from: bytes, usingFields: false),
        RecordDecoder.decodeValue(S.self, from: bytes)
      )
    }
    #expect(here.0 == value)
    #expect(here.1 == value)
  }

  @Test(arguments: 0..<UInt64(10)) func `trees come back as they were`(seed: UInt64) throws {
    let store = try ModelStore.inMemory(models: [Shapes.Folder.self, Shapes.Cover.self])
    let dice = Dice(seed)
    func check<M: Shape & Queryable & KeyedModel>(_ model: M) throws {
      try store.write { try $0.set(model) }
      // The last value of a node counts, so the stored tree may differ from the given one once.
      let stored = try #require(try store.get(model.key))
      try store.write { try $0.set(stored) }
      #expect(try store.get(model.key) == stored)
    }
    for _ in 0..<5 {
      try check(Shapes.Folder(dice))
      try check(Shapes.Cover(dice))
      try check(Shapes.Sheet(dice))
      try check(Shapes.Versioned(dice))
    }
  }
}
