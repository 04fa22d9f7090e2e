import Pando

/// The types of the run.
///
/// Each content has a number of its own, and newer content has a higher one.
enum Models {
  /// A model that trees and lists share.
  @Model struct Item: PersistentEntity {
    typealias RemoteID = Int
    var id: EntityIdentifier<Item>
    @Indexed var title: String
    @Indexed var year: Int?

    init(_ name: Int, _ number: Int) {
      id = .remote(name)
      title = Models.title(number)
      year = number % 4 == 3 ? nil : number % 4
    }
  }

  /// Shows an item with other fields.
  @Model(of: Item.self) struct Card: PersistentEntity {
    var id: EntityIdentifier<Card>
    var title: String
    var note: String?

    init(_ name: Int, _ number: Int) {
      id = .remote(name)
      title = Models.title(number)
      note = "note \(number)"
    }
  }

  /// A tree that can do without each of its items.
  @Model struct Shelf: PersistentEntity {
    typealias RemoteID = Int
    var id: EntityIdentifier<Shelf>
    var name: String
    var books: [Item]
    var lead: Item?
  }

  /// A tree that can't do without its item.
  @Model struct Box {
    @Key var name: Int
    var item: Item
    var card: Card?
  }

  /// Counts commits that change it, and says of the last of them who made it and when.
  @Model(key: "main") struct Clock {
    var count: Int
    var process: Int
    /// Nanoseconds since the machine was started.
    var time: Int
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
