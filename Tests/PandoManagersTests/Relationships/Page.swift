import PandoManagers
import PandoModels

@testable import PandoManagersFixtures

/// A page that links to others, round in circles too.
struct Page: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Page>
  var text = ""
  var links: [EntityIdentifier<Page>] = []
  var owner: EntityIdentifier<Owner>?

  static let fields: [Field<Page>] = [.field(\.text, "text")]
  static let relationships: [EntityRelationship<Page>] = [
    .to(\.links, "links"), .to(\.owner, "owner"),
  ]

  init(_ id: Int, _ text: String = "", links: [Int] = [], owner: Int? = nil) {
    self.id = .remote(id)
    self.text = text
    self.links = links.map { .remote($0) }
    self.owner = owner.map { .remote($0) }
  }
}

/// The owner of a page, with a home page.
struct Owner: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Owner>
  var name: String
  var home: EntityIdentifier<Page>?

  static let relationships: [EntityRelationship<Owner>] = [.to(\.home, "home")]

  init(_ id: Int, _ name: String, home: Int? = nil) {
    self.id = .remote(id)
    self.name = name
    self.home = home.map { .remote($0) }
  }
}

/// Has another entity inside.
struct Review: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Review>
  var critic: Critic

  init(_ id: Int, _ critic: Critic) {
    self.id = .remote(id)
    self.critic = critic
  }
}

struct Critic: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Critic>
  var name: String

  init(_ id: Int, _ name: String) {
    self.id = .remote(id)
    self.name = name
  }
}

/// Leads to reviews, and to critics that may be inside them.
struct Panel: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Panel>
  var reviews: [EntityIdentifier<Review>]
  var critics: [EntityIdentifier<Critic>]

  static let relationships: [EntityRelationship<Panel>] = [
    .to(\.reviews, "reviews"), .to(\.critics, "critics"),
  ]

  init(_ id: Int, reviews: [Int], critics: [Int]) {
    self.id = .remote(id)
    self.reviews = reviews.map { .remote($0) }
    self.critics = critics.map { .remote($0) }
  }
}
