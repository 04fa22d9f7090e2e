import Pando

/// Puts of what is there already.
extension ModelSuite {
  /// Trees that are put again as they are.
  func measureUnchanged() throws {
    let count = runner.options.scaled(smoke: 2_000, standard: 50_000)
    let messages = data.messages(count)
    let flat = FlatTrees(messages)
    let identifiers = messages.map(\.identifier)
    try runner.measure(
      Workload(
        name: "put-unchanged",
        operation: "put of a 3-node tree as it is stored, one commit for all",
        parameters: ["trees": count], durability: durability,
        contenders: [
          pando(count, prepare: { try $0.put(messages) }) { pando, latencies in
            try pando.put(messages, latencies)
          } checksum: { pando in
            try pando.get(Message.self, identifiers, each: false)
          },
          sqlite(count, prepare: { try $0.insert(flat, nil) }) { sqlite, latencies in
            try sqlite.put(flat, perCommit: flat.count, latencies)
          } checksum: { sqlite in
            try sqlite.get(Message.self, identifiers, each: false)
          },
        ]))
  }

  /// One author of many messages changes, as a whole and through a projection.
  func measureSharedChild() throws {
    let sizes = runner.options.scaled(smoke: 2, standard: 3)
    for parentCount in [1, 1_000, 100_000].prefix(sizes) {
      let author = data.author(0)
      let messages = (0..<parentCount).map { data.message($0, author: author, image: nil) }
      let changeCount = runner.options.scaled(smoke: 200, standard: 5_000)
      let changed = (1...changeCount).map { number in
        Author(identifier: author.identifier, name: author.name, followerCount: number)
      }
      let shared = SharedChild(
        messages: messages, changed: changed,
        projected: changed.map {
          AuthorFollowers(identifier: $0.identifier, followerCount: $0.followerCount)
        })
      let parameters = ["parents": parentCount, "operations": changeCount]
      try measure(
        "put-child-\(parentCount)", "put of a changed child that several parents hold",
        parameters, shared, { try $0.put(shared.changed, $1) },
        { try $0.put(shared.flatChanged, perCommit: shared.flatChanged.count, $1) })
      try measure(
        "put-projection-\(parentCount)",
        "put of a changed projection, with one field, of a child that several parents hold",
        parameters, shared, { try $0.put(shared.projected, $1) },
        { try $0.putFollowers(shared.flatChanged, $1) })
    }
  }

  private func measure(
    _ name: String, _ operation: String, _ parameters: [String: Int], _ shared: SharedChild,
    _ putIntoPando: @escaping (PandoModels, Latencies) throws -> Void,
    _ putIntoSQLite: @escaping (SQLiteModels, Latencies) throws -> Void
  ) throws {
    let count = shared.changed.count
    try runner.measure(
      Workload(
        name: name, operation: operation + ", one commit for all", parameters: parameters,
        durability: durability,
        contenders: [
          pando(count, prepare: { try $0.put(shared.messages) }, putIntoPando) { pando in
            try pando.get(Message.self, shared.identifiers, each: false)
          },
          sqlite(
            count,
            prepare: { try $0.put(shared.flat, perCommit: shared.flat.count, nil) },
            putIntoSQLite
          ) { sqlite in
            try sqlite.get(Message.self, shared.identifiers, each: false)
          },
        ]))
  }
}

/// A child, those who hold it, and how it changes.
private struct SharedChild {
  let messages: [Message]
  /// The child, each time with another number of followers.
  let changed: [Author]
  /// The same as projections.
  let projected: [AuthorFollowers]
  let flat: FlatTrees
  /// The first message with each changed child.
  let flatChanged: FlatTrees

  var identifiers: [String] { messages.map(\.identifier) }

  init(messages: [Message], changed: [Author], projected: [AuthorFollowers]) {
    self.messages = messages
    self.changed = changed
    self.projected = projected
    flat = FlatTrees(messages)
    flatChanged = FlatTrees(
      changed.map { author in
        let first = messages[0]
        return Message(
          identifier: first.identifier, text: first.text, sentAt: first.sentAt,
          likeCount: first.likeCount, author: author, image: nil)
      })
  }
}
