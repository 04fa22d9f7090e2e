import PandoModels

extension StoreStatistics: Codable {
  /// Decodes statistics.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: TextKey.self)
    func count(_ name: String) throws -> Int {
      try container.decode(Int.self, forKey: TextKey(name))
    }
    commitNumber = try container.decode(CommitNumber.self, forKey: TextKey("commitNumber"))
    nodeCount = try count("nodeCount")
    recordCounts = try container.decode([String: Int].self, forKey: TextKey("recordCounts"))
    edgeCount = try count("edgeCount")
    collectionCount = try count("collectionCount")
    changeLogCount = try count("changeLogCount")
    fileSizeInBytes = try count("fileSizeInBytes")
    usedSizeInBytes = try count("usedSizeInBytes")
    mapSizeInBytes = try count("mapSizeInBytes")
    readerCount = try count("readerCount")
    readerCountMaximum = try count("readerCountMaximum")
    oldestReaderAgeInSeconds = try container.decodeIfPresent(
      Double.self, forKey: TextKey("oldestReaderAgeInSeconds"))
    formatVersion = try count("formatVersion")
    storeIdentifier = try container.decode(String.self, forKey: TextKey("storeIdentifier"))
  }

  /// Encodes every figure.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    try container.encode(commitNumber, forKey: TextKey("commitNumber"))
    try container.encode(nodeCount, forKey: TextKey("nodeCount"))
    try container.encode(recordCounts, forKey: TextKey("recordCounts"))
    try container.encode(edgeCount, forKey: TextKey("edgeCount"))
    try container.encode(collectionCount, forKey: TextKey("collectionCount"))
    try container.encode(changeLogCount, forKey: TextKey("changeLogCount"))
    try container.encode(fileSizeInBytes, forKey: TextKey("fileSizeInBytes"))
    try container.encode(usedSizeInBytes, forKey: TextKey("usedSizeInBytes"))
    try container.encode(mapSizeInBytes, forKey: TextKey("mapSizeInBytes"))
    try container.encode(readerCount, forKey: TextKey("readerCount"))
    try container.encode(readerCountMaximum, forKey: TextKey("readerCountMaximum"))
    try container.encodeIfPresent(
      oldestReaderAgeInSeconds, forKey: TextKey("oldestReaderAgeInSeconds"))
    try container.encode(formatVersion, forKey: TextKey("formatVersion"))
    try container.encode(storeIdentifier, forKey: TextKey("storeIdentifier"))
  }
}
