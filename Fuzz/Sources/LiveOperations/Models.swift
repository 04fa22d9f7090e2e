import Pando

/// The types of the run.
///
/// Each content has a number of its own, and newer content has a higher one.
enum Models {
  /// A model that trees and lists share.
  struct Item: PersistentEntity {
    typealias RemoteID = Int
    static let modelTypeName = "Item"
    static let fields: [Field<Item>] = [.indexed(\.title, "title"), .indexed(\.year, "year")]
    var id: EntityIdentifier<Item>
    var title: String
    var year: Int?

    init(_ name: Int, _ number: Int) {
      id = .remote(name)
      title = Models.title(number)
      year = number % 4 == 3 ? nil : number % 4
    }
  }

  /// Shows an item with other fields.
  struct Card: Model, Codable, Equatable {
    static let modelTypeName = "Card"
    var id: EntityIdentifier<Item>
    var title: String
    var note: String?
    var modelIdentifier: String? { id.modelIdentifier }

    init(_ name: Int, _ number: Int) {
      id = .remote(name)
      title = Models.title(number)
      note = "note \(number)"
    }
  }

  /// A tree that can do without each of its items.
  struct Shelf: PersistentEntity {
    typealias RemoteID = Int
    static let modelTypeName = "Shelf"
    var id: EntityIdentifier<Shelf>
    var name: String
    var books: [Item]
    var lead: Item?
  }

  /// A tree that can't do without its item.
  struct Box: Model, Codable, Equatable {
    static let modelTypeName = "Box"
    var name: Int
    var item: Item
    var card: Card?
    var modelIdentifier: String? { "Box:\(name)" }
  }

  /// Counts commits that change it, and says of the last of them who made it and when.
  struct Clock: Model, Codable, Equatable {
    static let modelTypeName = "Clock"
    static let identifier = "clock"
    var count: Int
    var process: Int
    /// Nanoseconds since the machine was started.
    var time: Int
    var modelIdentifier: String? { Self.identifier }
  }

  /// Digits of one length, so that texts are ordered as numbers.
  private static func title(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 9 - digits.count)) + digits
  }
}

/// Shows items: their names and the numbers of their content.
protocol ItemHolder: SimpleModel, Equatable {
  var contents: [(name: Int, number: Int)] { get }
}

extension Models.Item: ItemHolder {
  var name: Int { id.remoteID ?? -1 }
  var number: Int { Int(title) ?? -1 }
  var contents: [(name: Int, number: Int)] { [(name, number)] }
}

extension Models.Card: ItemHolder {
  var contents: [(name: Int, number: Int)] { [(id.remoteID ?? -1, Int(title) ?? -1)] }
}

extension Models.Shelf: ItemHolder {
  var contents: [(name: Int, number: Int)] {
    books.flatMap(\.contents) + (lead?.contents ?? [])
  }
}

extension Models.Box: ItemHolder {
  var contents: [(name: Int, number: Int)] { item.contents + (card?.contents ?? []) }
}

extension Models.Clock: ItemHolder {
  var contents: [(name: Int, number: Int)] { [(-1, count)] }
}
