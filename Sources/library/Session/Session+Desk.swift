import Pando

/// What is done at the desk of the library, with or without a server.
extension Session {
  /// Enters an author.
  func addAuthor(_ name: String) async throws -> String {
    let author = Author(id: EntityIdentifier(), name: name)
    let written = try await container[Author.self].set(author, in: .localAndRemote)
    return "author \(name) is \(written.state)"
  }

  /// Enters a book of a known author.
  func addBook(_ title: String, by name: String) async throws -> String {
    let authors = container[Author.self]
    guard let author = try await authors.first(for: Query(filter: \Author.name == name)) else {
      throw UsageError("there is no author \(name)")
    }
    let book = Book(id: EntityIdentifier(), title: title, author: author.id)
    let written = try await container[Book.self].set(book, in: .localAndRemote)
    return "book \(title) is \(written.state)"
  }

  /// Lends a book.
  func lend(_ title: String, to reader: String) async throws -> String {
    let loan = Loan(id: EntityIdentifier(), book: try await book(title).id, reader: reader)
    let written = try await container[Loan.self].set(loan, in: .localAndRemote)
    return "loan of \(title) is \(written.state)"
  }

  /// Gives a book another title.
  func rename(_ title: String, to newTitle: String) async throws -> String {
    var book = try await book(title)
    book.title = newTitle
    let written = try await container[Book.self].set(book, in: .localAndRemote)
    return "title \(newTitle) is \(written.state)"
  }

  private func book(_ title: String) async throws -> Book {
    guard let book = try await container[Book.self].first(for: Query(filter: \Book.title == title))
    else { throw UsageError("there is no book \(title)") }
    return book
  }
}
