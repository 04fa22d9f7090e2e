import Foundation

/// A request as the server has understood it.
package struct HTTPRequest: Sendable, Equatable {
  /// For example `GET`; methods are case-sensitive.
  package var method: String
  /// The parts of the path between slashes, decoded; empty for `/`.
  package var path: [String]
  /// The fields behind the path's question mark, in their order, decoded.
  package var query: [HTTPField] = []
  /// Header fields in the order in which they came, names in lower case.
  package var fields: [HTTPField] = []
  /// The whole content.
  package var body: [UInt8] = []

  /// Makes a request, as the server makes it of what has come.
  package init(
    method: String, path: [String], query: [HTTPField] = [], fields: [HTTPField] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
  }

  /// The values of all fields with a name in lower case.
  package func values(of name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// Reads the content as JSON.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value.
  /// - Throws: ``HTTPError`` with status 400 and a sentence that says what is wrong, and where.
  package func decoded<Value: Decodable>(as type: Value.Type) throws(HTTPError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(body))
    } catch let error as DecodingError {
      throw HTTPError(400, error.sentence)
    } catch {
      throw HTTPError(400, "the content can't be read: \(error)")
    }
  }
}

/// A header field.
package struct HTTPField: Sendable, Equatable {
  package let name: String
  package let value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// An answer: a status and a document of JSON.
package struct HTTPResponse: Sendable {
  /// The status code; 200 if all went well.
  package var status: Int
  /// Further header fields.
  package var fields: [HTTPField] = []
  /// The media type of the content.
  package private(set) var type = "application/json"
  /// The content.
  package var body: [UInt8]

  /// Answers with a value as JSON.
  ///
  /// - Parameters:
  ///   - value: A value that JSON can hold; the names of its properties are sorted.
  ///   - status: The status code.
  package init(_ value: some Encodable, status: Int = 200) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.init(status: status, body: Array(try encoder.encode(value)) + [UInt8(ascii: "\n")])
    } catch {
      self.init(HTTPError(500, "the answer is no JSON: \(error)"))
    }
  }

  /// Answers with text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - type: Its media type.
  package init(text: String, type: String) {
    self.init(status: 200, body: Array(text.utf8))
    self.type = type
  }

  private init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }

  /// A tag that another content has not, the same in every process: FNV-1a of the content.
  package var tag: String {
    let hash = body.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return String(hash, radix: 16)
  }

  /// Answers that a request was refused.
  package init(_ error: HTTPError) {
    self.init(["error": error.reason], status: error.status)
    if !error.allowed.isEmpty { fields = [HTTPField(name: "Allow", value: error.allowed)] }
  }
}

/// Why a request was refused: the status of the answer, and a sentence for the client.
package struct HTTPError: Error, Equatable {
  package let status: Int
  package let reason: String
  /// With status 405, the methods that the path has.
  package let allowed: String

  package init(_ status: Int, _ reason: String, allowed: String = "") {
    self.status = status
    self.reason = reason
    self.allowed = allowed
  }
}

extension DecodingError {
  /// The mistake in the JSON, for its sender.
  fileprivate var sentence: String {
    switch self {
    case .keyNotFound(let key, let context):
      "\(Self.place(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context):
      "\(Self.place(context.codingPath)) is null"
    case .typeMismatch(let type, let context):
      "\(Self.place(context.codingPath)) is not \(Self.word(type))"
    case .dataCorrupted(let context) where context.codingPath.isEmpty:
      "the content is not JSON"
    case .dataCorrupted(let context):
      "\(Self.place(context.codingPath)) can't be read"
    @unknown default: "the content can't be read"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    let place = path.reduce("") { place, key in
      if let index = key.intValue { return "\(place)[\(index)]" }
      return place.isEmpty ? key.stringValue : "\(place).\(key.stringValue)"
    }
    return place.isEmpty ? "the content" : place
  }

  private static func word(_ type: any Any.Type) -> String {
    switch type {
    case is Bool.Type: "true or false"
    case is String.Type: "a string"
    case is Int.Type: "a number"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}
