import CoreManagers
import Testing

@Suite struct EntityTests {
  @Test func `an entity names its node by its type and its key`() {
    #expect(Book(id: .remote("7")).modelIdentifier == "Book:7")
    #expect(Book(id: .local("x")).modelIdentifier == "Book:local:x")
    #expect(Author(id: .remote(12), name: "A").modelIdentifier == "Author:12")
  }
}
