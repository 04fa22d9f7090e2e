public import FoundationEssentials
import PandoModels

/// The content of a request.
///
/// ```swift
/// let body = try APIBody(json: ["title": "Emma"])
/// let request = APIRequest(.post, "/books", body: body)
/// ```
public struct APIBody: Hashable, Sendable {
  /// What the bytes are, for example `application/json`.
  public var contentType: String
  /// The bytes.
  public internal(set) var bytes: Data
  /// The model identifiers of the entities whose local identifiers stand in it.
  public internal(set) var localIdentifiers: [String] = []

  /// Makes a content of bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - contentType: What they are.
  public init(_ bytes: Data, contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }

  /// Makes a content of a value as JSON.
  ///
  /// Local identifiers in it are remembered: once the server has named their entities, a request that
  /// is still queued is sent with the server's identifiers.
  ///
  /// - Parameters:
  ///   - value: What to encode.
  ///   - encoder: How dates and data are written.
  /// - Throws: What the encoder throws.
  public init(json value: some Encodable, encoder: JSONEncoder = APIBody.makeEncoder()) throws {
    let found = LocalIdentifierCollector()
    encoder.userInfo[LocalIdentifierCollector.key] = found
    self.init(try encoder.encode(value), contentType: "application/json")
    localIdentifiers = found.modelIdentifiers
  }

  /// Makes the encoder that is used where no other is given: names sorted, dates as ISO 8601.
  ///
  /// - Returns: A new encoder.
  public static func makeEncoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }
}
