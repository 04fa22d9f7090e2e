import PandoStore
import Testing

/// A scope with types that are called as those in the code of the macros.
private enum Scope {
  struct Field {}
  struct FieldList {}
  struct FieldIndex {}
  struct FieldSource {}
  struct FieldSink {}
  struct EmbeddedFields {}
  struct DeletionRule {}
  struct KeyedModel {}
  struct Queryable {}
  struct FieldCodable {}
  struct CaseNamed {}

  @Model(unique: [\.note.text]) struct Form {
    @PandoStore.Key var id: Int
    @Indexed var name: String
    @Renamed(from: "old") var note = Note()
    @Owned var image: Image?
    var state: State = .open
    var way: Way?

    /// Hides the type that identifies a node.
    struct Key {}

    @Embedded struct Note { var text = "" }
  }

  @Model struct Image {
    @Key var name: String
  }

  @Embedded enum State { case open, done }
  @Embedded enum Way { case by(name: String) }
}

/// Generated code names the types of Pando, also if a program has types with the same names.
@Suite struct NameTests {
  @Test func `types of a program may be called as those of Pando`() throws {
    let store = try ModelStore.temporary(models: [Scope.Form.self])
    let form = Scope.Form(
      id: 1, name: "A", note: .init(text: "n"), image: Scope.Image(name: "i"), way: .by(name: "b"))
    try store.write { try $0.set(form) }
    #expect(try store.get(Scope.Form.key(1)) == form)
    let query = Query(filter: \Scope.Form.name == "A" && \.note.text == "n" && \.state == .open)
    #expect(try store.answer(.count, to: query) == 1)
    #expect(try store.answer(.count, to: Query(filter: \Scope.Form.way?.by?.name == "b")) == 1)
  }
}
