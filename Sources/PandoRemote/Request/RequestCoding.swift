import PandoModels
import PandoSystem

extension APIRequest: Codable {
  /// Decodes the request.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    method = try row.get("method")
    path = try row.get("path")
    query = try row.get("query")
    headers = try row.get("headers")
    body = try row.find("body")
    configuration = try row.get("configuration")
  }

  /// Encodes the request.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(method, forKey: TextKey("method"))
    try row.encode(path, forKey: TextKey("path"))
    try row.encode(query, forKey: TextKey("query"))
    try row.encode(headers, forKey: TextKey("headers"))
    try row.encodeIfPresent(body, forKey: TextKey("body"))
    try row.encode(configuration, forKey: TextKey("configuration"))
  }
}

extension APIRequest.QueryItem: Codable {
  /// Decodes the item.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    name = try row.get("name")
    value = try row.get("value")
  }

  /// Encodes the item.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(name, forKey: TextKey("name"))
    try row.encode(value, forKey: TextKey("value"))
  }
}

extension APIRequestConfig: Codable {
  /// Decodes the configuration.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    uniquingKey = try row.find("uniquingKey")
    sharesEqualRequests = try row.get("sharesEqualRequests")
    usesConditionalRequests = try row.get("usesConditionalRequests")
    givenStrategy = try row.find("givenStrategy")
    retryPolicy = try row.get("retryPolicy")
    timeoutInSeconds = try row.find("timeoutInSeconds")
  }

  /// Encodes the configuration.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encodeIfPresent(uniquingKey, forKey: TextKey("uniquingKey"))
    try row.encode(sharesEqualRequests, forKey: TextKey("sharesEqualRequests"))
    try row.encode(usesConditionalRequests, forKey: TextKey("usesConditionalRequests"))
    try row.encodeIfPresent(givenStrategy, forKey: TextKey("givenStrategy"))
    try row.encode(retryPolicy, forKey: TextKey("retryPolicy"))
    try row.encodeIfPresent(timeoutInSeconds, forKey: TextKey("timeoutInSeconds"))
  }
}

extension RetryPolicy: Codable {
  /// Decodes the policy.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    attemptCountMaximum = try row.find("attemptCountMaximum")
    secondsMaximum = try row.find("secondsMaximum")
    statuses = try row.get("statuses")
  }

  /// Encodes the policy.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encodeIfPresent(attemptCountMaximum, forKey: TextKey("attemptCountMaximum"))
    try row.encodeIfPresent(secondsMaximum, forKey: TextKey("secondsMaximum"))
    // Sorted, so that equal policies have equal bytes.
    try row.encode(statuses.ordered(), forKey: TextKey("statuses"))
  }
}

extension APIBody: Codable {
  /// Decodes the content.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    contentType = try row.get("contentType")
    bytes = try row.get("bytes")
    localIdentifiers = try row.get("localIdentifiers")
  }

  /// Encodes the content.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(contentType, forKey: TextKey("contentType"))
    try row.encode(bytes, forKey: TextKey("bytes"))
    try row.encode(localIdentifiers, forKey: TextKey("localIdentifiers"))
  }
}

extension APIHeaders: Codable {
  /// Decodes the fields.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    fields = try row.get("fields")
  }

  /// Encodes the fields.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(fields, forKey: TextKey("fields"))
  }
}

extension APIHeaders.Field: Codable {
  /// Decodes the field.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    name = try row.get("name")
    value = try row.get("value")
  }

  /// Encodes the field.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(name, forKey: TextKey("name"))
    try row.encode(value, forKey: TextKey("value"))
  }
}

extension APIPath: Codable {
  /// Decodes the path.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    text = try row.get("text")
    localIdentifiers = try row.get("localIdentifiers")
  }

  /// Encodes the path.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(text, forKey: TextKey("text"))
    try row.encode(localIdentifiers, forKey: TextKey("localIdentifiers"))
  }
}
