import PandoSystem

/// Header fields of a request or an answer; names are compared without regard to case.
///
/// ```swift
/// var headers: APIHeaders = ["Accept-Language": "en"]
/// headers["X-Tenant"] = "library"
/// print(headers["accept-language"] ?? "")  // en
/// ```
public struct APIHeaders: Hashable, Sendable, Codable {
  /// A name and its value.
  ///
  /// ```swift
  /// for field in response.headers.fields {
  ///   print(field.name, field.value)
  /// }
  /// ```
  public struct Field: Hashable, Sendable, Codable {
    /// The name, in the case in which it was set.
    public var name: String
    /// The value.
    public var value: String
  }

  /// The fields in the order of their names.
  public internal(set) var fields: [Field] = []

  /// Makes a list without fields.
  public init() {}

  /// The value of a field; setting `nil` removes it.
  ///
  /// - Parameter name: The name, in any case.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    set {
      fields.removeAll { $0.name.lowercased() == name.lowercased() }
      guard let newValue else { return }
      fields.append(Field(name: name, value: newValue))
      fields = fields.ordered { $0.name.lowercased() < $1.name.lowercased() }
    }
  }

  mutating func mapValues(_ transform: (String) -> String) {
    for index in fields.indices { fields[index].value = transform(fields[index].value) }
  }
}

extension APIHeaders: ExpressibleByDictionaryLiteral {
  /// Makes a list of fields.
  ///
  /// - Parameter elements: Names and values; of equal names the last one counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { self[name] = value }
  }
}
