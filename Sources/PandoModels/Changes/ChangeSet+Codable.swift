import FoundationEssentials

extension ChangeSet: Codable {
  private enum CodingKeys: String, CodingKey {
    case commitNumber, updated, inserted, deleted, collections, author, date
  }

  /// Decodes a change set; its context is `nil`.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      commitNumber: container.decode(UInt64.self, forKey: .commitNumber),
      updated: container.decode([String].self, forKey: .updated),
      inserted: container.decode([String].self, forKey: .inserted),
      deleted: container.decode([String].self, forKey: .deleted),
      collections: container.decode([CollectionUpdate].self, forKey: .collections),
      author: container.decodeIfPresent(String.self, forKey: .author),
      date: container.decode(Date.self, forKey: .date))
  }

  /// Encodes everything but the context.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(commitNumber, forKey: .commitNumber)
    try container.encode(updated, forKey: .updated)
    try container.encode(inserted, forKey: .inserted)
    try container.encode(deleted, forKey: .deleted)
    try container.encode(collections, forKey: .collections)
    try container.encodeIfPresent(author, forKey: .author)
    try container.encode(date, forKey: .date)
  }
}
