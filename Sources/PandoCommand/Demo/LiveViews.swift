import Dispatch
import Pando

/// A provider and a list that write down what they are told.
final class LiveViews: DataProviderDelegate, CollectionDataProviderDelegate, @unchecked Sendable {
  /// Shows one message.
  let message: DataProvider<Message>
  /// Shows the messages of a list.
  let list: CollectionDataProvider<Message>
  // Sendable because the lines are used on the queue only, where delegates are called too.
  private let queue: DispatchQueue
  private var lines: [String] = []

  /// Makes both, without data.
  ///
  /// - Parameters:
  ///   - manager: What keeps them consistent.
  ///   - queue: Where the manager delivers.
  init(_ manager: DataModelManager, deliveringOn queue: DispatchQueue) {
    self.queue = queue
    message = DataProvider(dataModelManager: manager)
    list = CollectionDataProvider(dataModelManager: manager)
    message.delegate = self
    list.delegate = self
  }

  /// What has been told since the last call.
  func takeLines() -> [String] {
    queue.sync {
      defer { lines = [] }
      return lines
    }
  }

  func dataProviderHasUpdatedData<T>(
    _ dataProvider: DataProvider<T>, context: (any Sendable)?
  ) {
    lines.append("provider told: " + messageText)
  }

  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
    context: (any Sendable)?
  ) {
    lines.append("list told:     \(Self.text(collectionChanges)): \(listText)")
  }

  /// What the provider shows.
  var messageText: String {
    message.data.map { "\($0.id) from \($0.sender.name)" } ?? "nothing"
  }

  /// What the list shows.
  var listText: String { list.data.map(\.id).joined(separator: ", ") }

  /// The rows that a change concerns.
  private static func text(_ change: CollectionChange) -> String {
    guard case .changes(let changes) = change else { return "all rows" }
    let texts = changes.map { change in
      switch change {
      case .update(let index): "row \(index) updated"
      case .delete(let index): "row \(index) deleted"
      case .insert(let index): "row \(index) inserted"
      case .move(let from, let to): "row \(from) moved to \(to)"
      }
    }
    return texts.joined(separator: ", ")
  }
}
