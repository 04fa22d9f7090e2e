import Pando

/// The root of a tree of many nodes.
struct Discussion: Model, Codable, Equatable {
  let identifier: String
  let title: String
  let messages: [Message]

  var modelIdentifier: String? { identifier }
}
