import CPeerSQLite

extension SQLiteModels {
  /// Gets models, each in a read transaction of its own or all in one.
  ///
  /// - Parameters:
  ///   - type: The type to read.
  ///   - identifiers: Which, in which order.
  ///   - each: Whether each has a read transaction of its own.
  ///   - checksum: The sum to add the models to.
  ///   - latencies: Counts a get as an operation.
  /// - Returns: A checksum of the models.
  /// - Throws: ``BenchmarkError`` if a model is missing or SQLite fails.
  func get<Value: SQLiteReadable>(
    _ type: Value.Type, _ identifiers: [String], each: Bool,
    _ checksum: ModelChecksum = ModelChecksum(isThorough: false), _ latencies: Latencies? = nil
  ) throws -> UInt64 {
    var checksum = checksum
    if each {
      let latencies = latencies ?? Latencies(stride: identifiers.count + 1)
      for identifier in identifiers {
        try latencies.time { Value.add(try model(identifier), to: &checksum) }
      }
    } else {
      try getInside(type, identifiers, latencies) { Value.add($0, to: &checksum) }
    }
    return checksum.value
  }

  /// Gets models in one read transaction.
  func getInside<Value: SQLiteReadable>(
    _ type: Value.Type, _ identifiers: [String], _ latencies: Latencies?,
    _ body: (Value) -> Void
  ) throws {
    let latencies = latencies ?? Latencies(stride: identifiers.count + 1)
    try Self.check(sqlite_models_begin_reading(models))
    for identifier in identifiers { try latencies.time { body(try model(identifier)) } }
    try Self.check(sqlite_models_end(models, 0))
  }

  /// Finds a model; outside a transaction this is a read transaction of its own.
  private func model<Value: SQLiteReadable>(_ identifier: String) throws -> Value {
    var identifier = identifier
    return try identifier.withUTF8 { bytes in
      try bytes.withMemoryRebound(to: CChar.self) { bytes in
        let text = peer_text(bytes: bytes.baseAddress, byte_count: Int32(bytes.count))
        return try Value.read(models, text)
      }
    }
  }
}

/// A model that SQLite's columns make.
protocol SQLiteReadable: Checksummed {
  static func read(_ models: OpaquePointer, _ identifier: peer_text) throws -> Self
}

extension Person: SQLiteReadable {
  static func read(_ models: OpaquePointer, _ identifier: peer_text) throws -> Person {
    var row = peer_person()
    try SQLiteModels.check(sqlite_models_person(models, identifier, PEER_PERSON, &row))
    defer { sqlite_models_done(models) }
    return Person(
      identifier: row.identifier.string, name: row.name.string, email: row.email.string,
      about: row.about.string, age: Int(row.age), followerCount: Int(row.follower_count),
      score: row.score, isVerified: row.is_verified != 0)
  }

  static func add(_ value: Person, to checksum: inout ModelChecksum) { checksum.add(value) }
}

extension PersonCard: SQLiteReadable {
  static func read(_ models: OpaquePointer, _ identifier: peer_text) throws -> PersonCard {
    var row = peer_person()
    try SQLiteModels.check(sqlite_models_person(models, identifier, PEER_PERSON_CARD, &row))
    defer { sqlite_models_done(models) }
    return PersonCard(
      identifier: row.identifier.string, name: row.name.string, isVerified: row.is_verified != 0)
  }

  static func add(_ value: PersonCard, to checksum: inout ModelChecksum) { checksum.add(value) }
}

extension PersonContact: SQLiteReadable {
  static func read(_ models: OpaquePointer, _ identifier: peer_text) throws -> PersonContact {
    var row = peer_person()
    try SQLiteModels.check(sqlite_models_person(models, identifier, PEER_PERSON_CONTACT, &row))
    defer { sqlite_models_done(models) }
    return PersonContact(
      identifier: row.identifier.string, name: row.name.string, email: row.email.string)
  }

  static func add(_ value: PersonContact, to checksum: inout ModelChecksum) {
    checksum.add(value)
  }
}

extension Message: SQLiteReadable {
  static func read(_ models: OpaquePointer, _ identifier: peer_text) throws -> Message {
    var row = peer_tree()
    try SQLiteModels.check(sqlite_models_tree(models, identifier, &row))
    defer { sqlite_models_done(models) }
    return Message(row)
  }

  static func add(_ value: Message, to checksum: inout ModelChecksum) { checksum.add(value) }

  fileprivate init(_ row: peer_tree) {
    let image =
      row.has_image == 0
      ? nil
      : Image(
        identifier: row.image_identifier.string, url: row.image_url.string,
        width: Int(row.image_width), height: Int(row.image_height))
    self.init(
      identifier: row.identifier.string, text: row.text.string, sentAt: Int(row.sent_at),
      likeCount: Int(row.like_count),
      author: Author(
        identifier: row.author_identifier.string, name: row.author_name.string,
        followerCount: Int(row.author_follower_count)),
      image: image)
  }
}

extension Discussion: SQLiteReadable {
  static func read(_ models: OpaquePointer, _ identifier: peer_text) throws -> Discussion {
    var title = peer_text()
    try SQLiteModels.check(sqlite_models_thread(models, identifier, &title))
    let titleString = title.string
    var messages: [Message] = []
    var row = peer_tree()
    var isThere: CInt = 0
    while true {
      try SQLiteModels.check(sqlite_models_thread_next(models, &row, &isThere))
      guard isThere != 0 else { break }
      messages.append(Message(row))
    }
    sqlite_models_done(models)
    return Discussion(identifier: identifier.string, title: titleString, messages: messages)
  }

  static func add(_ value: Discussion, to checksum: inout ModelChecksum) { checksum.add(value) }
}

extension peer_text {
  @inline(__always)
  var string: String {
    UnsafeBufferPointer(start: bytes, count: Int(byte_count))
      .withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
  }
}
