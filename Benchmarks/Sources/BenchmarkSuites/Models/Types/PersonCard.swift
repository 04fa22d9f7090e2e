import Pando

/// A person as a list shows them: three of the eight fields of ``Person``.
struct PersonCard: Model, Codable, Equatable {
  let identifier: String
  let name: String
  let isVerified: Bool

  var modelIdentifier: String? { identifier }
}
