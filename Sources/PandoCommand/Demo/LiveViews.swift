import Dispatch
import Pando
import PandoModels

/// A provider and a list that record their delegate calls.
final class LiveViews: DataProviderDelegate, CollectionDataProviderDelegate, @unchecked Sendable {
  /// The provider of one message.
  let message: DataProvider<Message>
  /// The provider of a list of messages.
  let list: CollectionDataProvider<Message>
  // Sendable because only the queue uses the lines; it also calls the delegates.
  private let queue: DispatchQueue
  private var lines: [String] = []

  /// Makes both providers, without data.
  ///
  /// - Parameters:
  ///   - manager: The manager of the providers.
  ///   - queue: The queue of the manager's deliveries.
  init(_ manager: DataModelManager, deliveringOn queue: DispatchQueue) {
    self.queue = queue
    message = DataProvider(dataModelManager: manager)
    list = CollectionDataProvider(dataModelManager: manager)
    message.delegate = self
    list.delegate = self
  }

  /// Returns the lines recorded since the last call.
  func takeLines() -> [String] {
    queue.sync {
      defer { lines = [] }
      return lines
    }
  }

  func dataProviderHasUpdatedData<T>(
    _ dataProvider: DataProvider<T>, context: (any Sendable)?
  ) {
    lines.append("provider notified: " + messageText)
  }

  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
    context: (any Sendable)?
  ) {
    lines.append("list notified:     \(Self.text(collectionChanges)): \(Self.text(data))")
  }

  /// The text of the provider's message.
  var messageText: String {
    message.data.map { "\($0.id) from \($0.sender.name)" } ?? "nothing"
  }

  /// The text of the list.
  var listText: String { Self.text(list.data) }

  /// Returns the rows of a list.
  private static func text<T>(_ list: [T]) -> String {
    list.map { ($0 as? Message)?.id ?? "" }.joined(separator: ", ")
  }

  /// Returns the rows of a change.
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

/// The live part: changes of a writer reach the views.
extension Demo {
  func watch(_ store: ModelStore) async throws {
    try title("Live: a provider and a list receive the changes of other writers, with positions")
    let queue = DispatchQueue(label: "pando.demo")
    let manager = try DataModelManager(store: store, deliveringOn: .queue(queue))
    let views = LiveViews(manager, deliveringOn: queue)
    try await views.message.fetchDataFromCache(withCacheKey: "Message:demo-2")
    try await views.list.fetchDataFromCache(withCacheKey: DemoModels.inboxKey)
    try say("provider shows \(views.messageText)")
    try say("list shows     \(views.listText)")
    try await tell("A push inserts a message under the list's key, without a provider", views) {
      try await CollectionDataProvider.insert(
        [DemoModels.pushed], at: 1, cacheKey: DemoModels.inboxKey, dataModelManager: manager
      ).committed()
      await manager.drain()
    }
    try await tell("A transaction removes Grace's rank, without a provider or a list", views) {
      try await store.write { try $0.set(DemoModels.grace) }
      await manager.drain()
    }
    await manager.close()
  }

  private func tell(
    _ text: String, _ views: LiveViews, _ change: () async throws -> Void
  ) async throws {
    try say("")
    let (_, time) = try await timed(change)
    try say("\(text):")
    for line in views.takeLines() { try say(line) }
    try say("written, committed and notified in \(time)")
  }
}

/// A tree of nodes as readable lines.
///
///     Message:1  text "Hello"
///     ├─ sender (required): Person:7  name "Ada"
///     └─ images (list): Image:3  width 800
struct TreePicture {
  /// The lines of the picture.
  private(set) var lines: [String] = []

  init(of tree: TreeNode) {
    add(tree, label: "", "", "")
  }

  private mutating func add(_ node: TreeNode, label: String, _ first: String, _ rest: String) {
    let fields = (node.fields.objectValue ?? [:]).sorted { $0.key < $1.key }
    let values = fields.compactMap { name, value in
      value.isPlain && name != "id" ? "\(name) \(value.json())" : nil
    }
    lines.append(first + label + node.identifier + "  " + values.joined(separator: ", "))
    var children: [(label: String, node: TreeNode)] = []
    for (name, value) in fields {
      switch value {
      case .required(.node(let child)): children.append(("\(name) (required): ", child))
      case .node(let child): children.append(("\(name) (optional): ", child))
      case .array(let elements):
        children += elements.compactMap(\.nodeValue).map { ("\(name) (list): ", $0) }
      default: break
      }
    }
    for (index, child) in children.enumerated() {
      let isLast = index == children.count - 1
      add(
        child.node, label: child.label, rest + (isLast ? "└─ " : "├─ "),
        rest + (isLast ? "   " : "│  "))
    }
  }
}

extension TreeValue {
  /// Whether the value is shown on the line of its node.
  fileprivate var isPlain: Bool {
    switch self {
    case .null, .bool, .integer, .unsigned, .double, .string: true
    default: false
    }
  }
}
