import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// A field that is declared plain and folded.
@Suite struct FoldedFieldTests {
  struct Word: Model, Codable, Equatable, Queryable {
    var id: Int
    var text: String
    var modelIdentifier: String? { "Word:\(id)" }
    static let fields: [Field<Word>] = [.indexed(.folded(\.text)), .indexed(\.text), .field(\.id)]
    static let indexes: [FieldIndex<Word>] = [.text(\.text), .indexed(\.text, \.id)]
  }

  @Test(.overBothBackings) func `a key path means the plain field, also beside a folded one`()
    throws
  {
    let store = try ModelStore.forTest()
    try store.addIndexes(of: [Word.self])
    #expect(
      try store.read { try $0.indexes() }.map(\.field)
        == ["folded(text)", "text", "text, id", "words(text)"])
    try store.write { transaction in
      for (id, text) in ["b", "Ä", "a", "B"].enumerated() {
        try transaction.set(Word(id: id, text: text))
      }
    }
    func found(_ query: Query<Word>) throws -> String {
      try store.find(query).entities.map(\.text).joined()
    }
    #expect(try found(Query(order: [.ascending(\.text)], limit: 9)) == "BabÄ")
    #expect(try found(Query(order: [.ascending(.folded(\.text))], limit: 9)) == "ÄabB")
    #expect(try found(Query(filter: .search("A", in: \.text))) == "Äa")
    #expect(try found(Query(filter: \.text == "B")) == "B")
    #expect(try store.verify().problems == [])
  }
}
