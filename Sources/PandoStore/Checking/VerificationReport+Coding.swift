import PandoModels

extension VerificationReport: Codable {
  /// Decodes a report.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: TextKey.self)
    func count(_ name: String) throws -> Int {
      try container.decode(Int.self, forKey: TextKey(name))
    }
    problems = try container.decode([Problem].self, forKey: TextKey("problems"))
    commitNumber = try container.decode(CommitNumber.self, forKey: TextKey("commitNumber"))
    pageCount = try count("pageCount")
    nodeCount = try count("nodeCount")
    recordCount = try count("recordCount")
    edgeCount = try count("edgeCount")
    collectionCount = try count("collectionCount")
    elementCount = try count("elementCount")
  }

  /// Encodes the problems and every figure.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    try container.encode(problems, forKey: TextKey("problems"))
    try container.encode(commitNumber, forKey: TextKey("commitNumber"))
    try container.encode(pageCount, forKey: TextKey("pageCount"))
    try container.encode(nodeCount, forKey: TextKey("nodeCount"))
    try container.encode(recordCount, forKey: TextKey("recordCount"))
    try container.encode(edgeCount, forKey: TextKey("edgeCount"))
    try container.encode(collectionCount, forKey: TextKey("collectionCount"))
    try container.encode(elementCount, forKey: TextKey("elementCount"))
  }
}

extension VerificationReport.Problem: Codable {
  /// Decodes a problem.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The error of the decoder.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: TextKey.self)
    try self.init(
      subject: container.decode(String.self, forKey: TextKey("subject")),
      reason: container.decode(String.self, forKey: TextKey("reason")))
  }

  /// Encodes both texts.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    try container.encode(subject, forKey: TextKey("subject"))
    try container.encode(reason, forKey: TextKey("reason"))
  }
}
