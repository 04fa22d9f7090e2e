/// A request as the server has understood it.
struct HTTPRequest: Sendable, Equatable {
  /// For example `GET`; methods are case-sensitive.
  var method: String
  /// The parts of the path between slashes, decoded; empty for `/`.
  var path: [String]
  /// What stands behind the question mark, as it came; empty if there is none.
  var query = ""
  /// Header fields in the order in which they came, names in lower case.
  var fields: [Field] = []
  /// The content.
  var body: [UInt8] = []
  /// Whether the connection stays open for another request.
  var keepsConnection = true

  /// A header field.
  struct Field: Sendable, Equatable {
    let name: String
    let value: String
  }

  /// The values of all fields with a name in lower case.
  func values(of name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }
}
