import PandoModels
import PandoRecords

// The types of `TreeMaker` as Swift values, made from trees that have all their fields. Their properties
// come in the order in which a tree's fields are encoded, so that both are traversed alike.

struct ImageModel: Model, Codable, Equatable {
  static let modelTypeName = "Image"
  var id: String
  var name: String
  var modelIdentifier: String? { id }
}

struct PersonModel: Model, Codable, Equatable {
  static let modelTypeName = "Person"
  var id: String
  var name: String
  var portrait: ImageModel?
  var modelIdentifier: String? { id }
}

struct BadgeModel: Model, Codable, Equatable {
  static let modelTypeName = "Badge"
  var id: String
  var name: String
  /// A record that has only been a `Person` lacks it.
  var number: Int?
  var portrait: ImageModel?
  var modelIdentifier: String? { id }
}

struct CardModel: Model, Codable, Equatable {
  static let modelTypeName = "Card"
  var id: String
  var cover: ImageModel?
  var extra: Int?
  var roles: [String: BadgeModel]
  var title: String
  var author: BadgeModel
  var readers: [BadgeModel]
  var modelIdentifier: String? { id }
}

struct DocModel: Model, Codable, Equatable {
  struct Inner: Codable, Equatable {
    var boss: PersonModel
    var note: String
  }

  struct Legal: Codable, Equatable {
    var also: ImageModel?
    var seal: ImageModel
  }

  struct Part: Codable, Equatable {
    var who: PersonModel
    var icon: ImageModel?
  }

  static let modelTypeName = "Doc"
  var id: String
  var next: [DocModel]
  var cover: ImageModel?
  var inner: Inner?
  var legal: Legal
  var parts: [Part]
  var roles: [String: PersonModel]
  var title: String
  var author: PersonModel
  var readers: [PersonModel]
  var modelIdentifier: String? { id }
}
