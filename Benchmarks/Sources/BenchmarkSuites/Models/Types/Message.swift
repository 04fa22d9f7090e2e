import Pando

/// The root of a tree of three nodes.
struct Message: Model, Codable, Equatable {
  let identifier: String
  let text: String
  let sentAt: Int
  let likeCount: Int
  /// Required: without its author there is no message.
  let author: Author
  let image: Image?

  var modelIdentifier: String? { identifier }
}
