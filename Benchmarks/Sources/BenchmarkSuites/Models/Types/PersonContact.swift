import Pando

/// A person as an address book shows them: three other fields of ``Person``.
struct PersonContact: Model, Codable, Equatable {
  let identifier: String
  let name: String
  let email: String

  var modelIdentifier: String? { identifier }
}
