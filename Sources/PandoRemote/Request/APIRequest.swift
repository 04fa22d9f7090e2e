import PandoModels

/// A request to an HTTP API: a value that can be stored and sent later.
///
/// ```swift
/// APIRequest(.put, "/books/\(book.id)", body: try APIBody(json: book))
/// ```
public struct APIRequest: Hashable, Sendable, Codable {
  /// A name and a value of the query.
  ///
  /// ```swift
  /// let year = APIRequest.QueryItem("year", "1965")
  /// print(APIRequest(.get, "/books", query: [year]).target)  // /books?year=1965
  /// ```
  public struct QueryItem: Hashable, Sendable, Codable {
    /// The name, not escaped.
    public var name: String
    /// The value, not escaped.
    public var value: String

    /// Makes an item.
    ///
    /// - Parameters:
    ///   - name: The name, not escaped.
    ///   - value: The value, not escaped.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The method.
  public var method: HTTPMethod
  /// The path, relative to the server's address.
  public var path: APIPath
  /// The query items, in order.
  public var query: [QueryItem]
  /// Header fields in addition to those of the client.
  public var headers: APIHeaders
  /// The content, if there is any.
  public var body: APIBody?
  /// How the queue sends it.
  public var configuration: APIRequestConfig

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - path: The path, relative to the server's address.
  ///   - query: The query items.
  ///   - headers: Header fields.
  ///   - body: The content.
  ///   - configuration: How the queue sends it.
  public init(
    _ method: HTTPMethod, _ path: APIPath, query: [QueryItem] = [], headers: APIHeaders = [:],
    body: APIBody? = nil, configuration: APIRequestConfig = APIRequestConfig()
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.configuration = configuration
  }

  /// The path and the query, escaped.
  public var target: String {
    guard !query.isEmpty else { return path.text }
    let items = query.map { "\(APIPath.escaping($0.name))=\(APIPath.escaping($0.value))" }
    return path.text + (path.text.contains("?") ? "&" : "?") + items.joined(separator: "&")
  }

  /// The model identifiers of the entities whose local identifiers it contains, each once.
  public var localIdentifiers: [String] {
    var found: [String] = []
    for identifier in path.localIdentifiers + (body?.localIdentifiers ?? [])
    where !found.contains(where: { $0.hasSameBytes(as: identifier) }) {
      found.append(identifier)
    }
    return found
  }
}

extension APIRequest: CustomStringConvertible {
  /// Method and target, as in `GET /books?year=1990`.
  public var description: String { "\(method) \(target)" }
}

extension APIRequest {
  /// Throws if the method is malformed, or if the path has a segment `.` or `..`.
  func validate() throws(APIError) {
    guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw APIError(.invalidRequest, self, "a method is made of letters")
    }
    guard path.climbs else { return }
    throw APIError(
      .invalidRequest, self,
      "“.” and “..” in a path lead elsewhere and can't be escaped; give the entity another identifier"
    )
  }
}
