import Pando

/// An element of a list.
struct Item: Model, Codable, Equatable {
  let identifier: String
  let title: String
  let number: Int

  var modelIdentifier: String? { identifier }
}
