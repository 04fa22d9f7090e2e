// The forms equal those of the compiler; see `TextKey` for the reason.

import FoundationEssentials

extension ChangeSet: Codable {
  /// Decodes a change set; its context is `nil`.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: TextKey.self)
    try self.init(
      commitNumber: container.decode(CommitNumber.self, forKey: TextKey("commitNumber")),
      updated: container.decode([String].self, forKey: TextKey("updated")),
      inserted: container.decode([String].self, forKey: TextKey("inserted")),
      deleted: container.decode([String].self, forKey: TextKey("deleted")),
      collections: container.decode([CollectionUpdate].self, forKey: TextKey("collections")),
      author: container.decodeIfPresent(String.self, forKey: TextKey("author")),
      date: container.decode(Date.self, forKey: TextKey("date")))
  }

  /// Encodes everything but the context.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    try container.encode(commitNumber, forKey: TextKey("commitNumber"))
    try container.encode(updated, forKey: TextKey("updated"))
    try container.encode(inserted, forKey: TextKey("inserted"))
    try container.encode(deleted, forKey: TextKey("deleted"))
    try container.encode(collections, forKey: TextKey("collections"))
    try container.encodeIfPresent(author, forKey: TextKey("author"))
    try container.encode(date, forKey: TextKey("date"))
  }
}

extension CollectionUpdate: Codable {
  /// Decodes the change of one list.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: TextKey.self)
    try self.init(
      cacheKey: container.decode(String.self, forKey: TextKey("cacheKey")),
      change: container.decode(CollectionChange.self, forKey: TextKey("change")))
  }

  /// Encodes key and change.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    try container.encode(cacheKey, forKey: TextKey("cacheKey"))
    try container.encode(change, forKey: TextKey("change"))
  }
}

extension CollectionChange: Codable {
  /// Decodes the change of a list.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder; `DecodingError` if there is no case, or more than one.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: TextKey.self)
    let (name, values) = try container.onlyCase(of: Self.self, ["reset", "changes"])
    self =
      name == "reset"
      ? .reset
      : try .changes(values.decode([CollectionChangeInformation].self, forKey: TextKey("_0")))
  }

  /// Encodes the case, and the changes inside it.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    switch self {
    case .reset:
      _ = container.nestedContainer(keyedBy: TextKey.self, forKey: TextKey("reset"))
    case .changes(let changes):
      var values = container.nestedContainer(keyedBy: TextKey.self, forKey: TextKey("changes"))
      try values.encode(changes, forKey: TextKey("_0"))
    }
  }
}

extension CollectionChangeInformation: Codable {
  /// Decodes one change of a list.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder; `DecodingError` if there is no case, or more than one.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: TextKey.self)
    let (name, values) = try container.onlyCase(
      of: Self.self, ["update", "delete", "insert", "move"])
    func index(_ label: String) throws -> Int {
      try values.decode(Int.self, forKey: TextKey(label))
    }
    self =
      switch name {
      case "update": try .update(index: index("index"))
      case "delete": try .delete(index: index("index"))
      case "insert": try .insert(index: index("index"))
      default: try .move(from: index("from"), to: index("to"))
      }
  }

  /// Encodes the case, and its indexes inside it.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    func encode(_ name: String, _ label: String, _ index: Int, to target: Int? = nil) throws {
      var values = container.nestedContainer(keyedBy: TextKey.self, forKey: TextKey(name))
      try values.encode(index, forKey: TextKey(label))
      if let target { try values.encode(target, forKey: TextKey("to")) }
    }
    switch self {
    case .update(let index): try encode("update", "index", index)
    case .delete(let index): try encode("delete", "index", index)
    case .insert(let index): try encode("insert", "index", index)
    case .move(let from, let to): try encode("move", "from", from, to: to)
    }
  }
}
