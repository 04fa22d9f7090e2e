import Pando

/// Somebody who writes messages.
struct Person: Model, Codable, Equatable {
  let id: String
  var name: String
  /// An optional child: without the image the person stays.
  var portrait: Image?

  var modelIdentifier: String? { "Person:\(id)" }
}
