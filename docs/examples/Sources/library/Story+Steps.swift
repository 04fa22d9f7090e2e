/// The steps of the story.
extension Story {
  /// The contents of the server are stored here, and every view shows them.
  func fetch(_ server: Companion, _ session: Companion) async throws {
    log.step("The library opens, and fetches what the server has")
    try log.tell(await session.ask("fetch"), "Desk|has 2 authors, 2 books, 1 loans")
    try log.tell(
      await server.ask("sync"),
      "Server|answers GET /authors", "Server|answers GET /books", "Server|answers GET /loans")
    try log.tell(
      await session.ask("views"),
      "Authors|Jane Austen (no. 1), Frank Herbert (no. 2)",
      "Catalogue|Dune (no. 1), Emma (no. 2)",
      "Loans|Alan has Dune by Frank Herbert")
  }

  /// Each write is stored and queued in one transaction, and shows at once.
  func work(_ session: Companion) async throws {
    log.step("The server goes away: the desk works on, and what is for the server waits in order")
    try log.tell(await session.ask("author|Mary Shelley"), "Desk|author Mary Shelley is queued")
    try log.tell(
      await session.ask("book|Frankenstein|Mary Shelley"), "Desk|book Frankenstein is queued")
    try log.tell(
      await session.ask("lend|Frankenstein|Ada"), "Desk|loan of Frankenstein is queued")
    try log.tell(
      await session.ask("rename|Emma|Emma, annotated"), "Desk|title Emma, annotated is queued")
    try await showLocal(session)
  }

  /// The store has it all.
  func startAgain(_ session: Companion) async throws {
    log.step("The process is killed and starts again, still without a server: all is there")
    try await showLocal(session)
  }

  private func showLocal(_ session: Companion) async throws {
    try log.tell(
      await session.ask("views"),
      "Authors|Jane Austen (no. 1), Frank Herbert (no. 2), Mary Shelley (new)",
      "Catalogue|Dune (no. 1), Emma, annotated (no. 2), Frankenstein (new)",
      "Loans|Alan has Dune by Frank Herbert, Ada has Frankenstein by Mary Shelley")
    try log.tell(
      await session.ask("queue"), "Queue|POST /authors, POST /books, POST /loans, PUT /books/2")
  }

  /// The server has made a book, and its answer has not arrived.
  func interrupt(_ server: Companion, _ session: Companion) async throws {
    log.step("The server is back, and slow: the process is killed while it waits for an answer")
    try session.tell("drain")
    try log.tell(
      [await server.line(), await server.line(), await server.line()],
      "Server|makes at POST /authors: name “Mary Shelley”, no. 3",
      "Server|stores PUT /books/2: author 1, title “Emma, annotated”",
      "Server|makes at POST /books: author 3, title “Frankenstein”, no. 3")
    session.killNow()
    try log.tell(await server.ask("release"))
  }

  /// The rest is sent in order, nothing is made twice, and the server's numbers are everywhere.
  func finish(_ server: Companion, _ session: Companion) async throws {
    log.step("It starts again: the interrupted request is sent again, the rest follows")
    try log.tell(await session.ask("drain"), "Queue|nothing waits any more")
    try log.tell(
      await server.ask("sync"),
      "Server|has made it before at POST /books: author 3, title “Frankenstein”, no. 3",
      "Server|makes at POST /loans: book 3, reader “Ada”, no. 2")
    try log.tell(
      await session.ask("views"),
      "Authors|Jane Austen (no. 1), Frank Herbert (no. 2), Mary Shelley (no. 3)",
      "Catalogue|Dune (no. 1), Emma, annotated (no. 2), Frankenstein (no. 3)",
      "Loans|Alan has Dune by Frank Herbert, Ada has Frankenstein by Mary Shelley")
    log.step("The contents here are those of the server")
    try log.tell(await session.ask("fetch"), "Desk|has 3 authors, 3 books, 2 loans")
    try log.tell(
      await server.ask("sync"),
      "Server|answers GET /authors", "Server|answers GET /books", "Server|answers GET /loans")
    try log.tell(
      await session.ask("views"),
      "Authors|Jane Austen (no. 1), Frank Herbert (no. 2), Mary Shelley (no. 3)",
      "Catalogue|Dune (no. 1), Emma, annotated (no. 2), Frankenstein (no. 3)",
      "Loans|Alan has Dune by Frank Herbert, Ada has Frankenstein by Mary Shelley")
    try log.tell(await session.ask("verify"), "Store|the store is whole")
  }

  /// A refused write is undone, and no more than that.
  func refuse(_ server: Companion, _ session: Companion) async throws {
    let (title, longTitle) = ("Emma, annotated", "Emma, annotated and illustrated")
    log.step("The server takes its time, and refuses: that change is taken back, a later one stays")
    try log.tell(await server.ask("hold|PUT /books/2"))
    try log.tell(
      await session.ask("rename|\(title)|\(longTitle)"), "Desk|title \(longTitle) is queued")
    try log.tell(
      [await server.line()],
      "Server|refuses PUT /books/2: a title has at most 20 characters")
    try log.tell(
      await session.ask("credit|\(longTitle)|Mary Shelley"),
      "Desk|Mary Shelley for \(longTitle) is queued")
    try log.tell(
      await session.ask("states"),
      "Desk|Dune is synced, \(longTitle) is pending, Frankenstein is synced")
    try log.tell(await server.ask("release"))
    try log.tell(
      await session.ask("drain"),
      "Queue|PUT /books/2: the server answered 422: "
        + #"{"error":"a title has at most 20 characters"}"#)
    try log.tell(
      await server.ask("sync"),
      "Server|stores PUT /books/2: author 3, title “\(title)”")
    try log.tell(
      await session.ask("states"),
      "Desk|Dune is synced, \(title) is synced, Frankenstein is synced")
    try log.tell(await session.ask("verify"), "Store|the store is whole")
  }
}
