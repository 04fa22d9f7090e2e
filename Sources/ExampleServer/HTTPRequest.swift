/// A request as the server has understood it.
package struct HTTPRequest: Sendable, Equatable {
  /// For example `GET`; methods are case-sensitive.
  package var method: String
  /// The parts of the path between slashes, decoded; empty for `/`.
  package var path: [String]
  /// What stands behind the question mark, as it came; empty if there is none.
  package var query = ""
  /// Header fields in the order in which they came, names in lower case.
  package var fields: [Field] = []
  /// The content.
  package var body: [UInt8] = []
  /// Whether the connection stays open for another request.
  package var keepsConnection = true

  /// A header field.
  package struct Field: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The values of all fields with a name in lower case.
  package func values(of name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }
}
