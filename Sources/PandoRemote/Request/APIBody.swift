public import FoundationEssentials
import PandoRecords

/// The content of a request.
///
/// ```swift
/// let body = try APIBody(json: ["title": "Emma"])
/// let request = APIRequest(.post, "/books", body: body)
/// ```
public struct APIBody: Hashable, Sendable, Codable {
  /// The media type of the bytes, for example `application/json`.
  public var contentType: String
  /// The bytes.
  public internal(set) var bytes: Data
  /// The model identifiers of the entities whose local identifiers it contains.
  public internal(set) var localIdentifiers: [String] = []

  /// Makes a content from bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - contentType: Their media type.
  public init(_ bytes: Data, contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }

  /// Encodes a value as JSON.
  ///
  /// While the request waits, the queue replaces local identifiers in it by those that the server assigns.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: Defines how dates and data are written.
  /// - Throws: The error of the encoder.
  public init(json value: some Encodable, encoder: JSONEncoder = APIBody.makeEncoder()) throws {
    let found = LocalIdentifierCollector()
    encoder.userInfo[LocalIdentifierCollector.key] = found
    self.init(try encoder.encode(value), contentType: "application/json")
    localIdentifiers = found.modelIdentifiers
  }

  /// Makes the default encoder: sorted names, dates as ISO 8601.
  ///
  /// - Returns: A new encoder.
  public static func makeEncoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }
}
