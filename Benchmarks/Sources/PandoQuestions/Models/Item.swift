import Foundation
import Pando

@Embedded enum Mark: String, CaseIterable { case low, mid, top }

@Embedded struct Part: Hashable {
  var kind: String
  var number: Int
  var price: Decimal
}

/// A node that items hold.
@Model struct Person: Hashable {
  @Key var id: Int
  var name: String
  var score: Int?
}

/// A model with a field of each kind.
@Model struct Item {
  @Key var id: Int
  var title: String
  var note: String?
  var rank: Int
  var level: Int?
  var price: Decimal
  var rate: Decimal?
  var weight: Double
  var due: Date?
  var made: Date
  var mark: Mark
  var isOpen: Bool
  var code: Int?
  var tags: [String]
  var parts: [Part]
  var owner: Person?
  var helpers: [Person]
}

/// A model that names items.
@Model struct Remark: Hashable {
  @Key var id: Int
  var item: Key<Item>?
  /// Other items, some of them twice.
  var mentions: [Key<Item>]
  var likes: Int
  var answers: Key<Remark>?
}

extension Remark {
  /// Draws a remark about one of so many items.
  init(_ choices: inout Choices, itemCount: Int) {
    let mentions = (0..<choices.below(3)).map { _ in choices.below(itemCount) }
    self.init(
      id: choices.below(8), item: choices.chance(20) ? nil : Item.key(choices.below(itemCount)),
      mentions: (mentions + (choices.chance(30) ? mentions : [])).map { Item.key($0) },
      likes: choices.below(4), answers: choices.chance(60) ? nil : Remark.key(choices.below(8)))
  }
}
