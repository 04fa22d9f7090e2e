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
